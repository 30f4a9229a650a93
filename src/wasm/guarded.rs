//! Futures that end with an error if JavaScript throws.
//!
//! An exception in a call that is not declared to throw leaves the wasm at once. No destructor
//! runs, the executor never polls that future again, and its caller would wait forever.

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

use js_sys::Array;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// `Reflect.apply`: a call through JavaScript that catches exceptions.
    #[wasm_bindgen(js_namespace = Reflect, js_name = apply, catch)]
    fn call(run: &mut dyn FnMut(), this: &JsValue, arguments: &Array) -> Result<JsValue, JsValue>;
}

/// Runs a function, and returns the exception that JavaScript throws in it.
pub fn guard(run: &mut dyn FnMut()) -> Result<(), JsValue> {
    call(&mut || run(), &JsValue::UNDEFINED, &Array::new()).map(drop)
}

pub type Task<'a, T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + 'a>>;

/// A future that ends with an error if its task throws while it is polled. After an exception the task, which
/// owns all that it changes, is never dropped: its values may be half changed.
pub struct Guarded<'a, T, E> {
    task: Option<Task<'a, T, E>>,
    /// Converts the exception.
    thrown: fn(JsValue) -> E,
}

impl<'a, T, E> Guarded<'a, T, E> {
    pub fn new(task: Task<'a, T, E>, thrown: fn(JsValue) -> E) -> Self {
        Self { task: Some(task), thrown }
    }
}

impl<T, E> Future for Guarded<'_, T, E> {
    type Output = Result<T, E>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(mut task) = self.task.take() else {
            return Poll::Pending; // The task has ended, and nothing wakes the caller again.
        };
        let mut polled = Poll::Pending;
        let mut poll = || polled = task.as_mut().poll(context);
        if let Err(thrown) = guard(&mut poll) {
            // The future stopped in the middle of its work: dropping it might drop a value twice.
            mem::forget(task);
            return Poll::Ready(Err((self.thrown)(thrown)));
        }
        if polled.is_pending() {
            self.task = Some(task);
        }
        polled
    }
}
