//! Events with their revisions, read by their ids.

use std::sync::Arc;

use crate::core::error::{Error, Field};
use crate::core::event::Event;
use crate::core::read::{Read, Rows};
use crate::core::session::{Revision, SessionHead, SessionKey};
use crate::core::storage::Storage;
use crate::core::write::EventRow;
use crate::service::StoredSessionService;
use crate::service::session::read_event;

/// The most ids of one call.
const MOST_IDS: usize = 100;

/// A stored event with its revisions.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredEvent {
    /// The revision of its first append. Events are ordered by it.
    pub seq: Revision,
    /// The revision of its last write.
    pub revision: Revision,
    /// The event as it is now.
    pub event: Event,
}

impl StoredEvent {
    /// Reads the rows of a session.
    pub(super) fn read(session_id: &str, rows: Vec<EventRow>) -> Result<Vec<Self>, Error> {
        let events = rows.into_iter().map(|EventRow { id, seq, revision, timestamp, text }| {
            let event = read_event(session_id, &id, &(timestamp, text))?;
            Ok(Self { seq, revision, event })
        });
        events.collect()
    }
}

/// Events of a session that were read by their ids.
#[derive(Debug, Clone)]
pub struct StoredEvents {
    /// The session's revisions and times.
    pub head: SessionHead,
    /// Those of the events that are stored, in the order of the ids and each once.
    pub events: Vec<StoredEvent>,
}

impl<S: Storage> StoredSessionService<S> {
    /// Reads events of a session by their ids, at most 100. An event that is not stored is left out.
    ///
    /// # Errors
    /// Fails with `not_found` if the session does not exist, with `invalid_argument` if there are too many
    /// ids, and with `corrupt_record` if a stored record cannot be read.
    ///
    /// ```
    /// use adk_session::{CreateRequest, Event, InMemorySessionService, SessionService};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), adk_session::Error> {
    /// let service = InMemorySessionService::new();
    /// let (app_name, user_id) = ("shop".to_owned(), "ada".to_owned());
    /// let session =
    ///     service.create(CreateRequest { app_name, user_id, ..Default::default() }).await?;
    /// let event = Event::new("invocation-1");
    /// service.append_event_to(session.key(), event.clone()).await?;
    /// let stored = service.get_events(session.key(), &[&event.id, "another"]).await?;
    /// assert_eq!(stored.events.len(), 1);
    /// assert_eq!(stored.events[0].revision, stored.head.revision);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn get_events(
        &self,
        key: &SessionKey,
        event_ids: &[&str],
    ) -> Result<StoredEvents, Error> {
        if event_ids.len() > MOST_IDS {
            let rule = format!("must be at most {MOST_IDS}; they are {}", event_ids.len());
            return Err(Error::invalid(Field::EventIds, rule));
        }
        let mut ids: Vec<Arc<str>> = Vec::new();
        for id in event_ids {
            if !ids.iter().any(|known| **known == **id) {
                ids.push((*id).into());
            }
        }
        let read = Read::Ids(ids.clone());
        let Rows { session, mut rows, .. } =
            self.storage().read(&key.clone().into(), &read, &()).await?;
        let missing = || Error::NotFound { session_id: key.session_id.clone() };
        let head = session.ok_or_else(missing)?.head;
        rows.sort_by_key(|row| ids.iter().position(|id| *id == row.id));
        Ok(StoredEvents { head, events: StoredEvent::read(&key.session_id, rows)? })
    }
}
