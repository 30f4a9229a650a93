//! The session service over any [`Storage`]: every rule of creating, reading, listing, appending
//! and deleting.
//!
//! Each write is a [`Write`], which the storage carries out.
//!
//! [`StoredSessionService`] implements two interfaces. Rust agents call the trait [`SessionService`],
//! whose `create` and `get` are shaped as in adk-rust. Bindings to other languages call the methods of
//! the type itself, whose `create_session` and `get_session` take revisions, the time and JSON texts.

mod events;
mod session_service;
mod stored;

pub use events::{EventCursor, StoredEvents};
pub use session_service::{
    CreateRequest, DeleteRequest, EventsPage, GetRequest, ListEventsRequest, ListRequest, Session,
    SessionInfo, SessionService, TokenUsage,
};
pub use stored::{SessionPage, StoredSession};

use crate::core::error::Error;
use crate::core::event::NewEvent;
use crate::core::read::{
    ListOrder, ListPlace, ListRequest as StorageListRequest, Page, Rows, Window,
};
use crate::core::session::{Description, Revision, SessionKey, Timestamp, check_id};
use crate::core::state::{Delta, ScopedState, Shared};
use crate::core::storage::{Deletion, Storage, carry_out};
pub use crate::core::write::{
    Appended, ComputeDelta, Computed, HandlePosition, NewSession, StalePolicy,
};
use crate::core::write::{SharedRevisions, Target, Write};
use crate::memory::MemoryStorage;

/// A session service in memory.
///
/// ```
/// use adk_session_wasm::{CreateRequest, InMemorySessionService, SessionService};
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let service = InMemorySessionService::new();
/// let session = service
///     .create(CreateRequest {
///         app_name: "shop".into(),
///         user_id: "ada".into(),
///         state: [("user:name".to_owned(), "Ada".into())].into(),
///         ..Default::default()
///     })
///     .await?;
/// assert_eq!(session.state().get("user:name"), Some("Ada".into()));
/// # Ok::<(), adk_session_wasm::Error>(())
/// # }).unwrap();
/// ```
pub type InMemorySessionService = StoredSessionService<MemoryStorage>;

/// How many times `get_or_create_session` retries when a session can be neither read nor created.
const MAX_ROUNDS: u32 = 100;

/// The reason why a call failed: a rule refused it, or the storage failed.
#[derive(Debug)]
pub enum Refusal<F> {
    /// A rule refused the call.
    Rule(Error),
    /// The storage failed, with its own error.
    Storage(F),
}

impl<F> From<Error> for Refusal<F> {
    fn from(error: Error) -> Self {
        Self::Rule(error)
    }
}

impl<F: Into<Self>> From<Refusal<F>> for Error {
    fn from(refusal: Refusal<F>) -> Self {
        match refusal {
            Refusal::Rule(error) => error,
            Refusal::Storage(failure) => failure.into(),
        }
    }
}

/// A session service over the storage `S`.
#[derive(Debug, Default)]
pub struct StoredSessionService<S> {
    storage: S,
}

impl InMemorySessionService {
    /// Makes an empty service.
    pub fn new() -> Self {
        Self::default()
    }
}

type ServiceResult<T, S> = Result<T, Refusal<<S as Storage>::Failure>>;

impl<S: Storage> StoredSessionService<S> {
    /// Makes a service over `storage`.
    pub fn over(storage: S) -> Self {
        Self { storage }
    }

    /// Returns the storage.
    pub fn storage(&self) -> &S {
        &self.storage
    }

    /// Creates a session with its state and its events, in one transaction.
    ///
    /// # Errors
    /// Fails with `already_exists` if the key is taken; the stored session is left untouched. Fails
    /// with `invalid_argument` if two events have one id.
    pub async fn create_session(
        &self,
        key: SessionKey,
        new: NewSession,
    ) -> ServiceResult<StoredSession, S> {
        let taken = Error::AlreadyExists(key.clone());
        self.create_if_absent(key, new).await?.ok_or(Refusal::Rule(taken))
    }

    /// Returns the session of that key with all events, or creates it. Concurrent calls get one
    /// session and no error. `new` is used only to create it.
    ///
    /// # Errors
    /// The storage's errors, and `invalid_argument` if two events have one id.
    pub async fn get_or_create_session(
        &self,
        key: SessionKey,
        new: NewSession,
    ) -> ServiceResult<StoredSession, S> {
        for _ in 0..MAX_ROUNDS {
            if let Some(session) = self.get_session(key.clone(), Window::ALL).await? {
                return Ok(session);
            }
            if let Some(session) = self.create_if_absent(key.clone(), new.clone()).await? {
                return Ok(session);
            }
            // Another call created it since the read. The next round reads it, or creates it if it
            // was deleted again meanwhile.
        }
        // For example, the storage reads from a replica that lags.
        let reason = format!(
            "session \"{}\" is there to create and not to read, {MAX_ROUNDS} times in a row; \
             reads must see what was written",
            key.session_id,
        );
        Err(Refusal::Rule(Error::StorageFailed { reason }))
    }

    async fn create_if_absent(
        &self,
        key: SessionKey,
        mut new: NewSession,
    ) -> ServiceResult<Option<StoredSession>, S> {
        let mut initial_state = ScopedState::default();
        initial_state.apply(new.state.session.clone());
        new.description.initial_state = Some(initial_state.try_to_json()?);
        let events = new.events.iter().map(|event| event.text.clone()).collect();
        let description = new.description.clone();
        let write = self.write(Write::create(key.clone(), new)?).await?;
        Ok(write.created()?.map(|(head, state, shared)| StoredSession {
            key,
            head,
            state,
            events,
            description,
            created: Some(shared),
        }))
    }

    /// Changes the title and the labels of a session, and neither its revision nor its time.
    ///
    /// # Errors
    /// Fails with `not_found` if the session does not exist.
    ///
    /// ```
    /// use adk_session_wasm::{CreateRequest, InMemorySessionService, SessionService};
    /// use adk_session_wasm::session::Description;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), adk_session_wasm::Error> {
    /// let service = InMemorySessionService::new();
    /// let (app_name, user_id) = ("shop".to_owned(), "ada".to_owned());
    /// let session =
    ///     service.create(CreateRequest { app_name, user_id, ..Default::default() }).await?;
    /// // After each message of the user: the first one becomes the title.
    /// for message in ["Which tea is good?", "And cake?"] {
    ///     let first_title = Some(message.to_owned());
    ///     let change = Description { first_title, ..Description::default() };
    ///     service.describe_session(session.key().clone(), change).await?;
    /// }
    /// let info = service.session_info(session.key().clone()).await?;
    /// assert_eq!(info.description.title.as_deref(), Some("Which tea is good?"));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn describe_session(
        &self,
        key: SessionKey,
        change: Description,
    ) -> ServiceResult<(), S> {
        let session_id = key.session_id.clone();
        let write = self.write(Write::describe(key, change)).await?;
        if write.described()? { Ok(()) } else { Err(Error::NotFound { session_id }.into()) }
    }

    /// Reads a session; `None` if it does not exist.
    ///
    /// # Errors
    /// Fails only with the storage's errors.
    pub async fn get_session(
        &self,
        key: SessionKey,
        window: Window,
    ) -> ServiceResult<Option<StoredSession>, S> {
        let rows = self.storage.read(key.into(), window).await.map_err(Refusal::Storage)?;
        let Rows { session, user, app, events, .. } = rows;
        let shared = Shared { user: user.as_ref(), app: app.as_ref() };
        Ok(session.map(|row| StoredSession::of(row, shared, events)).transpose()?)
    }

    /// Lists sessions, without their events: all, or those after a place.
    ///
    /// # Errors
    /// Fails with `invalid_argument` if a name is invalid.
    pub async fn list_sessions(
        &self,
        app_name: String,
        user_id: Option<String>,
        order: ListOrder,
        after: Option<ListPlace>,
        page: Page,
    ) -> ServiceResult<SessionPage, S> {
        check_id("app_name", &app_name)?;
        let request =
            StorageListRequest { app_name, user_id, order, after, page, with_total: true };
        let listing = self.storage.list(request).await.map_err(Refusal::Storage)?;
        Ok(SessionPage::of(listing, page)?)
    }

    /// Stores events and their deltas in one transaction, all or none, in order.
    ///
    /// # Errors
    /// Fails with `not_found` if the session does not exist, and with `stale_session` under
    /// [`StalePolicy::Reject`].
    pub async fn append_events(
        &self,
        key: SessionKey,
        position: HandlePosition,
        policy: StalePolicy,
        events: Vec<NewEvent>,
        now: Timestamp,
    ) -> ServiceResult<Appended, S> {
        let write = Write::append(key, position, policy, events, now);
        Ok(self.write(write).await?.appended()?)
    }

    /// Like [`append_events`](Self::append_events), if the session still has that revision. A retry
    /// of events that are stored already succeeds at any revision.
    ///
    /// # Errors
    /// Fails with `stale_session` if the session has another revision, and otherwise as
    /// `append_events` does.
    pub async fn append_events_at(
        &self,
        key: SessionKey,
        revision: Revision,
        position: HandlePosition,
        policy: StalePolicy,
        events: Vec<NewEvent>,
        now: Timestamp,
    ) -> ServiceResult<Appended, S> {
        let write = Write::append(key, position, policy, events, now).expecting(revision);
        Ok(self.write(write).await?.appended()?)
    }

    /// Changes `user:` and `app:` keys without a session, and so without an event. Returns the new
    /// revisions.
    ///
    /// # Errors
    /// Fails with `invalid_argument` if a name is invalid, or if a key's scope needs an id that is
    /// missing.
    pub async fn update_state(
        &self,
        app_name: String,
        user_id: Option<String>,
        delta: Delta,
    ) -> ServiceResult<SharedRevisions, S> {
        let write = Write::update(app_name, user_id, delta)?;
        Ok(self.write(write).await?.updated()?)
    }

    /// Changes `user:` and `app:` keys as [`update_state`](Self::update_state) does, by a delta that
    /// `compute` makes of the stored state. Nobody changes that state before the commit, so concurrent
    /// calls can count.
    ///
    /// # Errors
    /// Fails as `update_state` does, and with the error of `compute`.
    ///
    /// ```
    /// use adk_session_wasm::{InMemorySessionService, state::Delta};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), adk_session_wasm::Error> {
    /// let service = InMemorySessionService::new();
    /// for _ in 0..3 {
    ///     let add = |state: &str| {
    ///         let state: serde_json::Value = serde_json::from_str(state).unwrap_or_default();
    ///         let total = state["app:total"].as_i64().unwrap_or(0) + 1;
    ///         Ok(Delta::parse(&format!(r#"{{"app:total":{total}}}"#))?.into())
    ///     };
    ///     service.compute_state("shop".into(), None, Box::new(add)).await?;
    /// }
    /// assert_eq!(service.get_shared_state("shop".into(), None).await?, r#"{"total":3}"#);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn compute_state(
        &self,
        app_name: String,
        user_id: Option<String>,
        compute: ComputeDelta,
    ) -> ServiceResult<SharedRevisions, S> {
        let write = Write::update(app_name, user_id, Delta::default())?.computing(compute);
        Ok(self.write(write).await?.updated()?)
    }

    /// Appends an event whose delta and text `compute` makes of the stored state. Nobody changes that
    /// state before the commit. Without a change nothing is stored.
    ///
    /// # Errors
    /// Fails with `not_found` if the session does not exist, and with the error of `compute`.
    pub async fn compute_event(
        &self,
        key: SessionKey,
        event: NewEvent,
        compute: ComputeDelta,
        now: Timestamp,
    ) -> ServiceResult<Appended, S> {
        let (position, policy) = (HandlePosition::Latest, StalePolicy::Append);
        let write = Write::append(key, position, policy, vec![event], now).computing(compute);
        Ok(self.write(write).await?.appended()?)
    }

    async fn write(&self, write: Write) -> ServiceResult<Write, S> {
        carry_out(&self.storage, write).await.map_err(Refusal::Storage)
    }

    /// Returns the JSON object of a user's state, or of the app's if no user is named. Names have
    /// no prefix.
    ///
    /// # Errors
    /// Fails with `invalid_argument` if a name is invalid.
    pub async fn get_shared_state(
        &self,
        app_name: String,
        user_id: Option<String>,
    ) -> ServiceResult<String, S> {
        check_id("app_name", &app_name)?;
        if let Some(user_id) = &user_id {
            check_id("user_id", user_id)?;
        }
        let of_user = user_id.is_some();
        let target = Target { app_name, user_id, session_id: None };
        let rows = self.storage.read(target, Window::NONE).await.map_err(Refusal::Storage)?;
        let row = if of_user { rows.user } else { rows.app };
        Ok(row.unwrap_or_default().state.try_to_json()?)
    }

    /// Deletes a session, a user, or a state. Succeeds if there is nothing to delete. Returns the same as
    /// [`Storage::delete`].
    ///
    /// # Errors
    /// Fails only with the storage's errors.
    pub async fn remove(&self, deletion: Deletion) -> ServiceResult<Option<Revision>, S> {
        self.storage.delete(deletion).await.map_err(Refusal::Storage)
    }
}
