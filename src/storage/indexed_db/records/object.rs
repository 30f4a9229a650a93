//! Plain objects of JavaScript: records of the stores, and the browser's events and errors.
//!
//! One getter for all members, and a setter for each kind of value. One each would be forty imports in
//! the wasm.

use js_sys::{ArrayIntoIter, Object};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(extends = Object)]
    #[derive(Debug, Clone)]
    pub(crate) type Record;

    #[wasm_bindgen(method, structural, indexing_getter)]
    pub(crate) fn get(this: &Record, member: &str) -> JsValue;

    #[wasm_bindgen(method, structural, indexing_setter)]
    pub(crate) fn set(this: &Record, member: &str, value: &JsValue);

    // What goes through `set` has become a value of JavaScript's first: one call more.
    #[wasm_bindgen(method, structural, indexing_setter)]
    pub(crate) fn set_number(this: &Record, member: &str, number: f64);

    #[wasm_bindgen(method, structural, indexing_setter)]
    pub(crate) fn set_text(this: &Record, member: &str, text: &str);
}

impl Record {
    /// It inherits nothing, so that a setter which the page has put on `Object.prototype` takes no member.
    pub(crate) fn empty() -> Self {
        Object::<JsValue>::create(JsValue::NULL.unchecked_ref()).unchecked_into()
    }

    /// What a store gave for a key.
    pub(crate) fn found(value: JsValue) -> Option<Self> {
        value.is_object().then(|| value.unchecked_into())
    }

    /// What it gave for the next of several. From then on it inherits nothing, as [`empty`](Self::empty).
    pub(crate) fn next(answers: &mut ArrayIntoIter) -> Option<Self> {
        let record = Self::found(answers.next()?)?;
        Object::<JsValue>::set_prototype_of(&record, JsValue::NULL.unchecked_ref());
        Some(record)
    }

    pub(crate) fn number(&self, member: &str) -> Option<f64> {
        self.get(member).as_f64()
    }

    /// Empty where there is none.
    pub(crate) fn text(&self, member: &str) -> String {
        self.get(member).as_string().unwrap_or_default()
    }
}
