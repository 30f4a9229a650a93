//! The session service: every rule of creating, reading, listing, appending and deleting, over
//! any [`Storage`].
//!
//! Each write is a decision: a pure function from what the storage found to what it shall write.
//! The decisions live in `create`, `append` and `update`, one file each.

mod append;
mod create;
mod decision;
mod session_service;
mod update;

use std::convert::Infallible;

#[cfg(target_arch = "wasm32")]
pub(crate) use append::{AppendDecision, Position, append_now};
pub use append::{Appended, Known, StalePolicy};
pub use session_service::{
    CreateRequest, DeleteRequest, GetRequest, ListRequest, Session, SessionService,
};

use crate::error::Error;
use crate::event::NewEvent;
use crate::names::Names;
use crate::room::require_room;
pub(crate) use crate::service::decision::Decision;
use crate::session::{NEVER, Page, PagePosition, Revision, SessionHead, SessionKey, Window};
use crate::state::{Delta, Scope, ScopedState, merge_to_json};
use crate::storage::{
    Deletion, ListRequest as Listed, Listing, MemoryStorage, ScopeRevisions, ScopeRow, ScopeSet,
    SessionRow, Storage, Target, WriteRequest,
};

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

impl From<Refusal<Infallible>> for Error {
    fn from(refusal: Refusal<Infallible>) -> Self {
        match refusal {
            Refusal::Rule(error) => error,
            Refusal::Storage(never) => match never {},
        }
    }
}

impl From<Refusal<Self>> for Error {
    fn from(refusal: Refusal<Self>) -> Self {
        match refusal {
            Refusal::Rule(error) | Refusal::Storage(error) => error,
        }
    }
}

/// A session as a read returns it.
#[derive(Debug, Clone)]
pub struct StoredSession<T> {
    /// What names it.
    pub key: SessionKey,
    /// Its revisions and time.
    pub head: SessionHead,
    /// The JSON object of app, user and session state, prefixes put back.
    pub state: String,
    /// The texts of the events in the window, in append order.
    pub events: Vec<T>,
    /// Which other states changed, if the call created it; `None` if it was there.
    pub created: Option<ScopeRevisions>,
}

/// A page of sessions, without events.
#[derive(Debug, Clone)]
pub struct SessionPage<T> {
    /// The sessions of the page.
    pub sessions: Vec<StoredSession<T>>,
    /// Where the page stands.
    pub position: PagePosition,
    /// How many sessions there are in all.
    pub total: usize,
}

impl<T> SessionPage<T> {
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
    ) -> Answer<StoredSession<S::Text>, S> {
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
    ) -> Answer<StoredSession<S::Text>, S> {
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
            "session {:?} is there to create and not to read, {MAX_ROUNDS} times in a row; \
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
    ) -> Answer<Option<StoredSession<S::Text>>, S> {
        let request = WriteRequest {
            target: key.clone().into(),
            scopes: ScopeSet { session: true, user: true, app: true },
            event_ids: Vec::new(),
            ids_are_new: false,
            since: NEVER,
        };
        let decision = Decision::Create(create::CreateDecision::new(state, now));
        let decision = self.storage.create(request, decision).await.map_err(Refusal::Storage)?;
        Ok(decision.created()?.map(|(head, state, scopes)| StoredSession {
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
    ) -> Answer<Option<StoredSession<S::Text>>, S> {
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
    ) -> Answer<SessionPage<S::Text>, S>
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
        events: Vec<NewEvent<S::Text>>,
        now: f64,
    ) -> Answer<Appended<S::Text>, S> {
        let position = self.locate(&key, known).await?;
        let mut decision = append::AppendDecision::new(position, policy, events, now);
        loop {
            let request = decision.request(key.clone());
            decision = self.append(request, Decision::Append(decision)).await?.into_append()?;
            if !decision.again() {
                return Ok(decision.outcome(&key.session_id)?);
            }
        }
    }

    /// Finds where a handle stands that carries no revision, by the last event it holds.
    async fn locate(&self, key: &SessionKey, known: Known) -> Answer<append::Position, S> {
        let last_event_id = match known {
            Known::Revision { created, revision } => {
                return Ok(append::Position::Revision { created, revision });
            }
            Known::Latest => return Ok(append::Position::Latest),
            Known::LastEvent(id) => id,
        };
        let request = WriteRequest {
            target: key.clone().into(),
            scopes: ScopeSet::default(),
            event_ids: last_event_id.into_iter().map(Into::into).collect(),
            ids_are_new: false,
            since: NEVER,
        };
        let look = Decision::Look(append::LookDecision::default());
        Ok(self.append(request, look).await?.position(key)?)
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
        let decision = update::UpdateDecision::new(&app_name, user_id.as_deref(), delta)?;
        let request = decision.request(Target { app_name, user_id, session_id: None });
        Ok(self.append(request, Decision::Update(decision)).await?.updated()?)
    }

    async fn append(
        &self,
        request: WriteRequest,
        decision: Decision<S::Text>,
    ) -> Answer<Decision<S::Text>, S> {
        self.storage.append(request, decision).await.map_err(Refusal::Storage)
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
fn seen<T>(
    row: SessionRow,
    user: Option<&ScopeRow>,
    app: Option<&ScopeRow>,
    events: Vec<T>,
) -> Result<StoredSession<T>, Error> {
    let state = merged(&row.state, user.map(|row| &row.state), app.map(|row| &row.state))?;
    Ok(StoredSession { key: row.key, head: row.head, state, events, created: None })
}

/// The JSON object of the three scopes as one state.
pub(crate) fn merged(
    session: &ScopedState,
    user: Option<&ScopedState>,
    app: Option<&ScopedState>,
) -> Result<String, Error> {
    require_room([Some(session), user, app].into_iter().flatten().map(ScopedState::size).sum())?;
    let user = user.map(|state| (Scope::User, state));
    let app = app.map(|state| (Scope::App, state));
    Ok(merge_to_json([(Scope::Session, session)].into_iter().chain(user).chain(app)))
}
