//! Errors for JavaScript: plain objects, which `js/core/wasm/core.ts` converts to `SessionError`s.
//!
//! They are not made here as `Error` objects: their class must be the one that users import.

use std::fmt::{self, Write};

use adk_session::Error;
use adk_session::error::Field;
use serde::Serialize;
use wasm_bindgen::JsValue;

use crate::object::object_of;

/// A value that JavaScript threw, or that Rust throws to JavaScript. An [`Error`] of the library converts into it,
/// and `Error::Other` holds it unchanged while it passes through the library.
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

/// An error as `js/core/wasm/core.ts` gets it. Most members are those that some errors have in
/// `js/values/errors/errors.ts`.
#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct ThrownError {
    code: &'static str,
    message: String,
    key: Option<&'static str>,
    stale_reason: Option<&'static str>,
    expected_revision: Option<f64>,
    actual_revision: Option<f64>,
    /// Pairs of an id and a revision, since an object would lose the id `__proto__`. No revision: it is not
    /// stored.
    actual_events: Option<Vec<(String, Option<f64>)>>,
    path: Option<String>,
    record: Option<String>,
}

impl From<Error> for Thrown {
    fn from(error: Error) -> Self {
        let error = match error {
            Error::Other(other) => match other.downcast::<Self>() {
                Ok(thrown) => return *thrown,
                Err(other) => Error::Other(other),
            },
            error => error,
        };
        let (code, message) = (error.code(), error.to_string());
        let mut thrown = ThrownError { code, message, ..ThrownError::default() };
        match error {
            Error::Storage { source, .. } => {
                // A `String` takes all that is written to it.
                let _ = write!(thrown.message, ": {source}");
            }
            Error::InvalidArgument { field, rule } => {
                let field = name_of(field);
                thrown.message = format!("{field} {rule}");
                thrown.key = Some(field);
            }
            Error::StaleSession { reason, expected, actual, .. } => {
                thrown.stale_reason = Some(reason.name());
                thrown.expected_revision = Some(expected as f64);
                thrown.actual_revision = Some(actual as f64);
            }
            Error::EventConflict { actual, .. } => {
                let events = actual.into_iter().map(|(id, revision)| {
                    (id.to_string(), revision.map(|revision| revision as f64))
                });
                thrown.actual_events = Some(events.collect());
            }
            Error::Unserializable { path, .. } => thrown.path = Some(path),
            Error::CorruptRecord { record, .. } => thrown.record = Some(record),
            _ => {}
        }
        Self(object_of(&thrown))
    }
}

/// Returns the name of a field in JavaScript.
fn name_of(field: Field) -> &'static str {
    match field {
        Field::AppName => "appName",
        Field::UserId => "userId",
        Field::SessionId => "sessionId",
        Field::EventIds => "eventIds",
        Field::EventOther => "event",
        Field::StateDelta => "stateDelta",
        field => field.name(),
    }
}
