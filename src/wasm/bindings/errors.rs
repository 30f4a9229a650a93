//! Errors for JavaScript: plain objects, which `js/wasm/core.ts` converts to `SessionError`s.
//!
//! They are not made here as `Error` objects: their class must be the one that users import.

use js_sys::Array;
use wasm_bindgen::JsValue;

use crate::core::error::Error;
use crate::wasm::object::Record;

/// Converts to `{code, message}`, with the further fields that some errors have in
/// `js/errors/errors.ts`.
impl From<Error> for JsValue {
    fn from(error: Error) -> Self {
        let error = match error {
            Error::Thrown(thrown) => return thrown,
            error => error,
        };
        let thrown = Record::empty();
        thrown.set_text("code", error.code());
        thrown.set_text("message", &error.to_string());
        match error {
            Error::InvalidArgument { field, rule } => {
                let field = field.javascript();
                thrown.set_text("message", &format!("{field} {rule}"));
                thrown.set_text("key", field);
            }
            Error::StaleSession { reason, expected, actual, .. } => {
                thrown.set_text("staleReason", reason.name());
                thrown.set_number("expectedRevision", expected as f64);
                thrown.set_number("actualRevision", actual as f64);
            }
            Error::EventConflict { actual, .. } => {
                // An object would lose the id `__proto__`.
                let events = Array::new();
                for (id, revision) in actual {
                    let revision =
                        revision.map_or(JsValue::NULL, |revision| (revision as f64).into());
                    events.push(&Array::of2(&id.into(), &revision));
                }
                thrown.set("actualEvents", &events);
            }
            Error::Unserializable { path, .. } => thrown.set_text("path", &path),
            Error::CorruptRecord { record, .. } => thrown.set_text("record", &record),
            _ => {}
        }
        thrown.into()
    }
}
