//! Pages of a session's events, with their cursors.

use std::sync::Arc;

use crate::core::error::{Error, Field};
use crate::core::read::{PageEnd, PageQuery, Read, Rows, TimedText};
use crate::core::session::{Revision, SessionKey};
use crate::core::storage::Storage;
use crate::service::text_service::TextService;

/// Names an event of a session. It stays valid while others append and replace events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventCursor {
    key: SessionKey,
    created: Revision,
    event_id: Box<str>,
}

/// A page of events as read from a storage, in append order.
#[derive(Debug, Clone)]
pub struct ReadEvents {
    /// The events.
    pub events: Vec<TimedText>,
    /// For [`PageEnd::Before`]: the events before this page. `None` if there are none.
    pub before: Option<EventCursor>,
    /// For [`PageEnd::After`]: the events after this page, also those that are yet to be appended.
    /// `None` if the page has no events and was requested without a cursor.
    pub after: Option<EventCursor>,
    /// The number of all events of the session, if it was requested.
    pub event_count: Option<usize>,
}

/// The number of events on a page, if the request does not say.
const DEFAULT_LIMIT: usize = 50;
/// The most events of a page.
const MAX_LIMIT: usize = 1000;

impl<S: Storage> TextService<S> {
    /// Reads a page of a session's events: 1 to 1,000, or 50 without a limit.
    pub async fn get_events(
        &self,
        key: SessionKey,
        end: PageEnd<EventCursor>,
        limit: Option<usize>,
        with_count: bool,
    ) -> Result<ReadEvents, Error> {
        let foreign = || Error::invalid(Field::End, "must have a cursor of this session");
        let cursor = end.event().cloned();
        if cursor.as_ref().is_some_and(|cursor| cursor.key != key) {
            return Err(foreign());
        }
        let is_forward = end.is_forward();
        let limit = limit.unwrap_or(DEFAULT_LIMIT);
        if limit == 0 || limit > MAX_LIMIT {
            let rule = format!("must be a number from 1 to {MAX_LIMIT}; it is {limit}");
            return Err(Error::invalid(Field::Limit, rule));
        }
        let end = end.map(|cursor| cursor.event_id.into());
        let read = Read::Page(PageQuery { end, limit, with_count });
        let rows = self.storage.read(&key.clone().into(), &read, &()).await?;
        let Rows { session, events, edges, .. } = rows;
        let missing = || Error::NotFound { session_id: key.session_id.clone() };
        let created = session.ok_or_else(missing)?.head.created;
        if cursor.as_ref().is_some_and(|cursor| cursor.created != created) {
            return Err(foreign());
        }
        let edges = edges.ok_or_else(foreign)?;
        let cursor_at = |id: Arc<str>| {
            let event_id = Box::from(&*id);
            EventCursor { key: key.clone(), created, event_id }
        };
        Ok(ReadEvents {
            events,
            before: edges.first.filter(|_| edges.has_older).map(cursor_at),
            after: edges.last.map(cursor_at).or(cursor.filter(|_| is_forward)),
            event_count: edges.count.filter(|_| with_count),
        })
    }
}
