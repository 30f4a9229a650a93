//! Errors on their way to JavaScript: plain objects, which `js/wasm/core.ts` makes into `SessionError`s.
//!
//! Not `Error` objects made here: their class must be the one that users import.

use wasm_bindgen::JsValue;

use crate::bindings::object::Object;
use crate::error::Error;
use crate::service::Refusal;

/// `{code, message}`, and with some errors what else `js/errors/errors.ts` tells.
impl From<Error> for JsValue {
    fn from(error: Error) -> Self {
        let thrown =
            Object::default().text("code", error.code()).text("message", &error.to_string());
        let thrown = match error {
            Error::StaleSession { expected, actual, .. } => thrown
                .number("expectedRevision", expected as f64)
                .number("actualRevision", actual as f64),
            Error::Unserializable { path, .. } => thrown.text("path", &path),
            Error::CorruptRecord { record, .. } => thrown.text("record", &record),
            _ => thrown,
        };
        thrown.into()
    }
}

impl From<Refusal<JsValue>> for JsValue {
    fn from(refusal: Refusal<JsValue>) -> Self {
        match refusal {
            Refusal::Rule(error) => error.into(),
            Refusal::Storage(thrown) => thrown,
        }
    }
}
