//! What a verb of the chosen storage answers: at once over memory, later over all
//! others.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;

/// Reads what JavaScript answered.
type Read<T> = Box<dyn FnOnce(JsValue) -> Result<T, JsValue>>;

/// A future by hand. An `async fn` a verb and a storage would each be a state machine of its own
/// in the wasm, nested in that of whatever awaits it.
pub enum Answer<T> {
    /// `None` once it was given.
    Now(Option<Result<T, JsValue>>),
    Later {
        promise: JsFuture,
        read: Option<Read<T>>,
    },
    Future(Pin<Box<dyn Future<Output = Result<T, JsValue>>>>),
}

impl<T> Answer<T> {
    pub fn now(answer: T) -> Self {
        Self::Now(Some(Ok(answer)))
    }

    pub fn of(future: impl Future<Output = Result<T, JsValue>> + 'static) -> Self {
        Self::Future(Box::pin(future))
    }

    /// `called` is what a call of JavaScript returned, a promise or not, or threw.
    pub fn later(
        called: Result<JsValue, JsValue>,
        read: impl FnOnce(JsValue) -> Result<T, JsValue> + 'static,
    ) -> Self {
        match called {
            Ok(value) => Self::Later {
                promise: JsFuture::from(Promise::resolve(&value)),
                read: Some(Box::new(read)),
            },
            Err(thrown) => Self::Now(Some(Err(thrown))),
        }
    }
}

// Nothing in it relies on staying where it is.
impl<T> Unpin for Answer<T> {}

impl<T> Future for Answer<T> {
    type Output = Result<T, JsValue>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = match &mut *self {
            Self::Now(answer) => answer.take(),
            Self::Later { promise, read } => {
                let settled = ready!(Pin::new(promise).poll(context))?;
                read.take().map(|read| read(settled))
            }
            Self::Future(future) => Some(ready!(future.as_mut().poll(context))),
        };
        answer.map_or(Poll::Pending, Poll::Ready)
    }
}
