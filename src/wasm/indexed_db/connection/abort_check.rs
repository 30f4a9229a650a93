//! Whether a call's signal has fired.

use js_sys::Function;
use wasm_bindgen::JsValue;

use crate::wasm::indexed_db::records::failure::Failure;

/// A function that throws `aborted` if the signal of a call has fired. A call without a signal has
/// none.
#[derive(Clone, Default)]
pub(crate) struct AbortCheck(pub(crate) Option<Function>);

impl AbortCheck {
    /// Called before anything of a write is put. After that the write settles with what happened.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match &self.0 {
            Some(check) => check.call0(&JsValue::UNDEFINED).map(drop).map_err(Failure::thrown),
            None => Ok(()),
        }
    }
}
