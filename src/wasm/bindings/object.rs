//! Builds results as plain JavaScript objects.

use js_sys::{Array, Object as JsObject, Reflect};
use wasm_bindgen::{JsCast, JsValue};

/// A result, built member by member.
///
/// A struct for each result, or a map, would need serde-wasm-bindgen's code for field names. That
/// makes the gzipped wasm 1 % larger. Lists of texts do use serde-wasm-bindgen.
pub(super) struct Object(JsObject);

impl Default for Object {
    fn default() -> Self {
        // The object has no prototype. So all members are its own, and a missing member is
        // `undefined`, even if the page added members to `Object.prototype`.
        Self(JsObject::create(JsValue::NULL.unchecked_ref()))
    }
}

impl Object {
    pub(super) fn number(self, name: &str, number: f64) -> Self {
        self.with(name, &JsValue::from_f64(number))
    }

    pub(super) fn text(self, name: &str, text: &str) -> Self {
        self.with(name, &JsValue::from_str(text))
    }

    pub(super) fn list(self, name: &str, list: impl Iterator<Item = JsValue>) -> Self {
        let values = Array::new();
        for value in list {
            values.push(&value);
        }
        self.with(name, &values)
    }

    pub(super) fn with(self, name: &str, value: &JsValue) -> Self {
        // Setting a member of an ordinary object cannot fail.
        let _is_set = Reflect::set(&self.0, &JsValue::from_str(name), value);
        self
    }
}

impl From<Object> for JsValue {
    fn from(object: Object) -> Self {
        object.0.into()
    }
}
