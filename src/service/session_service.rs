//! The session service as Rust programs use it, in adk-rust's shape.

mod deep;
mod session;

use std::collections::HashMap;

use serde_json::Value;

pub use self::session::{Events, Session};
use crate::error::Error;
use crate::event::{Event, NewEvent};
use crate::platform;
use crate::service::{Known, Refusal, StalePolicy, StoredSessionService};
use crate::session::{Page, SessionKey, Window, check_id};
use crate::state::{Delta, Scope};
use crate::storage::{Deletion, Storage};

/// Asks for a new session.
#[derive(Debug, Clone, Default)]
pub struct CreateRequest {
    /// The app.
    pub app_name: String,
    /// The user of the app.
    pub user_id: String,
    /// `None` or blank: a fresh UUID v4.
    pub session_id: Option<String>,
    /// Split by scope and stored at once; `temp:` keys are dropped.
    pub state: HashMap<String, Value>,
}

/// Asks for a session with some of its events.
#[derive(Debug, Clone, Default)]
pub struct GetRequest {
    /// The app.
    pub app_name: String,
    /// The user of the app.
    pub user_id: String,
    /// The session of the user.
    pub session_id: String,
    /// Only the last so many events; `None`: all.
    pub num_recent_events: Option<usize>,
    /// Only events with this timestamp (milliseconds since 1970) or a later one.
    pub after: Option<f64>,
}

/// Asks for a list of a user's sessions, oldest update first.
#[derive(Debug, Clone, Default)]
pub struct ListRequest {
    /// The app.
    pub app_name: String,
    /// The user of the app. For all users there is [`SessionService::list_app`], so that an id that
    /// was forgotten lists nobody's sessions.
    pub user_id: String,
    /// At most so many; `None`: all.
    pub limit: Option<usize>,
    /// Pass over so many; `None`: 0.
    pub offset: Option<usize>,
}

/// Names a session to delete.
#[derive(Debug, Clone, Default)]
pub struct DeleteRequest {
    /// The app.
    pub app_name: String,
    /// The user of the app.
    pub user_id: String,
    /// The session of the user.
    pub session_id: String,
}

/// Creates, reads, lists and deletes sessions, and appends to them.
///
/// The futures are not `Send`; a current-thread runtime, or the root future of tokio's
/// `#[tokio::main]`, runs them.
///
/// ```
/// use adk_session_wasm::{
///     CreateRequest, Event, EventActions, GetRequest, InMemorySessionService, SessionService,
/// };
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let service = InMemorySessionService::new();
/// let create = CreateRequest { app_name: "shop".into(), user_id: "ada".into(), ..Default::default() };
/// let session = service.create(create).await?;
///
/// let mut event = Event::new("invocation-1");
/// event.actions =
///     EventActions { state_delta: [("topic".into(), "tea".into())].into(), ..Default::default() };
/// service.append_event(session.id(), event).await?;
///
/// let get = GetRequest {
///     app_name: "shop".into(),
///     user_id: "ada".into(),
///     session_id: session.id().into(),
///     ..Default::default()
/// };
/// let session = service.get(get).await?;
/// assert_eq!(session.state().get("topic"), Some("tea".into()));
/// assert_eq!(session.events().len(), 1);
/// # Ok::<(), adk_session_wasm::Error>(())
/// # }).unwrap();
/// ```
#[allow(async_fn_in_trait, reason = "a Send bound would shut out every storage in a browser")]
pub trait SessionService {
    /// Creates a session.
    ///
    /// # Errors
    /// `already_exists`, `invalid_argument`.
    async fn create(&self, request: CreateRequest) -> Result<Session, Error>;

    /// Reads a session.
    ///
    /// # Errors
    /// `not_found`; `invalid_argument` for a time that is NaN; `corrupt_record`.
    async fn get(&self, request: GetRequest) -> Result<Session, Error>;

    /// Lists sessions, without their events.
    ///
    /// # Errors
    /// `invalid_argument`.
    async fn list(&self, request: ListRequest) -> Result<Vec<Session>, Error>;

    /// Deletes a session; one that is not there is no error. App and user state stay.
    ///
    /// # Errors
    /// `invalid_argument`.
    async fn delete(&self, request: DeleteRequest) -> Result<(), Error>;

    /// Stores the event and its delta in one step. A partial event is not stored.
    ///
    /// # Errors
    /// `not_found`; `ambiguous` if several sessions have that id (then use
    /// [`SessionService::append_event_to`]); `unsupported` by a storage that cannot look up a bare
    /// id; `invalid_argument`.
    async fn append_event(&self, session_id: &str, event: Event) -> Result<(), Error>;

    /// [`SessionService::append_event`] by all three names, of which no two sessions have the
    /// same.
    ///
    /// # Errors
    /// `not_found`, `invalid_argument`.
    async fn append_event_to(&self, key: &SessionKey, event: Event) -> Result<(), Error>;
}

impl<S> SessionService for StoredSessionService<S>
where
    S: Storage,
    S::Text: From<String> + Into<String>,
    Error: From<Refusal<S::Failure>>,
{
    async fn create(&self, request: CreateRequest) -> Result<Session, Error> {
        let id = request.session_id.filter(|id| !id.trim().is_empty());
        let id = id.unwrap_or_else(platform::new_id);
        let key = SessionKey::new(request.app_name, request.user_id, id)?;
        let state = Delta::parse(&to_json("state", &request.state)?)?;
        Session::read(self.create_session(key, state, platform::now()).await?)
    }

    async fn get(&self, request: GetRequest) -> Result<Session, Error> {
        let window = Window::from_numbers(None, request.after)?;
        let window = Window { last: request.num_recent_events, ..window };
        let missing = Error::NotFound { session_id: request.session_id.clone() };
        let key = SessionKey::new(request.app_name, request.user_id, request.session_id)?;
        Session::read(self.get_session(key, window).await?.ok_or(missing)?)
    }

    async fn list(&self, request: ListRequest) -> Result<Vec<Session>, Error> {
        let page = Page { offset: request.offset, limit: request.limit };
        let listed = self.list_sessions(request.app_name, request.user_id, false, page).await?;
        listed.sessions.into_iter().map(Session::read).collect()
    }

    async fn delete(&self, request: DeleteRequest) -> Result<(), Error> {
        let key = SessionKey::new(request.app_name, request.user_id, request.session_id)?;
        Ok(self.delete(Deletion::Session(key)).await?)
    }

    async fn append_event(&self, session_id: &str, event: Event) -> Result<(), Error> {
        check_id("session_id", session_id)?;
        let keys = self.storage().find(session_id);
        let keys = keys.ok_or(Error::Unsupported("find a session by its bare id"))?;
        match keys.as_slice() {
            [] => Err(Error::NotFound { session_id: session_id.to_owned() }),
            [key] => self.append_event_to(key, event).await,
            several => {
                Err(Error::Ambiguous { session_id: session_id.to_owned(), count: several.len() })
            }
        }
    }

    async fn append_event_to(&self, key: &SessionKey, mut event: Event) -> Result<(), Error> {
        if event.partial {
            return Ok(());
        }
        if event.id.is_empty() {
            event.id = platform::new_id();
        }
        let event = event.without_temp();
        let delta = to_json("event.actions.state_delta", &event.actions.state_delta)?;
        let text = S::Text::from(to_json("event", &event)?);
        let event = NewEvent::new(event.id, event.timestamp, &delta, text)?;
        let (policy, now) = (StalePolicy::Append, platform::now());
        self.append_events(key.clone(), Known::Latest, policy, vec![event], now).await?;
        Ok(())
    }
}

fn to_json(path: &str, value: &impl serde::Serialize) -> Result<String, Error> {
    serde_json::to_string(value)
        .map_err(|error| Error::Unserializable { path: path.into(), reason: error.to_string() })
}
