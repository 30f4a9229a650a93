//! A future that a callback of the browser completes, with success or a failure.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use wasm_bindgen::prelude::*;

use crate::wasm::indexed_db::records::failure::Failure;
use crate::wasm::object::Record;

/// All callbacks have one type, so that the wasm holds the code that calls them once.
pub(crate) type Listener = Closure<dyn FnMut(JsValue)>;

/// Sets the listener for some events, given as properties such as `onclose`; `null` removes it.
pub(crate) fn listen(target: &JsValue, events: &[&str], listener: &JsValue) {
    for event in events {
        target.unchecked_ref::<Record>().set(event, listener);
    }
}

/// Set once, awaited by one future. A clone is the same future.
#[derive(Clone, Default)]
pub(crate) struct OneShot {
    shared: Rc<RefCell<Shared>>,
}

#[derive(Default)]
struct Shared {
    done: Option<Result<(), Failure>>,
    waker: Option<Waker>,
}

impl OneShot {
    /// Completes the future. The first result counts: a request may still fail after it was given
    /// up.
    pub(crate) fn set(&self, done: Result<(), Failure>) {
        let waker = {
            let mut shared = self.shared.borrow_mut();
            shared.done.get_or_insert(done);
            shared.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Future for OneShot {
    type Output = Result<(), Failure>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        let mut shared = self.shared.borrow_mut();
        match shared.done.take() {
            Some(done) => Poll::Ready(done),
            None => {
                shared.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}
