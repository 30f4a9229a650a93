//! Deltas that JavaScript computes within a write.

use js_sys::{Function, JsString};
use wasm_bindgen::{JsCast, JsValue};

use crate::core::event::TextSlice;
use crate::core::room::{STATE_UNIT, copy_text};
use crate::core::state::Delta;
use crate::core::write::{ComputeDelta, Computed};

/// Makes a write call `compute` with the JSON text of the state. It returns the JSON text of the
/// delta, and after a NUL that of the event. It never throws: JavaScript keeps the error of the
/// caller's function, and returns an empty delta.
pub(super) fn compute_delta(compute: Function) -> ComputeDelta {
    Box::new(move |state| {
        let computed = compute.call1(&JsValue::NULL, &state.into()).unwrap_or_default();
        let computed = computed.dyn_ref::<JsString>();
        let computed = computed.map(|text| copy_text(text, STATE_UNIT)).transpose()?;
        let computed = TextSlice::from(computed.unwrap_or_default());
        computed.with(|texts| {
            let (delta, text) = texts.split_once('\0').unwrap_or((texts, ""));
            let text = computed.part(texts.len() - text.len()..texts.len());
            Ok(Computed { delta: Delta::parse(delta)?, text: text.into() })
        })
    })
}
