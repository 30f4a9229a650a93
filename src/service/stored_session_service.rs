//! The session service over any storage.

use std::fmt::Debug;

use crate::core::error::{Error, Field};
use crate::core::event::{Event, NewEvent};
use crate::core::read::{ListQuery, Read};
use crate::core::session::{Revision, SessionKey, Timestamp, check_id, check_owner};
use crate::core::storage::{Deletion, Storage};
use crate::core::write::{Describe, NewSession};
use crate::host::{self, BoxFuture, SendOutsideWasm, SyncOutsideWasm};
use crate::memory::MemoryStorage;
use crate::service::session::read_events;
use crate::service::text_service::{ReadEvents, TextService};
use crate::service::to_text::{new_delta, new_event};
use crate::service::{
    CreateRequest, DeleteRequest, DescribeRequest, Description, EventPage, GetRequest,
    ListEventsRequest, ListPage, ListRequest, Session, SessionPosition, SessionService,
};

/// A session service in memory. [`SessionService`] has an example.
pub type InMemorySessionService = StoredSessionService<MemoryStorage>;

/// Gives a service the times of new sessions, and ids of sessions and events that have none. `()` is the host's
/// clock and random UUIDs.
///
/// ```
/// use adk_session::memory::MemoryStorage;
/// use adk_session::service::{Source, StoredSessionService};
/// use adk_session::{CreateRequest, SessionService, Timestamp};
///
/// #[derive(Debug)]
/// struct Fixed;
///
/// impl Source for Fixed {
///     fn now(&self) -> Timestamp {
///         Timestamp::MIN
///     }
///
///     fn new_id(&self) -> String {
///         "s-1".to_owned()
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), adk_session::Error> {
/// let service = StoredSessionService::over(MemoryStorage::new()).with_source(Fixed);
/// let (app_name, user_id) = ("shop".to_owned(), "ada".to_owned());
/// let session = service.create(CreateRequest { app_name, user_id, ..Default::default() }).await?;
/// assert_eq!((session.id(), session.last_update_time()), ("s-1", Timestamp::MIN));
/// # Ok(())
/// # }
/// ```
pub trait Source: Debug + SendOutsideWasm + SyncOutsideWasm {
    /// Returns the current time.
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    /// Returns a fresh id.
    fn new_id(&self) -> String {
        host::new_id()
    }
}

impl Source for () {}

/// A session service over the storage `S`.
#[derive(Debug)]
pub struct StoredSessionService<S> {
    pub(crate) texts: TextService<S>,
    pub(super) source: Box<dyn Source>,
}

impl<S: Storage + Default> Default for StoredSessionService<S> {
    fn default() -> Self {
        Self::over(S::default())
    }
}

impl InMemorySessionService {
    /// Makes an empty service.
    pub fn new() -> Self {
        Self::default()
    }
}

impl<S: Storage> StoredSessionService<S> {
    /// Makes a service over `storage`.
    pub fn over(storage: S) -> Self {
        Self { texts: TextService::over(storage), source: Box::new(()) }
    }

    /// Takes the times and the ids that it makes from `source`.
    #[must_use]
    pub fn with_source(self, source: impl Source + 'static) -> Self {
        Self { source: Box::new(source), ..self }
    }

    /// Returns the storage.
    pub fn storage(&self) -> &S {
        self.texts.storage()
    }

    /// Creates a session that begins with events, and has a title and labels. The deltas of the events
    /// change the initial state, in order.
    ///
    /// # Errors
    /// The same as [`SessionService::create`], and for the events those of [`SessionService::append_event`].
    /// Fails with `invalid_argument` as well if two events have one id.
    ///
    /// ```
    /// use adk_session::{CreateRequest, Event, InMemorySessionService};
    /// use adk_session::service::Description;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), adk_session::Error> {
    /// let service = InMemorySessionService::new();
    /// let (app_name, user_id) = ("shop".to_owned(), "ada".to_owned());
    /// let create = CreateRequest { app_name, user_id, ..Default::default() };
    /// let labels = [("pinned".to_owned(), "yes".to_owned())].into();
    /// let description = Description { title: Some("Tea".to_owned()), labels, ..Default::default() };
    /// let events = vec![Event::new("invocation-1"), Event::new("invocation-1")];
    /// let session = service.create_with(create, events, description).await?;
    /// assert_eq!(session.events().len(), 2);
    /// assert_eq!(session.description().title.as_deref(), Some("Tea"));
    /// assert_eq!(session.description().labels["pinned"], "yes");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn create_with(
        &self,
        request: CreateRequest,
        events: Vec<Event>,
        description: Description,
    ) -> Result<Session, Error> {
        let (key, new) = self.new_session(request)?;
        let stored = events.into_iter().filter(|event| !event.partial);
        let events = stored.map(|event| self.new_event(event)).collect::<Result<_, _>>()?;
        let new = NewSession { events, description: description.new_row(), ..new };
        Session::read(self.texts.create_session(key, new).await?)
    }

    /// Returns the session with that id and all its events, or creates it. Concurrent calls get one
    /// session and no error. The state is used only to create it.
    ///
    /// # Errors
    /// The same as [`SessionService::create`], except `already_exists`.
    ///
    /// ```
    /// use adk_session::{CreateRequest, InMemorySessionService};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), adk_session::Error> {
    /// let service = InMemorySessionService::new();
    /// for topic in ["tea", "cake"] {
    ///     let create = CreateRequest {
    ///         app_name: "shop".into(),
    ///         user_id: "ada".into(),
    ///         session_id: Some("latest".into()),
    ///         state: [("topic".to_owned(), topic.into())].into(),
    ///     };
    ///     let session = service.get_or_create(create).await?;
    ///     assert_eq!(session.state().get("topic"), Some("tea".into()));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn get_or_create(&self, request: CreateRequest) -> Result<Session, Error> {
        let (key, new) = self.new_session(request)?;
        Session::read(self.texts.get_or_create_session(key, new).await?)
    }

    /// Changes the title and the labels of a session, and neither its revision nor its time.
    ///
    /// # Errors
    /// Fails with `not_found` if the session does not exist.
    ///
    /// ```
    /// use adk_session::{CreateRequest, InMemorySessionService, SessionService};
    /// use adk_session::service::DescribeRequest;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), adk_session::Error> {
    /// let service = InMemorySessionService::new();
    /// let (app_name, user_id) = ("shop".to_owned(), "ada".to_owned());
    /// let session =
    ///     service.create(CreateRequest { app_name, user_id, ..Default::default() }).await?;
    /// // After each message of the user: the first one becomes the title.
    /// for message in ["Which tea is good?", "And cake?"] {
    ///     let first_title = Some(message.to_owned());
    ///     let request = DescribeRequest { first_title, ..DescribeRequest::default() };
    ///     service.describe_session(session.key(), request).await?;
    /// }
    /// let info = service.session_info(session.key()).await?;
    /// assert_eq!(info.description.title.as_deref(), Some("Which tea is good?"));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn describe_session(
        &self,
        key: &SessionKey,
        request: DescribeRequest,
    ) -> Result<(), Error> {
        let mut describe = Describe::new(key.clone(), request.into());
        self.texts.write(&mut describe).await?;
        let session_id = key.session_id.clone();
        if describe.finish()? { Ok(()) } else { Err(Error::NotFound { session_id }) }
    }

    /// Takes the request apart. A missing or blank id becomes a fresh one.
    fn new_session(&self, request: CreateRequest) -> Result<(SessionKey, NewSession), Error> {
        let CreateRequest { app_name, user_id, session_id, state } = request;
        let id = session_id.filter(|id| !id.trim().is_empty());
        let id = id.unwrap_or_else(|| self.source.new_id());
        let key = SessionKey::new(app_name, user_id, id)?;
        let state = new_delta("state", &state)?;
        Ok((key, NewSession::new(state, self.source.now())))
    }

    /// Takes an event as it is stored: with an id, and without `temp:` keys.
    pub(super) fn new_event(&self, mut event: Event) -> Result<NewEvent, Error> {
        if event.id.is_empty() {
            event.id = self.source.new_id();
        }
        new_event(event)
    }

    async fn list_of(
        &self,
        owner: (String, Option<String>),
        page: ListPage,
    ) -> Result<Vec<Session>, Error> {
        let (app_name, user_id) = owner;
        check_owner(&app_name, user_id.as_deref())?;
        let ListPage { limit, offset, after, order } = page;
        let (offset, with_total) = (offset.unwrap_or(0), false);
        let request = ListQuery { app_name, user_id, order, after, offset, limit, with_total };
        self.texts.list_sessions(request).await?.0.into_iter().map(Session::read).collect()
    }

    /// Deletes a session, a user, or a state. Succeeds if there is nothing to delete. Returns the same as
    /// [`Storage::delete`].
    ///
    /// # Errors
    /// Fails only with the storage's errors.
    pub async fn remove(&self, deletion: Deletion) -> Result<Option<Revision>, Error> {
        self.storage().delete(&deletion, &()).await
    }
}

impl<S: Storage> SessionService for StoredSessionService<S> {
    fn create(&self, request: CreateRequest) -> BoxFuture<'_, Result<Session, Error>> {
        Box::pin(async move {
            let (key, new) = self.new_session(request)?;
            Session::read(self.texts.create_session(key, new).await?)
        })
    }

    fn get(&self, request: GetRequest) -> BoxFuture<'_, Result<Session, Error>> {
        Box::pin(async move {
            let read = Read::Last { limit: request.num_recent_events, after: request.after };
            let missing = || Error::NotFound { session_id: request.session_id.clone() };
            let key = key_of(request.app_name, request.user_id, &request.session_id)?;
            let key = key.ok_or_else(missing)?;
            Session::read(self.texts.get_session(key, read).await?.ok_or_else(missing)?)
        })
    }

    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<Vec<Session>, Error>> {
        self.list_page(request, ListPage::default())
    }

    fn list_page(
        &self,
        request: ListRequest,
        page: ListPage,
    ) -> BoxFuture<'_, Result<Vec<Session>, Error>> {
        Box::pin(self.list_of((request.app_name, Some(request.user_id)), page))
    }

    fn list_app<'a>(
        &'a self,
        app_name: &'a str,
        page: ListPage,
    ) -> BoxFuture<'a, Result<Vec<Session>, Error>> {
        Box::pin(self.list_of((app_name.to_owned(), None), page))
    }

    fn list_events(&self, request: ListEventsRequest) -> BoxFuture<'_, Result<EventPage, Error>> {
        Box::pin(async move {
            let ListEventsRequest { app_name, user_id, session_id, end, limit, with_count } =
                request;
            let missing = || Error::NotFound { session_id: session_id.clone() };
            let key = key_of(app_name, user_id, &session_id)?;
            let key = key.ok_or_else(missing)?;
            let stored = self.texts.get_events(key, end, limit, with_count).await?;
            let ReadEvents { events, before, after, event_count } = stored;
            let events = read_events(&session_id, events)?;
            Ok(EventPage { events, before, after, event_count })
        })
    }

    fn delete(&self, request: DeleteRequest) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(async move {
            if let Some(key) = key_of(request.app_name, request.user_id, &request.session_id)? {
                self.remove(Deletion::Session(key)).await?;
            }
            Ok(())
        })
    }

    fn append_event<'a>(
        &'a self,
        session_id: &'a str,
        event: Event,
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            check_id(Field::SessionId, session_id)?;
            match self.storage().find(session_id, &()).await?.as_slice() {
                [] => Err(Error::NotFound { session_id: session_id.to_owned() }),
                [key] => self.append_event_to(key, event).await,
                several => Err(Error::Ambiguous {
                    session_id: session_id.to_owned(),
                    count: several.len(),
                }),
            }
        })
    }

    fn append_events<'a>(
        &'a self,
        position: &'a mut SessionPosition,
        events: Vec<Event>,
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let stored = events.into_iter().filter(|event| !event.partial);
            let events: Vec<_> =
                stored.map(|event| self.new_event(event)).collect::<Result<_, _>>()?;
            if events.is_empty() {
                return Ok(());
            }
            let mut append = position.append(events);
            self.texts.write(&mut append).await?;
            position.advance(&append.finish()?);
            Ok(())
        })
    }

    fn new_id(&self) -> String {
        self.source.new_id()
    }
}

/// Returns the key of a session; `None` if its id is invalid, so that it names no session.
fn key_of(
    app_name: String,
    user_id: String,
    session_id: &str,
) -> Result<Option<SessionKey>, Error> {
    check_owner(&app_name, Some(&user_id))?;
    Ok(SessionKey::new(app_name, user_id, session_id).ok())
}
