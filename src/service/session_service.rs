//! The interface of session services, in adk-rust's form.

use std::future::ready;
use std::sync::Arc;

use crate::core::error::Error;
use crate::core::event::Event;
use crate::core::session::SessionKey;
use crate::core::storage::forward_to_pointers;
use crate::host::{self, BoxFuture, SendOutsideWasm, SyncOutsideWasm};
use crate::service::{
    CreateRequest, DeleteRequest, EventPage, GetRequest, ListEventsRequest, ListPage, ListRequest,
    Session, SessionPosition,
};

/// Creates, reads, lists and deletes sessions, and appends to them.
///
/// The futures are boxed, so `Arc<dyn SessionService>` is a service too, whose storage is chosen when the
/// program runs. They are `Send`, except in wasm: a server may spawn them. An implementation writes its methods
/// as `Box::pin(async move { … })`.
///
/// ```
/// use adk_session::{
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
/// # Ok::<(), adk_session::Error>(())
/// # }).unwrap();
/// ```
pub trait SessionService: SendOutsideWasm + SyncOutsideWasm {
    /// Creates a session. The state is split by scope and stored in the same transaction.
    ///
    /// # Errors
    /// - `already_exists` if the id is taken; the stored session is untouched
    /// - `invalid_argument` if a name is invalid
    /// - `unserializable` if a state value nests more than 200 levels
    fn create(&self, request: CreateRequest) -> BoxFuture<'_, Result<Session, Error>>;

    /// Reads a session: its current state, and the requested events.
    ///
    /// # Errors
    /// - `not_found` if the session does not exist or its id is invalid
    /// - `invalid_argument` if an app or user name is invalid
    /// - `corrupt_record` if a stored record cannot be read
    fn get(&self, request: GetRequest) -> BoxFuture<'_, Result<Session, Error>>;

    /// Lists a user's sessions, without their events. Oldest update first, ties by id in UTF-16 order.
    ///
    /// # Errors
    /// Fails with `invalid_argument` if a name is invalid, and with `corrupt_record` if a stored
    /// record cannot be read.
    ///
    /// ```
    /// use adk_session::{CreateRequest, InMemorySessionService, ListPage, ListRequest, SessionService};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), adk_session::Error> {
    /// let service = InMemorySessionService::new();
    /// for user_id in ["ada", "ada", "grace"] {
    ///     let (app_name, user_id) = ("shop".to_owned(), user_id.to_owned());
    ///     service.create(CreateRequest { app_name, user_id, ..Default::default() }).await?;
    /// }
    /// let (app_name, user_id) = ("shop".to_owned(), "ada".to_owned());
    /// assert_eq!(service.list(ListRequest { app_name, user_id }).await?.len(), 2);
    /// assert_eq!(service.list_app("shop", ListPage::default()).await?.len(), 3);
    /// # Ok(())
    /// # }
    /// ```
    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<Vec<Session>, Error>>;

    /// Lists a page of a user's sessions. The default implementation fails with `unsupported`.
    /// [`ListPage`] has an example.
    ///
    /// # Errors
    /// The same as [`SessionService::list`].
    fn list_page(
        &self,
        request: ListRequest,
        page: ListPage,
    ) -> BoxFuture<'_, Result<Vec<Session>, Error>> {
        let _ = (request, page);
        Box::pin(ready(Err(Error::Unsupported("list a page of sessions".into()))))
    }

    /// Lists a page of the sessions of all users of an app, ties also by user. The default implementation
    /// fails with `unsupported`.
    ///
    /// # Errors
    /// The same as [`SessionService::list`].
    fn list_app<'a>(
        &'a self,
        app_name: &'a str,
        page: ListPage,
    ) -> BoxFuture<'a, Result<Vec<Session>, Error>> {
        let _ = (app_name, page);
        Box::pin(ready(Err(Error::Unsupported("list the sessions of all users".into()))))
    }

    /// Reads a page of a session's events, of any age. The default implementation fails with
    /// `unsupported`. [`ListEventsRequest`] has an example.
    ///
    /// # Errors
    /// - `not_found` if the session does not exist or its id is invalid
    /// - `invalid_argument` if a name or the limit is invalid, or if a cursor belongs to another
    ///   session, or to a deleted one of the same id
    /// - `corrupt_record` if a stored record cannot be read
    fn list_events(&self, request: ListEventsRequest) -> BoxFuture<'_, Result<EventPage, Error>> {
        let _ = request;
        Box::pin(ready(Err(Error::Unsupported("list the events of a session".into()))))
    }

    /// Deletes a session and its events. Succeeds if there is no such session. App and user state stay.
    ///
    /// # Errors
    /// Fails with `invalid_argument` if an app or user name is invalid.
    fn delete(&self, request: DeleteRequest) -> BoxFuture<'_, Result<(), Error>>;

    /// Stores the event and its delta in one transaction. Partial events and `temp:` keys are not
    /// stored. If the id is stored already with the same content, nothing changes, so a retry is
    /// safe. With other content, the event replaces the stored one in place.
    ///
    /// # Errors
    /// - `not_found` if the session does not exist
    /// - `ambiguous` if several sessions have that id (then use
    ///   [`SessionService::append_event_to`])
    /// - `invalid_argument` if an id is invalid, if the content is neither an object nor a text, or if
    ///   [`Event::other`] repeats a field of [`Event`]
    /// - `unserializable` if a state value nests more than 200 levels, or an event more than 250
    fn append_event<'a>(
        &'a self,
        session_id: &'a str,
        event: Event,
    ) -> BoxFuture<'a, Result<(), Error>>;

    /// Appends an event as [`SessionService::append_event`] does, to the session with this key. The
    /// key identifies one session, so it is never ambiguous.
    ///
    /// # Errors
    /// The same as [`SessionService::append_event`], except `ambiguous`.
    ///
    /// ```
    /// use adk_session::{CreateRequest, Event, InMemorySessionService, SessionService};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), adk_session::Error> {
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
    fn append_event_to<'a>(
        &'a self,
        key: &'a SessionKey,
        event: Event,
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            self.append_events(&mut SessionPosition::latest(key.clone()), vec![event]).await
        })
    }

    /// Appends events in order and in one transaction: all, or none if one of them is refused. The position
    /// then knows them. If there is no event, or only partial ones, it does nothing, and does not even look
    /// whether the session exists.
    ///
    /// # Errors
    /// Fails with `stale_session` if a rewind has undone the run of the events, if the run was cancelled, or
    /// if the position rejects changes by others; with `not_found` also if the session was created again;
    /// otherwise as [`SessionService::append_event`] does, except `ambiguous`. A retry of events that are
    /// stored is never stale.
    ///
    /// ```
    /// use adk_session::{CreateRequest, Event, InMemorySessionService, SessionPosition, SessionService};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), adk_session::Error> {
    /// let service = InMemorySessionService::new();
    /// let (app_name, user_id) = ("shop".to_owned(), "ada".to_owned());
    /// let session =
    ///     service.create(CreateRequest { app_name, user_id, ..Default::default() }).await?;
    /// let mut ours = session.position().rejecting_stale();
    /// service.append_events(&mut ours, vec![Event::new("run-1"), Event::new("run-1")]).await?;
    ///
    /// let mut any = SessionPosition::latest(session.key().clone());
    /// service.append_events(&mut any, vec![Event::new("of another program")]).await?;
    /// let refused = service.append_events(&mut ours, vec![Event::new("run-1")]).await;
    /// assert_eq!(refused.unwrap_err().code(), "stale_session");
    /// # Ok(())
    /// # }
    /// ```
    fn append_events<'a>(
        &'a self,
        position: &'a mut SessionPosition,
        events: Vec<Event>,
    ) -> BoxFuture<'a, Result<(), Error>>;

    /// Returns a fresh id for an event: a UUID v4, unless the implementation has a source of its own.
    fn new_id(&self) -> String {
        host::new_id()
    }
}

forward_to_pointers!(SessionService {
    [new_id() -> String];
    create<'a>(request: CreateRequest) -> Session;
    get<'a>(request: GetRequest) -> Session;
    list<'a>(request: ListRequest) -> Vec<Session>;
    list_page<'a>(request: ListRequest, page: ListPage) -> Vec<Session>;
    list_app<'a>(app_name: &'a str, page: ListPage) -> Vec<Session>;
    list_events<'a>(request: ListEventsRequest) -> EventPage;
    delete<'a>(request: DeleteRequest) -> ();
    append_event<'a>(session_id: &'a str, event: Event) -> ();
    append_event_to<'a>(key: &'a SessionKey, event: Event) -> ();
    append_events<'a>(position: &'a mut SessionPosition, events: Vec<Event>) -> ();
});
