//! The caller of a verb.

use js_sys::Function;
use wasm_bindgen::JsValue;

use crate::wasm::indexed_db::records::failure::Failure;

/// A function of the call, which takes whether a retry begins. With `true` it counts the retry. With
/// `false` it throws `aborted` if the call's signal has fired. A call without a signal, whose
/// retries nobody counts, has no function.
#[derive(Clone, Default)]
pub(crate) struct Caller(pub(crate) Option<Function>);

impl Caller {
    /// Called before anything of a write is put. After that the write settles with what happened.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.call(false)
    }

    /// Called before a transaction is tried again.
    pub(crate) fn count_retry(&self) -> Result<(), Failure> {
        self.call(true)
    }

    fn call(&self, is_retry: bool) -> Result<(), Failure> {
        match &self.0 {
            Some(function) => function
                .call1(&JsValue::UNDEFINED, &is_retry.into())
                .map(drop)
                .map_err(Failure::thrown),
            None => Ok(()),
        }
    }
}
