//! Values that cross to JavaScript as they are: texts and numbers.

use adk_session::internals::{SPARE, has_room};
use js_sys::Array;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::*;

use crate::thrown::Thrown;

/// A result for JavaScript, or a promise of it.
pub(super) type JsResult = Result<JsValue, Thrown>;

/// Whether so many bytes can be allocated, with some to spare.
#[wasm_bindgen(js_name = has_room)]
pub fn has_spare_room(bytes: f64) -> bool {
    has_room(bytes as usize + SPARE)
}

#[wasm_bindgen]
extern "C" {
    /// Makes a list of five numbers. A call into JavaScript for each of them would cost more.
    #[wasm_bindgen(js_name = Array)]
    pub(super) fn array_of(first: f64, second: f64, third: f64, fourth: f64, fifth: f64) -> Array;
}
