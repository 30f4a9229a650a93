//! Rows as they are stored, and what a write is told of them.

use std::rc::Rc;

use crate::event::EventText;
use crate::session::{Revision, SessionHead, SessionKey};
use crate::state::ScopedState;

/// An event as it is stored.
#[derive(Debug, Clone)]
pub struct EventRow {
    /// Unique within its session.
    pub id: Rc<str>,
    /// The revision that it was appended at: what events are ordered by.
    pub seq: Revision,
    /// The revision that it was last written at; later than `seq` once it was replaced.
    pub revision: Revision,
    /// Milliseconds since 1970, as the event says.
    pub timestamp: f64,
    /// The event's JSON text.
    pub text: EventText,
}

/// The state of a user or of an app, as it is stored.
#[derive(Debug, Clone, Default)]
pub struct ScopeRow {
    /// The revision of its last change.
    pub revision: Revision,
    /// Names without prefix.
    pub state: ScopedState,
}

/// A session as it is stored, without its events.
#[derive(Debug, Clone)]
pub struct SessionRow {
    /// What names it.
    pub key: SessionKey,
    /// Its revisions and time.
    pub head: SessionHead,
    /// The state of this session alone.
    pub state: ScopedState,
}

/// What a write needs to know.
#[derive(Debug)]
pub struct Found<'a> {
    /// The session, if there is one.
    pub session: Option<SessionHead>,
    /// The session's own state, if it was asked for and is there.
    pub state: Option<&'a ScopedState>,
    /// The user's state, if it was asked for and is there.
    pub user: Option<&'a ScopeRow>,
    /// The app's state, if it was asked for and is there.
    pub app: Option<&'a ScopeRow>,
    /// The stored events that have one of the ids asked for.
    pub events: Vec<EventRow>,
    /// The events written after the revision asked for, in any order. A foreign storage, where others
    /// write who know no revisions, adds those that may have been.
    pub changed: Vec<EventRow>,
    /// No revision up to this one may be given to what is not there yet.
    pub floor: Revision,
}

/// A stored event that has the id of one that is to be written.
#[derive(Debug, Clone, Copy)]
pub struct StoredEvent {
    /// The position of the one to be written.
    pub position: usize,
    /// See [`EventRow::seq`].
    pub seq: Revision,
    /// See [`EventRow::revision`].
    pub revision: Revision,
    /// Whether both are equal as JSON values.
    pub is_same: bool,
}
