//! Plain JavaScript objects: results, records of IndexedDB, and the browser's events and errors.
//!
//! One getter serves all members, and one setter each kind of value. A getter and a setter for each
//! member would be forty imports in the wasm.

use js_sys::{ArrayIntoIter, Object};
use serde::Serialize;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::prelude::*;

/// Returns a result as an object with named members; those without a value are `undefined`.
pub(crate) fn object_of(result: &impl Serialize) -> JsValue {
    result.serialize(&Serializer::new()).unwrap_or_else(JsValue::from)
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(extends = Object)]
    #[derive(Debug, Clone, PartialEq)]
    pub(crate) type JsObject;

    #[wasm_bindgen(method, structural, indexing_getter)]
    pub(crate) fn get(this: &JsObject, member: &str) -> JsValue;

    #[wasm_bindgen(method, structural, indexing_setter)]
    pub(crate) fn set(this: &JsObject, member: &str, value: &JsValue);

    // `set` would need a JavaScript value made of the number first: one call more.
    #[wasm_bindgen(method, structural, indexing_setter)]
    pub(crate) fn set_number(this: &JsObject, member: &str, number: f64);

    #[wasm_bindgen(method, structural, indexing_setter)]
    pub(crate) fn set_text(this: &JsObject, member: &str, text: &str);
}

impl JsObject {
    /// Returns an empty object without prototype. All its members are its own, whatever the page has
    /// added to `Object.prototype`.
    pub(crate) fn empty() -> Self {
        Object::<JsValue>::create(JsValue::NULL.unchecked_ref()).unchecked_into()
    }

    /// Returns a store's result for a key as a record; `None` if there is none.
    pub(crate) fn found(value: JsValue) -> Option<Self> {
        value.is_object().then(|| value.unchecked_into())
    }

    /// Returns a store's result as a record that may be changed. Removes its prototype, for the reason given at
    /// [`empty`](Self::empty).
    pub(crate) fn stored(value: JsValue) -> Option<Self> {
        let record = Self::found(value)?;
        Object::<JsValue>::set_prototype_of(&record, JsValue::NULL.unchecked_ref());
        Some(record)
    }

    /// Returns the next of several results; see [`stored`](Self::stored).
    pub(crate) fn next(results: &mut ArrayIntoIter) -> Option<Self> {
        Self::stored(results.next()?)
    }

    pub(crate) fn number(&self, member: &str) -> Option<f64> {
        self.get(member).as_f64()
    }

    /// Returns the text of a member; empty if it is missing or no text.
    pub(crate) fn text(&self, member: &str) -> String {
        self.get(member).as_string().unwrap_or_default()
    }
}
