//! An event's text that stays in JavaScript.

use js_sys::JsString;
use wasm_bindgen::{JsCast, JsValue};

use crate::json::is_same_json;
use crate::storage::EventText;

/// A JavaScript string. It enters wasm only where somebody asks for a `String`.
#[derive(Debug, Clone)]
pub struct JavaScriptText(JsValue);

impl JavaScriptText {
    /// UTF-16 code units.
    pub fn length(&self) -> u32 {
        self.0.unchecked_ref::<JsString>().length()
    }
}

impl From<JsValue> for JavaScriptText {
    fn from(text: JsValue) -> Self {
        Self(text)
    }
}

impl From<JavaScriptText> for JsValue {
    fn from(text: JavaScriptText) -> Self {
        text.0
    }
}

impl AsRef<JsValue> for JavaScriptText {
    fn as_ref(&self) -> &JsValue {
        &self.0
    }
}

impl EventText for JavaScriptText {
    fn is_same(&self, other: &Self) -> bool {
        // Before the texts enter wasm.
        self.0 == other.0
            || self
                .0
                .as_string()
                .zip(other.0.as_string())
                .is_some_and(|(one, other)| is_same_json(&one, &other))
    }
}

impl From<String> for JavaScriptText {
    fn from(text: String) -> Self {
        Self(JsValue::from_str(&text))
    }
}

impl From<JavaScriptText> for String {
    fn from(text: JavaScriptText) -> Self {
        text.0.as_string().unwrap_or_default()
    }
}
