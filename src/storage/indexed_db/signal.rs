//! A value that comes later, from a callback of the browser.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// Set once, awaited by one. A clone is the same signal.
pub(super) struct Signal<T> {
    shared: Rc<RefCell<Shared<T>>>,
}

struct Shared<T> {
    value: Option<T>,
    waker: Option<Waker>,
}

impl<T> Signal<T> {
    pub(super) fn new() -> Self {
        Self { shared: Rc::new(RefCell::new(Shared { value: None, waker: None })) }
    }

    /// The first value counts: a request may fail after it was given up.
    pub(super) fn set(&self, value: T) {
        let waker = {
            let mut shared = self.shared.borrow_mut();
            shared.value.get_or_insert(value);
            shared.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Clone for Signal<T> {
    fn clone(&self) -> Self {
        Self { shared: Rc::clone(&self.shared) }
    }
}

impl<T> Future for Signal<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let mut shared = self.shared.borrow_mut();
        match shared.value.take() {
            Some(value) => Poll::Ready(value),
            None => {
                shared.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}
