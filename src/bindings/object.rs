//! Results as plain JavaScript objects.

use serde::{Serialize, Serializer};
use wasm_bindgen::JsValue;

/// A result by the names of its fields.
///
/// One type for all results. A struct each would bring a `Serialize` each, and with it the cache
/// of field names that serde-wasm-bindgen keeps, together a twentieth of the wasm.
#[derive(Default)]
pub(super) struct Object {
    fields: Vec<(&'static str, Field)>,
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Field {
    Number(f64),
    Text(String),
    Texts(Vec<String>),
    Objects(Vec<Object>),
}

impl Object {
    pub(super) fn number(self, name: &'static str, number: f64) -> Self {
        self.with(name, Field::Number(number))
    }

    pub(super) fn text(self, name: &'static str, text: String) -> Self {
        self.with(name, Field::Text(text))
    }

    pub(super) fn with(mut self, name: &'static str, field: Field) -> Self {
        self.fields.push((name, field));
        self
    }

    pub(super) fn into_javascript(self) -> JsValue {
        let serializer = serde_wasm_bindgen::Serializer::json_compatible();
        self.serialize(&serializer).unwrap_or_else(JsValue::from)
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.fields.iter().map(|(name, field)| (name, field)))
    }
}
