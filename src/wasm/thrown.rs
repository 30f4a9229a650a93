//! Errors for JavaScript: plain objects, which `js/wasm/core.ts` converts to `SessionError`s.
//!
//! They are not made here as `Error` objects: their class must be the one that users import.

use std::fmt::{self, Write};

use adk_session::Error;
use js_sys::Array;
use wasm_bindgen::JsValue;

use crate::object::Record;

/// What JavaScript threw, or gets thrown. As the error of a function that JavaScript calls, it takes the
/// library's errors too; in [`Error::Other`] it is passed on unchanged.
pub struct Thrown(pub JsValue);

impl fmt::Debug for Thrown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Thrown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JavaScript threw an exception")
    }
}

impl std::error::Error for Thrown {}

impl From<JsValue> for Thrown {
    fn from(thrown: JsValue) -> Self {
        Self(thrown)
    }
}

impl From<Thrown> for JsValue {
    fn from(Thrown(thrown): Thrown) -> Self {
        thrown
    }
}

impl From<Thrown> for Error {
    fn from(thrown: Thrown) -> Self {
        Self::Other(Box::new(thrown))
    }
}

/// Converts to `{code, message}`, with the further fields that some errors have in
/// `js/errors/errors.ts`.
impl From<Error> for Thrown {
    fn from(error: Error) -> Self {
        let error = match error {
            Error::Other(other) => match other.downcast::<Self>() {
                Ok(thrown) => return *thrown,
                Err(other) => Error::Other(other),
            },
            error => error,
        };
        let thrown = Record::empty();
        thrown.set_text("code", error.code());
        let mut message = error.to_string();
        match error {
            Error::Storage { source, .. } => {
                // A `String` takes all that is written to it.
                let _ = write!(message, ": {source}");
            }
            Error::InvalidArgument { field, rule } => {
                let field = field.javascript();
                message = format!("{field} {rule}");
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
        thrown.set_text("message", &message);
        Self(thrown.into())
    }
}
