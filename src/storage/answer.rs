//! What a verb of the chosen storage answers: at once over memory, later over all
//! others.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use js_sys::Array;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::error::Error;
use crate::session::Revision;
use crate::storage::Listing;

/// A value of JavaScript's that comes later.
pub type Later = Pin<Box<dyn Future<Output = Result<JsValue, JsValue>>>>;

/// Reads what JavaScript answered.
type Read<T> = Box<dyn FnOnce(JsValue) -> Result<T, JsValue>>;

/// A future by hand. An `async fn` a verb and a storage would each be a state machine of its own
/// in the wasm, nested in that of whatever awaits it.
pub enum Answer<T> {
    /// `None` once it was given.
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

// Nothing in it relies on staying where it is.
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

/// A list as JavaScript gets it. The states of users and of the app stand in it once: a text a session of
/// all that it shows would take more memory than there is.
pub struct ChosenListing {
    /// Records as the storage has them, or of memory `[sessionId, userId, created, revision,
    /// lastUpdateTime, state]` each. States are those of the sessions alone.
    pub sessions: JsValue,
    /// The app's state, then pairs of a user's id and state; names without prefix.
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

/// The floor after a deletion, where the storage tells it.
#[allow(clippy::unnecessary_wraps, reason = "as all that reads an answer")]
pub(crate) fn read_floor(floor: JsValue) -> Result<Option<Revision>, JsValue> {
    Ok(floor.as_f64().map(|floor| floor as Revision))
}

// A call into JavaScript costs more than the numbers that it carries.
#[wasm_bindgen]
extern "C" {
    /// Pushes two numbers.
    #[wasm_bindgen(js_namespace = ["Array", "prototype", "push"], js_name = call)]
    pub(crate) fn push2(array: &Array, first: f64, second: f64);
    /// Pushes four numbers.
    #[wasm_bindgen(js_namespace = ["Array", "prototype", "push"], js_name = call)]
    pub(crate) fn push4(array: &Array, first: f64, second: f64, third: f64, fourth: f64);
}
