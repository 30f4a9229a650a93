//! The rules of a session service over any storage, with JSON texts as its values.
//!
//! [`StoredSessionService`](crate::service::StoredSessionService), the Rust API, converts these
//! values. Tests call this layer, because it takes the time and the positions of handles as arguments.

mod events;
mod stored;

pub use events::{EventCursor, StoredEvents};
pub use stored::StoredSession;

use crate::core::error::Error;
use crate::core::event::NewEvent;
use crate::core::names::Names;
use crate::core::read::{ListOrder, ListPlace, ListRequest, Page, Rows, Window};
use crate::core::session::{Revision, SessionKey, Timestamp, check_id};
use crate::core::state::{Delta, ScopedState, Shared};
use crate::core::storage::{Storage, carry_out};
use crate::core::write::{
    Appended, ComputeDelta, HandlePosition, NewSession, SessionRow, SharedRevisions, StalePolicy,
    Target, Write,
};

/// How many times `get_or_create_session` retries when a session can be neither read nor created.
const MAX_ROUNDS: u32 = 100;

/// A session service over the storage `S`, whose values are JSON texts.
#[derive(Debug, Default)]
pub struct TextService<S> {
    storage: S,
}

impl<S: Storage> TextService<S> {
    /// Makes a service over `storage`.
    pub fn over(storage: S) -> Self {
        Self { storage }
    }

    /// Returns the storage.
    pub fn storage(&self) -> &S {
        &self.storage
    }

    /// Creates a session with its state and its events, in one transaction.
    pub async fn create_session(
        &self,
        key: SessionKey,
        new: NewSession,
    ) -> Result<StoredSession, Error> {
        let taken = Error::AlreadyExists(key.clone());
        self.create_if_absent(key, new).await?.ok_or(taken)
    }

    /// Returns the session of that key with all events, or creates it. Concurrent calls get one
    /// session and no error. `new` is used only to create it.
    pub async fn get_or_create_session(
        &self,
        key: SessionKey,
        new: NewSession,
    ) -> Result<StoredSession, Error> {
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
        Err(Error::StorageFailed { reason })
    }

    async fn create_if_absent(
        &self,
        key: SessionKey,
        mut new: NewSession,
    ) -> Result<Option<StoredSession>, Error> {
        let mut initial_state = ScopedState::default();
        initial_state.apply(new.state.session.clone());
        new.description.initial_state = Some(initial_state.try_to_json()?);
        let events = new.events.iter().map(|event| event.text.clone()).collect();
        let description = new.description.clone();
        let created = self.write(Write::create(key.clone(), new)?).await?.created()?;
        let session = |(head, state, _)| StoredSession { key, head, state, events, description };
        Ok(created.map(session))
    }

    /// Reads a session; `None` if it does not exist.
    pub async fn get_session(
        &self,
        key: SessionKey,
        window: Window,
    ) -> Result<Option<StoredSession>, Error> {
        let rows = self.storage.read(key.into(), window).await.map_err(Into::into)?;
        let Rows { session, user, app, events, .. } = rows;
        let shared = Shared { user: user.as_ref(), app: app.as_ref() };
        session.map(|row| StoredSession::of(row, shared, events)).transpose()
    }

    /// Lists sessions, without their events: all, or those after a place. Returns the page, and the
    /// number of all sessions of the app or user.
    pub async fn list_sessions(
        &self,
        app_name: String,
        user_id: Option<String>,
        order: ListOrder,
        after: Option<ListPlace>,
        page: Page,
    ) -> Result<(Vec<StoredSession>, usize), Error> {
        check_id("app_name", &app_name)?;
        let request = ListRequest { app_name, user_id, order, after, page, with_total: true };
        let listing = self.storage.list(request).await.map_err(Into::into)?;
        let mut users = Names::default();
        for (user_id, state) in listing.users {
            if let Some(place) = users.get_or_default(&user_id) {
                *place = state;
            }
        }
        let session = |row: SessionRow| {
            let user = users.get(&row.key.user_id);
            let shared = Shared { user, app: listing.app.as_ref() };
            StoredSession::of(row, shared, Vec::new())
        };
        let sessions = listing.sessions.into_iter().map(session).collect::<Result<_, _>>()?;
        Ok((sessions, listing.total))
    }

    /// Stores events and their deltas in one transaction, all or none, in order. With no events and
    /// [`StalePolicy::Merge`] it returns what has changed since the position.
    pub async fn append_events(
        &self,
        key: SessionKey,
        position: HandlePosition,
        policy: StalePolicy,
        events: Vec<NewEvent>,
        now: Timestamp,
    ) -> Result<Appended, Error> {
        self.write(Write::append(key, position, policy, events, now)).await?.appended()
    }

    /// Like [`append_events`](Self::append_events), if the session still has that revision. A retry
    /// of events that are stored already succeeds at any revision.
    pub async fn append_events_at(
        &self,
        key: SessionKey,
        revision: Revision,
        position: HandlePosition,
        policy: StalePolicy,
        events: Vec<NewEvent>,
        now: Timestamp,
    ) -> Result<Appended, Error> {
        let write = Write::append(key, position, policy, events, now).expecting(revision);
        self.write(write).await?.appended()
    }

    /// Changes `user:` and `app:` keys without a session, and so without an event. Returns the new
    /// revisions.
    pub async fn update_state(
        &self,
        app_name: String,
        user_id: Option<String>,
        delta: Delta,
    ) -> Result<SharedRevisions, Error> {
        self.write(Write::update(app_name, user_id, delta)?).await?.updated()
    }

    /// Changes `user:` and `app:` keys as [`update_state`](Self::update_state) does, by a delta that
    /// `compute` makes of the stored state. Nobody changes that state before the commit.
    pub async fn compute_state(
        &self,
        app_name: String,
        user_id: Option<String>,
        compute: ComputeDelta,
    ) -> Result<SharedRevisions, Error> {
        let write = Write::update(app_name, user_id, Delta::default())?.computing(compute);
        self.write(write).await?.updated()
    }

    /// Appends an event whose delta and text `compute` makes of the stored state. Nobody changes that
    /// state before the commit. Without a change nothing is stored.
    pub async fn compute_event(
        &self,
        key: SessionKey,
        event: NewEvent,
        compute: ComputeDelta,
        now: Timestamp,
    ) -> Result<Appended, Error> {
        let (position, policy) = (HandlePosition::Latest, StalePolicy::Append);
        let write = Write::append(key, position, policy, vec![event], now).computing(compute);
        self.write(write).await?.appended()
    }

    pub(super) async fn write(&self, write: Write) -> Result<Write, Error> {
        carry_out(&self.storage, write).await.map_err(Into::into)
    }

    /// Returns the JSON object of a user's state, or of the app's if no user is named. Names have
    /// no prefix.
    pub async fn get_shared_state(
        &self,
        app_name: String,
        user_id: Option<String>,
    ) -> Result<String, Error> {
        check_id("app_name", &app_name)?;
        if let Some(user_id) = &user_id {
            check_id("user_id", user_id)?;
        }
        let of_user = user_id.is_some();
        let target = Target { app_name, user_id, session_id: None };
        let rows = self.storage.read(target, Window::NONE).await.map_err(Into::into)?;
        let row = if of_user { rows.user } else { rows.app };
        row.unwrap_or_default().state.try_to_json()
    }
}
