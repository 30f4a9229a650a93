//! The session service: every rule of creating, reading, listing, appending and deleting, over
//! any [`Storage`].
//!
//! Each write is a [`Write`], which the storage carries out.

mod session_service;

pub use session_service::{
    CreateRequest, DeleteRequest, GetRequest, ListRequest, Session, SessionService,
};

use crate::error::Error;
use crate::event::{EventText, NewEvent};
use crate::names::Names;
use crate::session::{Page, PagePosition, Revision, SessionHead, SessionKey, Window};
use crate::state::Delta;
use crate::storage::{Deletion, ListRequest as Listed, Listing, MemoryStorage, Storage};
pub use crate::write::{Appended, Known, StalePolicy};
use crate::write::{Position, ScopeRevisions, ScopeRow, SessionRow, Target, Write, merged};

/// A session service that keeps everything in memory.
///
/// ```
/// use adk_session_wasm::{CreateRequest, InMemorySessionService, SessionService};
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let service = InMemorySessionService::new();
/// let session = service
///     .create(CreateRequest {
///         app_name: "shop".into(),
///         user_id: "ada".into(),
///         session_id: None,
///         state: [("user:name".to_owned(), "Ada".into())].into(),
///     })
///     .await?;
/// assert_eq!(session.state().get("user:name"), Some("Ada".into()));
/// # Ok::<(), adk_session_wasm::Error>(())
/// # }).unwrap();
/// ```
pub type InMemorySessionService = StoredSessionService<MemoryStorage>;

/// How often `get_or_create_session` finds a session that it cannot read before it gives up.
const MAX_ROUNDS: u32 = 100;

/// Why a call did not happen: a rule forbids it, or the storage below failed.
#[derive(Debug)]
pub enum Refusal<F> {
    /// A rule.
    Rule(Error),
    /// The storage, in its own words.
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

/// A session as a read returns it.
#[derive(Debug, Clone)]
pub struct StoredSession {
    /// What names it.
    pub key: SessionKey,
    /// Its revisions and time.
    pub head: SessionHead,
    /// The JSON object of app, user and session state, prefixes put back.
    pub state: String,
    /// The texts of the events in the window, in append order.
    pub events: Vec<EventText>,
    /// Which other states changed, if the call created it; `None` if it was there.
    pub created: Option<ScopeRevisions>,
}

/// A page of sessions, without events.
#[derive(Debug, Clone)]
pub struct SessionPage {
    /// The sessions of the page.
    pub sessions: Vec<StoredSession>,
    /// Where the page stands.
    pub position: PagePosition,
    /// How many sessions there are in all.
    pub total: usize,
}

impl SessionPage {
    /// The page that a storage listed.
    fn of(listing: Listing, page: Page) -> Result<Self, Error> {
        let mut users = Names::default();
        for (user_id, state) in listing.users {
            if let Some(place) = users.get_or_default(&user_id) {
                *place = state;
            }
        }
        let mut sessions = Vec::with_capacity(listing.sessions.len());
        for row in listing.sessions {
            let user = users.get(&row.key.user_id);
            sessions.push(seen(row, user, listing.app.as_ref(), Vec::new())?);
        }
        Ok(Self { sessions, position: page.position(listing.total), total: listing.total })
    }
}

/// Every rule of a session service, over the storage `S`.
#[derive(Debug, Default)]
pub struct StoredSessionService<S> {
    storage: S,
}

impl InMemorySessionService {
    /// An empty service.
    pub fn new() -> Self {
        Self::default()
    }
}

type Answer<T, S> = Result<T, Refusal<<S as Storage>::Failure>>;

impl<S: Storage> StoredSessionService<S> {
    /// A service over `storage`.
    pub fn over(storage: S) -> Self {
        Self { storage }
    }

    /// The storage underneath.
    pub fn storage(&self) -> &S {
        &self.storage
    }

    /// Creates a session; `state` is split by scope and stored in the same step.
    ///
    /// # Errors
    /// `already_exists` if the key is taken; the stored session is left untouched.
    pub async fn create_session(
        &self,
        key: SessionKey,
        state: Delta,
        now: f64,
    ) -> Answer<StoredSession, S> {
        let taken = Error::AlreadyExists(key.clone());
        self.create_if_absent(key, state, now).await?.ok_or(Refusal::Rule(taken))
    }

    /// Returns the session of that key, with all events, or creates it. However many do this at
    /// once, there is one session and no error. `state` is used only if it creates.
    ///
    /// # Errors
    /// Only the storage's own.
    pub async fn get_or_create_session(
        &self,
        key: SessionKey,
        state: Delta,
        now: f64,
    ) -> Answer<StoredSession, S> {
        for _ in 0..MAX_ROUNDS {
            if let Some(session) = self.get_session(key.clone(), Window::ALL).await? {
                return Ok(session);
            }
            if let Some(session) = self.create_if_absent(key.clone(), state.clone(), now).await? {
                return Ok(session);
            }
            // Created by someone else since we looked. It is there to be read now, unless it was
            // deleted again meanwhile, in which case the next round creates it.
        }
        // A replica that lags is read, for instance.
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
        state: Delta,
        now: f64,
    ) -> Answer<Option<StoredSession>, S> {
        let write = self.write(Write::create(key.clone(), state, now)).await?;
        Ok(write.created()?.map(|(head, state, scopes)| StoredSession {
            key,
            head,
            state,
            events: Vec::new(),
            created: Some(scopes),
        }))
    }

    /// Reads a session; `None` if there is none.
    ///
    /// # Errors
    /// Only the storage's own.
    pub async fn get_session(
        &self,
        key: SessionKey,
        window: Window,
    ) -> Answer<Option<StoredSession>, S> {
        let rows = self.storage.read(key.into(), window).await.map_err(Refusal::Storage)?;
        let (user, app) = (rows.user, rows.app);
        let session = rows.session.map(|row| seen(row, user.as_ref(), app.as_ref(), rows.events));
        Ok(session.transpose()?)
    }

    /// Lists sessions, without their events.
    ///
    /// # Errors
    /// `invalid_argument` for names that are none.
    pub async fn list_sessions(
        &self,
        app_name: String,
        user_id: Option<String>,
        descending: bool,
        page: Page,
    ) -> Answer<SessionPage, S>
    where
        S: Storage<Listing = Listing>,
    {
        let listing = self.listing(app_name, user_id, descending, page, true).await?;
        Ok(SessionPage::of(listing, page)?)
    }

    /// The same as the storage has it.
    pub(crate) async fn listing(
        &self,
        app_name: String,
        user_id: Option<String>,
        descending: bool,
        page: Page,
        with_total: bool,
    ) -> Answer<S::Listing, S> {
        crate::session::check_id("app_name", &app_name)?;
        let request = Listed { app_name, user_id, descending, page, with_total };
        self.storage.list(request).await.map_err(Refusal::Storage)
    }

    /// Stores events and their deltas in one step, all or none, in order.
    ///
    /// # Errors
    /// `not_found` if the session is gone, `stale_session` under [`StalePolicy::Reject`].
    pub async fn append_events(
        &self,
        key: SessionKey,
        known: Known,
        policy: StalePolicy,
        events: Vec<NewEvent>,
        now: f64,
    ) -> Answer<Appended, S> {
        let position = self.locate(&key, known).await?;
        let mut write = Write::append(key, position, policy, events, now);
        loop {
            write = self.write(write).await?;
            if !write.again() {
                return Ok(write.appended()?);
            }
        }
    }

    /// Finds where a handle stands that carries no revision, by the last event it holds.
    async fn locate(&self, key: &SessionKey, known: Known) -> Answer<Position, S> {
        match known {
            Known::Revision { created, revision } => Ok(Position::Revision { created, revision }),
            Known::Latest => Ok(Position::Latest),
            Known::LastEvent(id) => {
                Ok(self.write(Write::locate(key.clone(), id)).await?.position()?)
            }
        }
    }

    /// Changes `user:` and `app:` keys without a session, and so without an event. Answers with the
    /// new revisions.
    ///
    /// # Errors
    /// `invalid_argument` for keys of a scope that the request names no owner of.
    pub async fn update_state(
        &self,
        app_name: String,
        user_id: Option<String>,
        delta: Delta,
    ) -> Answer<ScopeRevisions, S> {
        let write = Write::update(app_name, user_id, delta)?;
        Ok(self.write(write).await?.updated()?)
    }

    async fn write(&self, write: Write) -> Answer<Write, S> {
        self.storage.write(write).await.map_err(Refusal::Storage)
    }

    /// The JSON object of a user's state, or of an app's where no user is named; names without
    /// prefix.
    ///
    /// # Errors
    /// `invalid_argument` for names that are none.
    pub async fn get_scope_state(
        &self,
        app_name: String,
        user_id: Option<String>,
    ) -> Answer<String, S> {
        crate::session::check_id("app_name", &app_name)?;
        if let Some(user_id) = &user_id {
            crate::session::check_id("user_id", user_id)?;
        }
        let of_user = user_id.is_some();
        let target = Target { app_name, user_id, session_id: None };
        let rows = self.storage.read(target, Window::NONE).await.map_err(Refusal::Storage)?;
        let row = if of_user { rows.user } else { rows.app };
        Ok(row.unwrap_or_default().state.try_to_json()?)
    }

    /// Deletes a session, a user, or a state. What is not there is no error. Answers as
    /// [`Storage::delete`] does.
    ///
    /// # Errors
    /// Only the storage's own.
    pub async fn remove(&self, deletion: Deletion) -> Answer<Option<Revision>, S> {
        self.storage.delete(deletion).await.map_err(Refusal::Storage)
    }
}

/// A stored session as its readers see it: the three scopes as one state.
fn seen(
    row: SessionRow,
    user: Option<&ScopeRow>,
    app: Option<&ScopeRow>,
    events: Vec<EventText>,
) -> Result<StoredSession, Error> {
    let state = merged(&row.state, user.map(|row| &row.state), app.map(|row| &row.state))?;
    Ok(StoredSession { key: row.key, head: row.head, state, events, created: None })
}
