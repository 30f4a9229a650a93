//! Results as plain JavaScript objects.

use js_sys::{Array, Object as JsObject, Reflect};
use wasm_bindgen::{JsCast, JsValue};

/// A result by the names of its fields.
///
/// Set one by one: a struct for each result, or a map, with what serde-wasm-bindgen needs for the names of
/// fields, makes the gzipped wasm a hundredth larger. Lists of texts it is good for.
pub(super) struct Object(JsObject);

impl Default for Object {
    fn default() -> Self {
        // It inherits nothing: what it is given are members of its own, whatever the page has put on
        // `Object.prototype`, and what it was not given is not there.
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
        // An ordinary object takes any member.
        let _is_set = Reflect::set(&self.0, &JsValue::from_str(name), value);
        self
    }
}

impl From<Object> for JsValue {
    fn from(object: Object) -> Self {
        object.0.into()
    }
}
