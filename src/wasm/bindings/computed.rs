//! Deltas that JavaScript computes within a write.

use js_sys::Function;
use wasm_bindgen::JsValue;

use crate::core::state::Delta;
use crate::core::write::{Computed, Write};

/// Makes a write call `compute` with the JSON text of the state. It returns the JSON text of the
/// delta, and after a NUL that of the event. It never throws: JavaScript keeps the error of the
/// caller's function, and returns an empty delta.
pub(super) fn computing(write: Write, compute: Option<Function>) -> Write {
    let Some(compute) = compute else { return write };
    write.computing(Box::new(move |state| {
        let computed = compute.call1(&JsValue::NULL, &state.into()).ok();
        let computed = computed.and_then(|computed| computed.as_string()).unwrap_or_default();
        let (delta, text) = computed.split_once('\0').unwrap_or((&computed, ""));
        Ok(Computed { delta: Delta::parse(delta)?, text: text.to_owned().into() })
    }))
}
