//! Errors on their way to JavaScript: plain objects, which `js/core.ts` makes into `SessionError`s.
//!
//! Not `Error` objects made here: their class must be the one that users import.

use serde::Serialize;
use wasm_bindgen::JsValue;

use crate::error::Error;
use crate::service::Refusal;

#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct Thrown {
    code: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_revision: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    actual_revision: Option<f64>,
}

impl From<Error> for JsValue {
    fn from(error: Error) -> Self {
        let mut thrown =
            Thrown { code: error.code(), message: error.to_string(), ..Thrown::default() };
        match error {
            Error::StaleSession { expected, actual, .. } => {
                thrown.expected_revision = Some(expected as f64);
                thrown.actual_revision = Some(actual as f64);
            }
            Error::Unserializable { path, .. } => thrown.path = Some(path),
            Error::CorruptRecord { record, .. } => thrown.record = Some(record),
            _ => {}
        }
        serde_wasm_bindgen::to_value(&thrown).unwrap_or_else(JsValue::from)
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
