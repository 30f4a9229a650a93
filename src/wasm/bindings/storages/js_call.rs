//! The call of JavaScript that a verb serves.

use adk_session::error::Error;
use adk_session::storage::Call;
use js_sys::Function;
use wasm_bindgen::JsValue;

use crate::thrown::Thrown;

/// A function of the call, which takes whether a retry begins. With `true` it counts the retry. With
/// `false` it throws `aborted` if the call's signal has fired. A call without a signal, whose
/// retries nobody counts, has no function.
pub(super) struct JsCall(pub(super) Option<Function>);

impl JsCall {
    fn call(&self, is_retry: bool) -> Result<(), Error> {
        match &self.0 {
            Some(function) => function
                .call1(&JsValue::UNDEFINED, &is_retry.into())
                .map(drop)
                .map_err(|thrown| Thrown(thrown).into()),
            None => Ok(()),
        }
    }
}

impl Call for JsCall {
    fn check(&self) -> Result<(), Error> {
        self.call(false)
    }

    fn count_retry(&self) -> Result<(), Error> {
        self.call(true)
    }
}
