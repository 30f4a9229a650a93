//! The rules of a session service over any storage, with JSON texts as its values.
//!
//! [`StoredSessionService`](crate::service::StoredSessionService), the Rust API, converts these
//! values. Tests call this layer, because it takes the time and the positions of handles as arguments.

mod events;

pub use events::{EventCursor, ReadEvents};

use crate::core::error::Error;
use crate::core::error::reason::broken_storage;
use crate::core::names::NameMap;
use crate::core::read::{ListQuery, Read, Rows, TimedText};
use crate::core::session::{DescriptionRow, SessionHead, SessionKey, check_owner};
use crate::core::state::ByOwner;
use crate::core::storage::Storage;
use crate::core::write::{
    Create, CreatedSession, Decide, NewSession, SessionRow, SharedRow, Target, merge_scopes,
};

/// How many times `get_or_create_session` retries when a session can be neither read nor created.
const MAX_ROUNDS: u32 = 100;

/// A session service over the storage `S`, whose values are JSON texts.
#[derive(Debug, Default)]
pub struct TextService<S> {
    storage: S,
}

/// A session as read from a storage.
#[derive(Debug, Clone)]
pub struct ReadSession {
    /// The key of the session.
    pub key: SessionKey,
    /// Its revisions and time.
    pub head: SessionHead,
    /// The JSON object of app, user and session state, with prefixes.
    pub state: String,
    /// The events that were read, in append order.
    pub events: Vec<TimedText>,
    /// Its title and labels.
    pub description: DescriptionRow,
}

impl ReadSession {
    /// Returns a stored session with all scopes merged into one state.
    fn of(
        row: SessionRow,
        shared: ByOwner<Option<&SharedRow>>,
        events: Vec<TimedText>,
    ) -> Result<Self, Error> {
        let state = merge_scopes(&row.state, shared)?;
        let SessionRow { key, head, description, .. } = row;
        Ok(Self { key, head, state, events, description })
    }
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
        mut new: NewSession,
    ) -> Result<ReadSession, Error> {
        new.description.initial_state = Some(new.state.own_to_json()?);
        let events = new.events.iter().map(|event| (event.timestamp, event.text.clone())).collect();
        let mut description = DescriptionRow::default();
        description.apply(new.description.clone().into());
        let mut create = Create::new(key.clone(), new)?;
        self.write(&mut create).await?;
        let CreatedSession { head, state, .. } = create.finish()?;
        Ok(ReadSession { key, head, state, events, description })
    }

    /// Returns the session of that key with all events, or creates it. Concurrent calls get one
    /// session and no error. `new` is used only to create it.
    pub async fn get_or_create_session(
        &self,
        key: SessionKey,
        new: NewSession,
    ) -> Result<ReadSession, Error> {
        for _ in 0..MAX_ROUNDS {
            if let Some(session) = self.get_session(key.clone(), Read::ALL).await? {
                return Ok(session);
            }
            match self.create_session(key.clone(), new.clone()).await {
                // Another call created it since the read. The next round reads it, or creates it if
                // it was deleted again meanwhile.
                Err(Error::AlreadyExists { .. }) => {}
                created => return created,
            }
        }
        // For example, the storage reads from a replica that lags.
        let reason = format!(
            "session \"{}\" is there to create and not to read, {MAX_ROUNDS} times in a row; \
             reads must see what was written",
            key.session_id,
        );
        Err(broken_storage(&reason))
    }

    /// Reads a session; `None` if it does not exist.
    pub async fn get_session(
        &self,
        key: SessionKey,
        read: Read,
    ) -> Result<Option<ReadSession>, Error> {
        let rows = self.storage.read(&key.into(), &read, &()).await?;
        let Rows { session, shared, events, .. } = rows;
        let merged = |row| ReadSession::of(row, shared.as_ref().map(Option::as_ref), events);
        session.map(merged).transpose()
    }

    /// Lists sessions, without their events. Returns the page, and [`Listing::total`](crate::read::Listing::total).
    pub async fn list_sessions(
        &self,
        request: ListQuery,
    ) -> Result<(Vec<ReadSession>, usize), Error> {
        check_owner(&request.app_name, None)?;
        let listing = self.storage.list(&request, &()).await?;
        let mut users = NameMap::default();
        for (user_id, state) in listing.users {
            if let Some(row) = users.get_or_default(&user_id) {
                *row = state;
            }
        }
        let session = |row: SessionRow| {
            let user = users.get(&row.key.user_id);
            ReadSession::of(row, ByOwner { user, app: listing.app.as_ref() }, Vec::new())
        };
        let sessions = listing.sessions.into_iter().map(session).collect::<Result<_, _>>()?;
        Ok((sessions, listing.total))
    }

    /// Carries out a write, which then has its result.
    pub async fn write(&self, write: &mut dyn Decide) -> Result<(), Error> {
        self.storage.carry_out(write, &()).await
    }

    /// Returns the JSON object of a user's state, or of the app's if no user is named. Names have
    /// no prefix.
    pub async fn get_shared_state(
        &self,
        app_name: String,
        user_id: Option<String>,
    ) -> Result<String, Error> {
        check_owner(&app_name, user_id.as_deref())?;
        let of_user = user_id.is_some();
        let target = Target { app_name, user_id, session_id: None };
        let rows = self.storage.read(&target, &Read::NONE, &()).await?;
        let row = if of_user { rows.shared.user } else { rows.shared.app };
        row.unwrap_or_default().state.try_to_json()
    }
}
