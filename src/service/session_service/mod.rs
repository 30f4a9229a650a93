//! The session service for Rust programs, in adk-rust's form.

mod deep;
mod events;
mod info;
mod requests;
mod session;

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

pub use self::events::{EventsPage, ListEventsRequest};
pub use self::info::{SessionInfo, TokenUsage};
pub use self::requests::{CreateRequest, DeleteRequest, GetRequest, ListRequest};
pub use self::session::Session;
use crate::core::error::Error;
use crate::core::event::{Event, EventText, NewEvent};
use crate::core::read::{ListOrder, Page, Window};
use crate::core::session::{Revision, SessionKey, Timestamp, check_id};
use crate::core::state::{Delta, Scope};
use crate::core::storage::{Deletion, Storage};
use crate::platform;
use crate::service::{HandlePosition, NewSession, Refusal, StalePolicy, StoredSessionService};

/// Creates, reads, lists and deletes sessions, and appends to them.
///
/// The futures are not `Send`. Run them on a current-thread runtime, or in the root future of
/// tokio's `#[tokio::main]`.
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
    /// Creates a session. The state is split by scope and stored in the same transaction.
    ///
    /// # Errors
    /// - `already_exists` if the id is taken; the stored session is untouched
    /// - `invalid_argument` if a name is invalid
    /// - `unserializable` if a state value nests more than 200 levels
    async fn create(&self, request: CreateRequest) -> Result<Session, Error>;

    /// Reads a session: its current state, and the requested events.
    ///
    /// # Errors
    /// - `not_found` if the session does not exist or its id is invalid
    /// - `invalid_argument` if an app or user name is invalid
    /// - `corrupt_record` if a stored record cannot be read
    async fn get(&self, request: GetRequest) -> Result<Session, Error>;

    /// Lists a user's sessions, without their events. Oldest update first, ties by id in UTF-16 order.
    ///
    /// # Errors
    /// Fails with `invalid_argument` if a name is invalid, and with `corrupt_record` if a stored
    /// record cannot be read.
    ///
    /// ```
    /// use adk_session_wasm::{CreateRequest, InMemorySessionService, ListRequest, SessionService};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), adk_session_wasm::Error> {
    /// let service = InMemorySessionService::new();
    /// for user_id in ["ada", "ada", "grace"] {
    ///     let (app_name, user_id) = ("shop".to_owned(), user_id.to_owned());
    ///     service.create(CreateRequest { app_name, user_id, ..Default::default() }).await?;
    /// }
    /// let (app_name, user_id) = ("shop".to_owned(), "ada".to_owned());
    /// let list = ListRequest { app_name, user_id, ..Default::default() };
    /// assert_eq!(service.list(list).await?.len(), 2);
    /// assert_eq!(service.list_app("shop", Some(10), None).await?.len(), 3);
    /// # Ok(())
    /// # }
    /// ```
    async fn list(&self, request: ListRequest) -> Result<Vec<Session>, Error>;

    /// Lists the sessions of all users of an app as [`SessionService::list`] does, ties also by
    /// user. Skips `offset` sessions and returns at most `limit`. The default implementation fails
    /// with `unsupported`.
    ///
    /// # Errors
    /// The same as [`SessionService::list`].
    async fn list_app(
        &self,
        app_name: &str,
        limit: Option<usize>,
        offset: Option<usize>,
    ) -> Result<Vec<Session>, Error> {
        let _ = (app_name, limit, offset);
        Err(Error::Unsupported("list the sessions of all users"))
    }

    /// Reads a page of a session's events, of any age. The default implementation fails with
    /// `unsupported`. [`ListEventsRequest`] has an example.
    ///
    /// # Errors
    /// - `not_found` if the session does not exist or its id is invalid
    /// - `invalid_argument` if a name or the limit is invalid, or if a cursor belongs to another
    ///   session, or to a deleted one of the same id
    /// - `corrupt_record` if a stored record cannot be read
    async fn list_events(&self, request: ListEventsRequest) -> Result<EventsPage, Error> {
        let _ = request;
        Err(Error::Unsupported("list the events of a session"))
    }

    /// Deletes a session and its events. Succeeds if there is no such session. App and user state stay.
    ///
    /// # Errors
    /// Fails with `invalid_argument` if an app or user name is invalid.
    async fn delete(&self, request: DeleteRequest) -> Result<(), Error>;

    /// Stores the event and its delta in one transaction. Partial events and `temp:` keys are not
    /// stored. If the id is stored already with the same content, nothing changes, so a retry is
    /// safe. With other content, the event replaces the stored one in place.
    ///
    /// # Errors
    /// - `not_found` if the session does not exist
    /// - `ambiguous` if several sessions have that id (then use
    ///   [`SessionService::append_event_to`])
    /// - `unsupported` if the storage cannot look up a bare id
    /// - `invalid_argument` if an id is invalid, or if [`Event::other`] repeats a field of [`Event`]
    /// - `unserializable` if a state value nests more than 200 levels, or an event more than 250
    async fn append_event(&self, session_id: &str, event: Event) -> Result<(), Error>;

    /// Appends an event as [`SessionService::append_event`] does, to the session with this key. The
    /// key identifies one session, so it is never ambiguous.
    ///
    /// # Errors
    /// The same as [`SessionService::append_event`], except `ambiguous`.
    ///
    /// ```
    /// use adk_session_wasm::{CreateRequest, Event, InMemorySessionService, SessionService};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), adk_session_wasm::Error> {
    /// let service = InMemorySessionService::new();
    /// let mut sessions = Vec::new();
    /// for user_id in ["ada", "grace"] {
    ///     let (app_name, user_id) = ("shop".to_owned(), user_id.to_owned());
    ///     let session_id = Some("latest".to_owned());
    ///     let create = CreateRequest { app_name, user_id, session_id, ..Default::default() };
    ///     sessions.push(service.create(create).await?);
    /// }
    /// let refused = service.append_event("latest", Event::new("invocation-1")).await;
    /// assert_eq!(refused.unwrap_err().code(), "ambiguous");
    /// service.append_event_to(sessions[0].key(), Event::new("invocation-1")).await?;
    /// # Ok(())
    /// # }
    /// ```
    async fn append_event_to(&self, key: &SessionKey, event: Event) -> Result<(), Error>;
}

impl<S> SessionService for StoredSessionService<S>
where
    S: Storage,
    S::Failure: Into<Error>,
{
    async fn create(&self, request: CreateRequest) -> Result<Session, Error> {
        let id = request.session_id.filter(|id| !id.trim().is_empty());
        let id = id.unwrap_or_else(platform::new_id);
        let key = SessionKey::new(request.app_name, request.user_id, id)?;
        check_values("state", &request.state)?;
        let state = Delta::parse(&to_json("state", &by_key(&request.state))?)?;
        let stored = request.events.into_iter().filter(|event| !event.partial);
        let events = stored.map(new_event).collect::<Result<_, _>>()?;
        let description = request.description;
        let new = NewSession { events, description, ..NewSession::new(state, Timestamp::now()) };
        Session::read(self.create_session(key, new).await?)
    }

    async fn get(&self, request: GetRequest) -> Result<Session, Error> {
        let window =
            Window { limit: request.num_recent_events, after: request.after, ..Window::ALL };
        check_owner(&request.app_name, &request.user_id)?;
        let missing = || Error::NotFound { session_id: request.session_id.clone() };
        let key = SessionKey::new(request.app_name, request.user_id, request.session_id.as_str())
            .map_err(|_| missing())?;
        Session::read(self.get_session(key, window).await?.ok_or_else(missing)?)
    }

    async fn list(&self, request: ListRequest) -> Result<Vec<Session>, Error> {
        check_owner(&request.app_name, &request.user_id)?;
        let page = Page { offset: request.offset.unwrap_or(0), limit: request.limit };
        let user_id = Some(request.user_id);
        let listed = self
            .list_sessions(request.app_name, user_id, ListOrder::default(), request.after, page)
            .await?;
        listed.sessions.into_iter().map(Session::read).collect()
    }

    async fn list_app(
        &self,
        app_name: &str,
        limit: Option<usize>,
        offset: Option<usize>,
    ) -> Result<Vec<Session>, Error> {
        check_id("app_name", app_name)?;
        let page = Page { offset: offset.unwrap_or(0), limit };
        let order = ListOrder::default();
        let listed = self.list_sessions(app_name.to_owned(), None, order, None, page).await?;
        listed.sessions.into_iter().map(Session::read).collect()
    }

    async fn list_events(&self, request: ListEventsRequest) -> Result<EventsPage, Error> {
        events::list_events(self, request).await
    }

    async fn delete(&self, request: DeleteRequest) -> Result<(), Error> {
        check_owner(&request.app_name, &request.user_id)?;
        let key = SessionKey::new(request.app_name, request.user_id, request.session_id);
        // An invalid id names no session.
        let Ok(key) = key else { return Ok(()) };
        let deleted = self.storage().delete(Deletion::Session(key)).await;
        deleted.map_err(Refusal::Storage)?;
        Ok(())
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

    async fn append_event_to(&self, key: &SessionKey, event: Event) -> Result<(), Error> {
        if event.partial {
            return Ok(());
        }
        let event = new_event(event)?;
        let (policy, now) = (StalePolicy::Append, Timestamp::now());
        self.append_events(key.clone(), HandlePosition::Latest, policy, vec![event], now).await?;
        Ok(())
    }
}

impl<S> StoredSessionService<S>
where
    S: Storage,
    S::Failure: Into<Error>,
{
    /// Appends an event as [`SessionService::append_event_to`] does, if the session still has that
    /// revision.
    ///
    /// # Errors
    /// Fails with `stale_session` if the session has another revision, and otherwise as
    /// [`SessionService::append_event_to`] does.
    ///
    /// ```
    /// use adk_session_wasm::{CreateRequest, Event, InMemorySessionService, SessionService};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), adk_session_wasm::Error> {
    /// let service = InMemorySessionService::new();
    /// let (app_name, user_id) = ("shop".to_owned(), "ada".to_owned());
    /// let session =
    ///     service.create(CreateRequest { app_name, user_id, ..Default::default() }).await?;
    /// let (key, revision) = (session.key(), session.revision());
    /// service.append_event_at(key, revision, Event::new("invocation-1")).await?;
    /// let refused = service.append_event_at(key, revision, Event::new("invocation-2")).await;
    /// assert_eq!(refused.unwrap_err().code(), "stale_session");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn append_event_at(
        &self,
        key: &SessionKey,
        revision: Revision,
        event: Event,
    ) -> Result<(), Error> {
        if event.partial {
            return Ok(());
        }
        let event = new_event(event)?;
        let (key, events, now) = (key.clone(), vec![event], Timestamp::now());
        let (position, policy) = (HandlePosition::Latest, StalePolicy::Append);
        self.append_events_at(key, revision, position, policy, events, now).await?;
        Ok(())
    }
}

/// Takes an event as it is stored: with an id, and without `temp:` keys.
fn new_event(mut event: Event) -> Result<NewEvent, Error> {
    if event.id.is_empty() {
        event.id = platform::new_id();
    }
    let event = event.without_temp();
    check_event(&event)?;
    let delta = to_json("event.actions.state_delta", &by_key(&event.actions.state_delta))?;
    let text = EventText::from(to_json("event", &event)?);
    NewEvent::new(event.id, event.timestamp, &delta, text)
}

fn check_owner(app_name: &str, user_id: &str) -> Result<(), Error> {
    check_id("app_name", app_name)?;
    check_id("user_id", user_id)
}

/// Checks that every storage can hold the values: none nests too deep. `temp:` keys are not stored
/// and not checked.
fn check_values(path: &str, values: &HashMap<String, Value>) -> Result<(), Error> {
    let mut stored = values.iter().filter(|(key, _)| Scope::split(key).0 != Scope::Temp);
    match stored.find(|(_, value)| !deep::nests_within(deep::STATE_LEVELS, value)) {
        Some((key, _)) => Err(too_deep(format!("{path}[{key:?}]"), deep::STATE_LEVELS)),
        None => Ok(()),
    }
}

fn check_event(event: &Event) -> Result<(), Error> {
    if let Some(field) = event.repeated_field() {
        return Err(Error::invalid(
            "event.other",
            format!("must not hold \"{field}\", which has a place of its own in the event"),
        ));
    }
    check_values("event.actions.state_delta", &event.actions.state_delta)?;
    // The event and its actions are the outer levels.
    let (fields, in_actions) = (deep::EVENT_LEVELS - 1, deep::EVENT_LEVELS - 2);
    let within = event.content.iter().chain(event.other.values());
    let is_readable = within.into_iter().all(|value| deep::nests_within(fields, value))
        && event.actions.other.values().all(|value| deep::nests_within(in_actions, value));
    if is_readable { Ok(()) } else { Err(too_deep("event".to_owned(), deep::EVENT_LEVELS)) }
}

fn too_deep(path: String, levels: usize) -> Error {
    Error::Unserializable { path, reason: format!("it nests more than {levels} levels") }
}

/// Sorts the keys. The stored state keeps the order in which its keys were set, and the order of a
/// hash map differs from run to run.
fn by_key(values: &HashMap<String, Value>) -> BTreeMap<&String, &Value> {
    values.iter().collect()
}

fn to_json(path: &str, value: &impl serde::Serialize) -> Result<String, Error> {
    serde_json::to_string(value)
        .map_err(|error| Error::Unserializable { path: path.into(), reason: error.to_string() })
}
