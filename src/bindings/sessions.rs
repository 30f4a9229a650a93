//! The session service over the storage that was chosen at run time.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use js_sys::{Array, Function, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;

use crate::bindings::new_events::{Texts, new_events};
use crate::bindings::parts::Parts;
use crate::bindings::values::{
    appended_to_javascript, listing_to_javascript, scopes_to_javascript, session_to_javascript,
};
use crate::event::TextSlice;
use crate::room;
use crate::service::{Known, StalePolicy, StoredSessionService};
use crate::session::{Page, SessionKey, Window, check_id, check_timestamp};
use crate::state::Delta;
use crate::storage::chosen::ChosenStorage;
use crate::storage::guarded::Guarded;
use crate::storage::{Deletion, IndexedDbOptions, IndexedDbStorage, MemoryStorage};

/// A session service. A method returns its result at once if the storage does, else a promise.
#[wasm_bindgen]
pub struct SessionCore {
    // Shared with pending futures, so that JavaScript may drop this object before they end.
    service: Rc<StoredSessionService<ChosenStorage>>,
    is_heard: Cell<bool>,
}

#[wasm_bindgen]
impl SessionCore {
    /// Makes a service over a memory of its own.
    pub fn memory() -> Self {
        Self::over(ChosenStorage::Memory(MemoryStorage::new()))
    }

    /// Makes a service over the IndexedDB of that name, which is opened when it is first needed.
    /// Times are in milliseconds. For `on_open` see [`IndexedDbStorage::new`].
    pub fn indexed_db(
        name: &str,
        strict: bool,
        timeout: f64,
        blocked_timeout: f64,
        on_open: Option<Function>,
    ) -> Self {
        let options = IndexedDbOptions { strict, timeout, blocked_timeout };
        Self::over(ChosenStorage::IndexedDb(IndexedDbStorage::new(name, on_open, options)))
    }

    /// Opens the storage if it can be opened, so that errors show.
    pub fn open(&self) -> Result<JsValue, JsValue> {
        let service = Rc::clone(&self.service);
        settle(Box::pin(async move {
            if let ChosenStorage::IndexedDb(storage) = service.storage() {
                storage.open().await?;
            }
            Ok(JsValue::UNDEFINED)
        }))
    }

    /// Closes the connection, if there is one; the next call opens another one.
    pub fn disconnect(&self) {
        if let ChosenStorage::IndexedDb(storage) = self.service.storage() {
            storage.disconnect();
        }
    }

    fn over(storage: ChosenStorage) -> Self {
        let service = Rc::new(StoredSessionService::over(storage));
        Self { service, is_heard: Cell::new(false) }
    }

    /// Sets whether the caller wants to know which user and app states a write changes.
    pub fn tell_changes(&self, is_heard: bool) {
        self.is_heard.set(is_heard);
    }

    /// Whether results include these changes. Over memory only if the caller wants them now. Over
    /// other storages always: the caller may begin to want them while a write is pending.
    fn tells(&self) -> bool {
        self.is_heard.get() || !matches!(self.service.storage(), ChosenStorage::Memory(_))
    }

    /// Creates a session. Returns it as `session_to_javascript` lays it out.
    pub fn create(
        &self,
        app_name: String,
        user_id: String,
        session_id: String,
        state: String,
        now: f64,
        if_absent: bool,
    ) -> Result<JsValue, JsValue> {
        let key = SessionKey::new(app_name, user_id, session_id)?;
        let state = Delta::parse(&state)?;
        let now = check_timestamp("the clock", now)?;
        let (service, tells) = (Rc::clone(&self.service), self.tells());
        settle(Box::pin(async move {
            let session = if if_absent {
                service.get_or_create_session(key, state, now).await?
            } else {
                service.create_session(key, state, now).await?
            };
            Ok(session_to_javascript(session, tells))
        }))
    }

    /// Returns a session, as `session_to_javascript` lays it out, or `undefined`.
    pub fn get(
        &self,
        app_name: String,
        user_id: String,
        session_id: String,
        num_recent_events: Option<f64>,
        after_timestamp: Option<f64>,
    ) -> Result<JsValue, JsValue> {
        check_id("appName", &app_name)?;
        check_id("userId", &user_id)?;
        let window = Window::from_numbers(num_recent_events, after_timestamp)?;
        let Ok(key) = SessionKey::new(app_name, user_id, session_id) else {
            return Ok(JsValue::UNDEFINED);
        };
        let service = Rc::clone(&self.service);
        settle(Box::pin(async move {
            let session = service.get_session(key, window).await?;
            let session = session.map(|session| session_to_javascript(session, false));
            Ok(session.unwrap_or(JsValue::UNDEFINED))
        }))
    }

    /// Returns a page of sessions, as `listing_to_javascript` lays it out.
    #[allow(clippy::too_many_arguments, reason = "each is a member of the caller's request")]
    pub fn list(
        &self,
        app_name: String,
        user_id: Option<String>,
        descending: bool,
        limit: Option<f64>,
        offset: Option<f64>,
        page: Option<f64>,
        with_total: bool,
    ) -> Result<JsValue, JsValue> {
        let page = Page::from_numbers(limit, offset, page)?;
        let service = Rc::clone(&self.service);
        settle(Box::pin(async move {
            let listing = service.listing(app_name, user_id, descending, page, with_total).await?;
            Ok(listing_to_javascript(listing, page))
        }))
    }

    /// Appends events, all or none. Returns the result as `appended_to_javascript` lays it out.
    ///
    /// - `packed`: the names of app, user and session, then the events as `new_events` reads them.
    ///   `app`, `user` and `session` are the lengths of the names in UTF-16 code units.
    /// - `texts`: the events' texts for IndexedDB, which keeps JavaScript strings; over memory they
    ///   are packed.
    /// - `created`: NaN for a handle from elsewhere, which is located by `last_event_id`; below 0
    ///   if there is no handle.
    #[allow(clippy::too_many_arguments, reason = "an object would cost more than the append")]
    pub fn append(
        &self,
        packed: String,
        app: usize,
        user: usize,
        session: usize,
        numbers: &[f64],
        texts: Option<Array>,
        created: f64,
        revision: f64,
        last_event_id: Option<String>,
        policy: u8,
        now: f64,
    ) -> Result<JsValue, JsValue> {
        let known = known(created, revision, last_event_id);
        let policy = policy_of(policy);
        let now = check_timestamp("the clock", now)?;
        let packed = TextSlice::from(packed);
        let (key, events) = packed.with(|names| {
            let mut parts = Parts::of(names);
            let [app, user, session] =
                [app, user, session].map(|units| parts.next(units).to_owned());
            let key = SessionKey::new(app, user, session)?;
            let texts = texts.as_ref().map_or(Texts::Packed(&packed), Texts::JavaScript);
            Ok::<_, JsValue>((key, new_events(&mut parts, numbers, &texts)?))
        })?;
        if let ChosenStorage::IndexedDb(_) = self.service.storage() {
            IndexedDbStorage::check_events(&events)?;
        }
        let (service, tells) = (Rc::clone(&self.service), self.tells());
        settle(Box::pin(async move {
            let appended = service.append_events(key, known, policy, events, now).await?;
            Ok(appended_to_javascript(appended, tells))
        }))
    }

    /// Changes a user's and an app's state without an event. Returns the result as
    /// `scopes_to_javascript` lays it out.
    pub fn update(
        &self,
        app_name: String,
        user_id: Option<String>,
        delta: String,
    ) -> Result<JsValue, JsValue> {
        let delta = Delta::parse(&delta)?;
        let service = Rc::clone(&self.service);
        settle(Box::pin(async move {
            Ok(scopes_to_javascript(service.update_state(app_name, user_id, delta).await?))
        }))
    }

    /// Returns the JSON object of a user's state, or of an app's.
    pub fn scope_state(
        &self,
        app_name: String,
        user_id: Option<String>,
    ) -> Result<JsValue, JsValue> {
        let service = Rc::clone(&self.service);
        settle(Box::pin(async move {
            Ok(JsValue::from_str(&service.get_scope_state(app_name, user_id).await?))
        }))
    }

    /// Deletes a session. Without `session_id` it deletes a user's or an app's state, and with
    /// `with_sessions` the user's sessions too. An invalid session id names no session. Returns the
    /// floor, or `undefined` if the storage cannot tell.
    pub fn delete(
        &self,
        app_name: String,
        user_id: Option<String>,
        session_id: Option<String>,
        with_sessions: bool,
    ) -> Result<JsValue, JsValue> {
        check_id("appName", &app_name)?;
        if let Some(user_id) = &user_id {
            check_id("userId", user_id)?;
        }
        let deletion = match (user_id, session_id) {
            (None, _) => Deletion::AppState { app_name },
            (Some(user_id), None) if with_sessions => Deletion::User { app_name, user_id },
            (Some(user_id), None) => Deletion::UserState { app_name, user_id },
            (Some(user_id), Some(session_id)) => {
                match SessionKey::new(app_name, user_id, session_id) {
                    Ok(key) => Deletion::Session(key),
                    Err(_) => return Ok(JsValue::UNDEFINED),
                }
            }
        };
        let service = Rc::clone(&self.service);
        settle(Box::pin(async move {
            let floor = service.remove(deletion).await?;
            Ok(floor.map_or(JsValue::UNDEFINED, |floor| JsValue::from_f64(floor as f64)))
        }))
    }
}

/// Whether so many bytes can be allocated, with some to spare.
#[wasm_bindgen]
pub fn has_room(bytes: f64) -> bool {
    room::has_room(bytes as usize + room::SPARE)
}

/// Deletes an IndexedDB, even if tabs with this package have it open. Waits up to `blocked_timeout`
/// milliseconds for other connections.
#[wasm_bindgen]
pub fn delete_database(name: String, blocked_timeout: f64) -> Promise {
    let answer: Answer = Box::pin(async move {
        IndexedDbStorage::delete_database(&name, blocked_timeout).await?;
        Ok(JsValue::UNDEFINED)
    });
    future_to_promise(Guarded::new(answer))
}

pub(super) fn policy_of(number: u8) -> StalePolicy {
    match number {
        0 => StalePolicy::Merge,
        1 => StalePolicy::Append,
        _ => StalePolicy::Reject,
    }
}

fn known(created: f64, revision: f64, last_event_id: Option<String>) -> Known {
    if created.is_nan() {
        Known::LastEvent(last_event_id)
    } else if created < 0.0 {
        Known::Latest
    } else {
        Known::Revision { created: created as u64, revision: revision as u64 }
    }
}

type Answer = Pin<Box<dyn Future<Output = Result<JsValue, JsValue>>>>;

/// Polls the future once. Over memory it is ready then, and the call returns its result. Otherwise
/// it continues as a promise.
///
/// An exception in the first poll leaves the call as an exception; only the promise has to be
/// guarded.
///
/// The future is boxed, so that the wasm holds this function once and not for each method.
fn settle(mut answer: Answer) -> Result<JsValue, JsValue> {
    match answer.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => Ok(future_to_promise(Guarded::new(answer)).into()),
    }
}
