//! Deltas that JavaScript computes within a write.

use adk_session::error::Error;
use adk_session::event::TextSlice;
use adk_session::state::Delta;
use adk_session::write::{Append, ComputeDelta, Computed, Update};
use js_sys::{Function, JsString};
use wasm_bindgen::{JsCast, JsValue};

use crate::bindings::js_write::JsWrite;
use crate::text::{STATE_UNIT, copy_text};

/// Returns the update of a user's and an app's state by a delta, or by the one that `compute` returns.
pub(super) fn update(
    app_name: String,
    user_id: Option<String>,
    delta: &str,
    compute: Option<Function>,
) -> Result<Box<dyn JsWrite>, Error> {
    let mut update = Update::new(app_name, user_id, Delta::parse(delta)?)?;
    if let Some(compute) = compute {
        update = update.computing(compute_delta(compute));
    }
    Ok(Box::new(update))
}

/// Returns the append, whose only event `compute` computes, if it is given.
pub(super) fn computing_append(
    mut append: Append,
    compute: Option<Function>,
) -> Result<Box<dyn JsWrite>, Error> {
    if let Some(compute) = compute {
        append = append.computing(compute_delta(compute))?;
    }
    Ok(Box::new(append))
}

/// Makes a write call `compute` with the JSON text of the state. `compute` returns the JSON text of
/// the delta, and after a NUL that of the event. `compute` never throws: it keeps the error of the
/// user's function for TypeScript, and returns an empty delta.
fn compute_delta(compute: Function) -> Box<dyn ComputeDelta> {
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
