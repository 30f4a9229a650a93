//! A session as Rust programs read it.

use std::borrow::Cow;
use std::fmt::Display;
use std::ops::Deref;
use std::slice::Iter;

use serde_json::{Map, Value};

use crate::core::error::Error;
use crate::core::event::Event;
use crate::core::read::{ListOrder, ListPlace, TimedText};
use crate::core::session::{Revision, SessionHead, SessionKey, Timestamp};
use crate::core::state::State;
use crate::core::template::TemplateContext;
use crate::service::text_service::ReadSession;
use crate::service::{Description, SessionPosition, deep};

/// A session as it was read. Later changes in the store do not change it.
///
/// As a [`TemplateContext`] it supplies its state to instructions.
///
/// ```
/// use adk_session::{CreateRequest, InMemorySessionService, SessionService, inject_session_state};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), adk_session::Error> {
/// let service = InMemorySessionService::new();
/// let create = CreateRequest {
///     app_name: "shop".into(),
///     user_id: "ada".into(),
///     session_id: None,
///     state: [("topic".to_owned(), "tea".into())].into(),
/// };
/// let session = service.create(create).await?;
/// assert_eq!(session.state().get("topic"), Some("tea".into()));
/// assert_eq!(session.state().all().len(), 1);
/// assert!(session.events().is_empty());
/// assert_eq!(inject_session_state("On {topic}.", &session).await?, "On tea.");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Session {
    key: SessionKey,
    state: Map<String, Value>,
    events: Events,
    head: SessionHead,
    description: Description,
}

impl Session {
    /// Returns the session's id, which [`append_event`](crate::SessionService::append_event) takes.
    pub fn id(&self) -> &str {
        &self.key.session_id
    }

    /// Returns the app's name.
    pub fn app_name(&self) -> &str {
        &self.key.app_name
    }

    /// Returns the user's id.
    pub fn user_id(&self) -> &str {
        &self.key.user_id
    }

    /// Returns all three names, which [`append_event_to`](crate::SessionService::append_event_to)
    /// takes.
    pub fn key(&self) -> &SessionKey {
        &self.key
    }

    /// Returns app, user and session state merged, with prefixes.
    pub fn state(&self) -> &dyn State {
        &self.state
    }

    /// Returns the requested events, in append order.
    pub fn events(&self) -> &Events {
        &self.events
    }

    /// Returns the time of the last update.
    pub fn last_update_time(&self) -> Timestamp {
        self.head.last_update_time
    }

    /// Returns its place in lists of that order, for [`ListPage::after`](crate::ListPage::after).
    pub fn place(&self, order: ListOrder) -> ListPlace {
        let SessionHead { last_update_time, create_time, .. } = self.head;
        let time = if order.by_creation { create_time } else { last_update_time };
        ListPlace::new(time, self.id(), self.user_id())
    }

    /// Returns the revision of the last change.
    pub fn revision(&self) -> Revision {
        self.head.revision
    }

    /// Returns the session as it was read, for appends that others' rewinds refuse:
    /// [`append_events`](crate::SessionService::append_events).
    pub fn position(&self) -> SessionPosition {
        SessionPosition::of(self.key.clone(), self.head)
    }

    /// Returns its title, its labels, and where it comes from.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// # Errors
    /// Fails with `corrupt_record` naming the record that cannot be read.
    pub(super) fn read(stored: ReadSession) -> Result<Self, Error> {
        let ReadSession { key, head, state, events, description } = stored;
        let state = read_state(&state, || format!("state of session {:?}", key.session_id))?;
        let events = Events(read_events(&key.session_id, events)?);
        let description = Description::read(&key.session_id, description)?;
        Ok(Self { key, head, state, events, description })
    }
}

/// A session's events, in append order. They are read as a slice.
///
/// ```
/// use adk_session::{CreateRequest, Event, InMemorySessionService, SessionService};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), adk_session::Error> {
/// let service = InMemorySessionService::new();
/// let (app_name, user_id) = ("shop".into(), "ada".into());
/// let create = CreateRequest { app_name, user_id, ..Default::default() };
/// let session = service.create_with(create, vec![Event::new("i-1")], Default::default()).await?;
/// let events = session.events();
/// assert_eq!(events.len(), 1);
/// assert_eq!(events[0].invocation_id, "i-1");
/// assert_eq!(events.all(), events.to_vec());
/// assert_eq!(events.at(1), None);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Events(Vec<Event>);

impl Events {
    /// Returns a copy of all events.
    pub fn all(&self) -> Vec<Event> {
        self.0.clone()
    }

    /// Returns the event at an index, from 0.
    pub fn at(&self, index: usize) -> Option<&Event> {
        self.0.get(index)
    }
}

impl Deref for Events {
    type Target = [Event];

    fn deref(&self) -> &[Event] {
        &self.0
    }
}

impl<'a> IntoIterator for &'a Events {
    type Item = &'a Event;
    type IntoIter = Iter<'a, Event>;

    fn into_iter(self) -> Iter<'a, Event> {
        self.0.iter()
    }
}

/// Reads the JSON object of a state.
///
/// # Errors
/// Fails with `corrupt_record` if it cannot be read. `record` names the state.
pub(super) fn read_state(
    text: &str,
    record: impl FnOnce() -> String,
) -> Result<Map<String, Value>, Error> {
    let reason = match deep::read_value(text) {
        Ok(Value::Object(state)) => return Ok(state),
        Ok(_) => "it is no object".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(Error::CorruptRecord { record: record(), reason })
}

/// Reads events of the session with that id.
///
/// # Errors
/// Fails with `corrupt_record` naming the event that cannot be read.
pub(super) fn read_events(session_id: &str, events: Vec<TimedText>) -> Result<Vec<Event>, Error> {
    let events = events.into_iter().enumerate();
    events.map(|(number, event)| read_event(session_id, number, &event)).collect()
}

/// Reads an event of the session with that id. Its timestamp is that of the row: a text of other writers may
/// have none.
///
/// # Errors
/// Fails with `corrupt_record` if it cannot be read. `name` names the event.
pub(super) fn read_event(
    session_id: &str,
    name: impl Display,
    (timestamp, text): &TimedText,
) -> Result<Event, Error> {
    let event: serde_json::Result<Event> = text.with(|text| {
        serde_json::from_str(text).or_else(|error: serde_json::Error| {
            // The event may only nest deeper than serde_json allows.
            let value = deep::read_value(text).map_err(|_| error)?;
            serde_json::from_value(value)
        })
    });
    let event = event.map_err(|error| corrupt_event(session_id, name, &error))?;
    Ok(Event { timestamp: *timestamp, ..event })
}

/// The error of an event that cannot be read.
pub(super) fn corrupt_event(
    session_id: &str,
    name: impl Display,
    error: &serde_json::Error,
) -> Error {
    let record = format!("event {name} of session {session_id:?}");
    Error::CorruptRecord { record, reason: error.to_string() }
}

impl TemplateContext for Session {
    fn state_json(&self, key: &str) -> Option<Cow<'_, str>> {
        self.state.state_json(key)
    }

    fn state_keys(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.state.state_keys()
    }
}
