//! Callbacks of the browser.

use wasm_bindgen::prelude::*;

use crate::object::JsObject;

/// All callbacks have one type, so that the wasm holds only one copy of the code that
/// calls them.
pub(crate) type Listener = Closure<dyn FnMut(JsValue)>;

/// Sets the listener for some events, given as properties such as `onclose`; `null` removes it.
pub(crate) fn listen(target: &JsValue, events: &[&str], listener: &JsValue) {
    for event in events {
        target.unchecked_ref::<JsObject>().set(event, listener);
    }
}
