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
            Error::InvalidArgument { argument, rule } => {
                let argument = camel_case(argument);
                thrown.set_text("message", &format!("{argument} {rule}"));
                thrown.set_text("key", &argument);
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

/// Spells the name of a field as JavaScript does.
fn camel_case(name: &str) -> String {
    let mut spelled = String::new();
    let mut is_first = false;
    for letter in name.chars() {
        if is_first {
            spelled.push(letter.to_ascii_uppercase());
        } else if letter != '_' {
            spelled.push(letter);
        }
        is_first = letter == '_';
    }
    spelled
}
