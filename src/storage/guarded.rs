//! Futures that end with an error where JavaScript throws.
//!
//! An exception in a call that is not declared to throw leaves the wasm at once: no destructor runs,
//! the executor never polls that future again, and whoever waits for it would wait for ever.

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

use js_sys::Array;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// `Reflect.apply`, as a way through JavaScript on which exceptions are caught.
    #[wasm_bindgen(js_namespace = Reflect, js_name = apply, catch)]
    fn call(run: &mut dyn FnMut(), this: &JsValue, arguments: &Array) -> Result<JsValue, JsValue>;
}

/// Runs something, and catches what JavaScript throws in it.
pub fn guard(run: &mut dyn FnMut()) -> Result<(), JsValue> {
    call(&mut || run(), &JsValue::UNDEFINED, &Array::new()).map(drop)
}

type Inner = Pin<Box<dyn Future<Output = Result<JsValue, JsValue>>>>;

/// See the module.
pub struct Guarded(Option<Inner>);

impl Guarded {
    pub fn new(inner: Inner) -> Self {
        Self(Some(inner))
    }
}

impl Future for Guarded {
    type Output = Result<JsValue, JsValue>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(mut inner) = self.0.take() else {
            return Poll::Pending;
        };
        let mut polled = Poll::Pending;
        let mut poll = || polled = inner.as_mut().poll(context);
        if let Err(thrown) = guard(&mut poll) {
            // It stopped in the middle of its work: to drop it might drop a value twice.
            mem::forget(inner);
            return Poll::Ready(Err(thrown));
        }
        if polled.is_pending() {
            self.0 = Some(inner);
        }
        polled
    }
}
