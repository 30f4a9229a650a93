//! The results of the chosen storage's verbs: ready at once over memory, later over all other
//! storages.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use js_sys::Array;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::error::Error;
use crate::session::Revision;
use crate::storage::Listing;

/// A future JavaScript value.
pub type Later = Pin<Box<dyn Future<Output = Result<JsValue, JsValue>>>>;

/// Converts the JavaScript value.
type Read<T> = Box<dyn FnOnce(JsValue) -> Result<T, JsValue>>;

/// A future written by hand. Each verb and storage with an `async fn` would be one more state
/// machine in the wasm, nested in that of its caller.
pub enum Answer<T> {
    /// `None` once the result was returned.
    Now(Option<Result<T, JsValue>>),
    Later(Later, Option<Read<T>>),
}

impl<T> Answer<T> {
    pub fn now(answer: Result<T, Error>) -> Self {
        Self::Now(Some(answer.map_err(JsValue::from)))
    }

    pub fn later(
        answer: Later,
        read: impl FnOnce(JsValue) -> Result<T, JsValue> + 'static,
    ) -> Self {
        Self::Later(answer, Some(Box::new(read)))
    }
}

// No field relies on a fixed address.
impl<T> Unpin for Answer<T> {}

impl<T> Future for Answer<T> {
    type Output = Result<T, JsValue>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = match &mut *self {
            Self::Now(answer) => answer.take(),
            Self::Later(answer, read) => {
                let settled = ready!(answer.as_mut().poll(context))?;
                read.take().map(|read| read(settled))
            }
        };
        answer.map_or(Poll::Pending, Poll::Ready)
    }
}

/// A list for JavaScript. It holds each user's and the app's state once. A merged text for each
/// session would take more memory than there is.
pub struct ChosenListing {
    /// The storage's records. Over memory each is `[sessionId, userId, created, revision,
    /// lastUpdateTime, state]`. The states are the sessions' own.
    pub sessions: JsValue,
    /// The app's state, then pairs of a user's id and state. Keys have no prefix.
    pub shared: Array,
    pub total: usize,
}

impl From<Listing<JsValue>> for ChosenListing {
    fn from(Listing { sessions, users, app, total }: Listing<JsValue>) -> Self {
        let shared = Array::of1(&app.map_or(JsValue::UNDEFINED, |app| app.state.to_json().into()));
        for (user_id, user) in users {
            shared.push(&user_id.into());
            shared.push(&user.state.to_json().into());
        }
        Self { sessions, shared, total }
    }
}

/// Reads the floor after a deletion; `None` if the storage cannot tell it.
#[allow(clippy::unnecessary_wraps, reason = "as all that reads an answer")]
pub(crate) fn read_floor(floor: JsValue) -> Result<Option<Revision>, JsValue> {
    Ok(floor.as_f64().map(|floor| floor as Revision))
}

// Several numbers in one call: a call into JavaScript costs more than the numbers.
#[wasm_bindgen]
extern "C" {
    /// Pushes two numbers.
    #[wasm_bindgen(js_namespace = ["Array", "prototype", "push"], js_name = call)]
    pub(crate) fn push2(array: &Array, first: f64, second: f64);
    /// Pushes four numbers.
    #[wasm_bindgen(js_namespace = ["Array", "prototype", "push"], js_name = call)]
    pub(crate) fn push4(array: &Array, first: f64, second: f64, third: f64, fourth: f64);
}
