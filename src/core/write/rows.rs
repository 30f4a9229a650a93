//! Stored rows, the rows that a write reads, and the state that agents read from them.

use std::sync::Arc;

use crate::core::error::Error;
use crate::core::error::reason::broken_storage;
use crate::core::event::{EventText, NewEvent};
use crate::core::json::ObjectWriter;
use crate::core::room::require_room;
use crate::core::session::{DescriptionRow, NEVER, Revision, SessionHead, SessionKey, Timestamp};
use crate::core::state::{
    ByOwner, Delta, Scope, ScopedState, merge_changed_to_json, merge_to_json,
};

/// An event as it is stored.
#[derive(Debug, Clone)]
pub struct EventRow {
    /// Unique within its session.
    pub id: Arc<str>,
    /// The revision of its first append. Events are ordered by it.
    pub seq: Revision,
    /// The revision of its last write; greater than `seq` once the event was replaced.
    pub revision: Revision,
    /// The event's timestamp, also of the [`Event`](crate::Event) that a reader gets.
    pub timestamp: Timestamp,
    /// The event's JSON text.
    pub text: EventText,
}

impl EventRow {
    /// The row that stores a new event.
    pub(super) fn of(event: &NewEvent, seq: Revision, revision: Revision) -> Self {
        let NewEvent { id, timestamp, text, .. } = event;
        let (id, text) = (Arc::clone(id), text.clone());
        Self { id, seq, revision, timestamp: *timestamp, text }
    }
}

/// A new or replaced event.
#[derive(Debug)]
pub struct EventChange {
    /// The index of the event among the events of the write.
    pub index: usize,
    /// The row to store. Its `seq` is that of the event's first append, also if it is replaced.
    pub row: EventRow,
}

/// The state of a user or of an app, as it is stored.
#[derive(Debug, Clone, Default)]
pub struct SharedRow {
    /// The revision of its last change.
    pub revision: Revision,
    /// The state, its keys without prefix.
    pub state: ScopedState,
}

/// A session as it is stored, without its events.
#[derive(Debug, Clone)]
pub struct SessionRow {
    /// The key of the session.
    pub key: SessionKey,
    /// Its revisions and time.
    pub head: SessionHead,
    /// The session's own state, without user and app keys.
    pub state: ScopedState,
    /// Its title and labels.
    pub description: DescriptionRow,
}

/// The rows that a write is decided on.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// The session, if it exists.
    pub session: Option<SessionHead>,
    /// The session's own state, if it exists. It may be left out if it was not requested.
    pub state: Option<ScopedState>,
    /// The states of the user and of the app, each if it exists. They may be left out if they were
    /// not requested.
    pub shared: ByOwner<Option<SharedRow>>,
    /// The stored events with one of the requested ids.
    pub events: Vec<EventRow>,
    /// The events written after the requested revision, in any order. If other programs write to the
    /// storage without revisions, also events that may have been written since.
    pub changed: Vec<EventRow>,
    /// New rows get revisions greater than this one.
    pub floor: Revision,
}

impl Found {
    /// Checks that a write of so many events can get revisions above the stored ones.
    ///
    /// # Errors
    /// Fails with `storage_failed` if JavaScript would not hold such a revision exactly.
    pub(super) fn check_revisions(&self, events: usize) -> Result<(), Error> {
        let mut highest = self.session.map_or(0, |head| head.revision).max(self.floor);
        for row in self.shared.as_ref().values().into_iter().flatten() {
            highest = highest.max(row.revision);
        }
        if highest < NEVER.saturating_sub(events as Revision) {
            return Ok(());
        }
        Err(broken_storage("a revision or the floor is too high"))
    }
}

/// A stored event with the same id as an event of the write.
#[derive(Debug, Clone, Copy)]
pub(super) struct StoredEvent {
    /// The index of the event among the events of the write.
    pub(super) index: usize,
    pub(super) seq: Revision,
    pub(super) revision: Revision,
    /// Whether both are equal as JSON values.
    pub(super) is_same: bool,
}

/// Returns all scopes merged into one JSON object, with prefixes.
///
/// # Errors
/// Fails with `quota_exceeded` if memory has no room for it.
pub fn merge_scopes(
    session: &ScopedState,
    shared: ByOwner<Option<&SharedRow>>,
) -> Result<String, Error> {
    let ByOwner { user, app } = shared.map(|row| row.map(|row| &row.state));
    let scopes = [(Scope::Session, Some(session)), (Scope::User, user), (Scope::App, app)];
    let states = scopes.iter().filter_map(|(_, state)| *state);
    require_room(states.map(ScopedState::size).sum())?;
    Ok(merge_to_json(&scopes))
}

/// Returns the state as readers see it once a new session with that delta is stored.
///
/// # Errors
/// Fails with `quota_exceeded` if memory has no room for it.
pub(super) fn merge_changed(found: &Found, delta: &Delta) -> Result<String, Error> {
    let shared = found.shared.as_ref().zip(delta.shared.as_ref());
    let ByOwner { user, app } =
        shared.map(|(row, changes)| (row.as_ref().map(|row| &row.state), changes));
    let own = (None, &delta.session);
    merge_changed_to_json(&[(Scope::Session, own), (Scope::User, user), (Scope::App, app)])
}

/// Returns what the state has behind the keys of the delta once a new session with that delta is stored, as a JSON
/// object. `None` if the keys of the delta would not stand first, in their order. The delta removes nothing.
///
/// # Errors
/// Fails with `quota_exceeded` if memory has no room for it.
pub(super) fn rest_after(found: &Found, delta: &Delta) -> Result<Option<String>, Error> {
    let ByOwner { user, app } = found.shared.as_ref().zip(delta.shared.as_ref());
    let mut rest = Vec::new();
    let mut size = "{}".len();
    for (scope, (row, changes)) in [(Scope::User, user), (Scope::App, app)] {
        let mut stored = row.iter().flat_map(|row| row.state.iter());
        let is_first = (rest.is_empty() || changes.is_empty())
            && changes.iter().zip(stored.by_ref()).all(|((name, _), (key, _))| **name == *key);
        if !is_first {
            return Ok(None);
        }
        rest.extend(stored.map(|(name, value)| (scope.prefix(), name, value)));
        size += row.as_ref().map_or(0, |row| row.state.size());
    }
    require_room(size)?;
    let mut writer = ObjectWriter::with_capacity(if rest.is_empty() { 2 } else { size });
    for (prefix, name, value) in rest {
        writer.member(prefix, name, value);
    }
    Ok(Some(writer.finish()))
}

/// Returns the stored state as readers see it.
pub(super) fn stored_state(found: &Found) -> Result<String, Error> {
    let state = found.state.clone().unwrap_or_default();
    merge_scopes(&state, found.shared.as_ref().map(Option::as_ref))
}
