//! Errors for JavaScript: plain objects, which `js/wasm/core.ts` converts to `SessionError`s.
//!
//! They are not made here as `Error` objects: their class must be the one that users import.

use wasm_bindgen::JsValue;

use crate::core::error::Error;
use crate::wasm::bindings::object::Object;

/// Converts to `{code, message}`, with the further fields that some errors have in
/// `js/errors/errors.ts`.
impl From<Error> for JsValue {
    fn from(error: Error) -> Self {
        let thrown =
            Object::default().text("code", error.code()).text("message", &error.to_string());
        let thrown = match error {
            Error::InvalidArgument { argument, .. } => thrown.text("key", argument),
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
