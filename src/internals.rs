//! What the crate `adk-session-wasm` needs of the inside. It is for nobody else, and may change in any
//! version.

use std::ops::Range;

pub use crate::core::error::reason::{broken_storage, storage_error};
use crate::core::error::{ArtifactError, Error, TemplateError};
use crate::core::event::{EventText, NewEvent, TextSlice};
pub use crate::core::names::Names;
use crate::core::read::{ListQuery, Listing, PageEdges, Read, Rows};
pub use crate::core::room::{SPARE, require_room};
use crate::core::session::{self, DescriptionRow, SessionHead, SessionKey, Timestamp};
use crate::core::state::{ByOwner, ScopedState};
use crate::core::template::{self, Placeholder};
pub use crate::core::view_rules;
use crate::core::write::{self, SharedRow, Target};
pub use crate::host::{has_room, now, random_seed};
use crate::memory::MemoryStorage;

/// Returns a part of the text, by bytes. It shares the memory.
pub fn part_of(text: &TextSlice, bytes: Range<usize>) -> TextSlice {
    text.part(bytes)
}

/// Makes an event as [`NewEvent::new`] does, without reading its text: the caller's snapshot of the event says
/// whether it may be a marker. A stored event may have one more member of `customMetadata`, and be the same.
pub fn marked_event(
    id: &str,
    timestamp: Timestamp,
    delta: &str,
    text: EventText,
    may_be_marker: bool,
    hidden_member: &'static str,
) -> Result<NewEvent, Error> {
    let event = NewEvent::marked(id, timestamp, delta, text, may_be_marker)?;
    Ok(NewEvent { hidden_member: Some(hidden_member), ..event })
}

/// Returns the key of a stored row, which was checked already.
pub fn stored_key(app_name: String, user_id: String, session_id: String) -> SessionKey {
    SessionKey { app_name, user_id, session_id }
}

/// Returns the time of a stored row, which was checked already.
pub fn stored_time(milliseconds: f64) -> Timestamp {
    Timestamp::stored(milliseconds)
}

/// Returns the point in time; `None` if the number is not valid.
pub fn valid_time(milliseconds: f64) -> Option<Timestamp> {
    Timestamp::valid(milliseconds)
}

/// Fails if a name is empty.
pub fn check_owner(app_name: &str, user_id: Option<&str>) -> Result<(), Error> {
    session::check_owner(app_name, user_id)
}

/// Merges a session's state with those of its user and its app into one JSON object, with prefixes.
pub fn merge_scopes(
    state: &ScopedState,
    shared: ByOwner<Option<&SharedRow>>,
) -> Result<String, Error> {
    write::merge_scopes(state, shared)
}

/// Returns how many bytes the JSON object of a state takes at most.
pub fn state_size(state: &ScopedState) -> usize {
    state.size()
}

/// Returns the JSON object of a state, if memory has room.
pub fn state_to_json(state: &ScopedState) -> Result<String, Error> {
    state.try_to_json()
}

/// A session of a list, in memory.
#[derive(Debug)]
pub struct ListedSession<'a> {
    /// Its id.
    pub session_id: &'a str,
    /// The user's id.
    pub user_id: &'a str,
    /// Its revisions and times.
    pub head: SessionHead,
    /// Its own state.
    pub state: &'a ScopedState,
    /// Its title and the like.
    pub description: &'a DescriptionRow,
}

/// Passes the sessions of a page to `visit` one by one, so that their texts need not be copied. The
/// returned list has no sessions.
pub fn list_memory(
    storage: &MemoryStorage,
    request: &ListQuery,
    visit: &mut dyn FnMut(ListedSession<'_>) -> Result<(), Error>,
) -> Result<Listing, Error> {
    storage.contents()?.list(request, &mut |place, session| {
        visit(ListedSession {
            session_id: &place.session_id,
            user_id: &place.user_id,
            head: session.head,
            state: &session.state,
            description: &session.description,
        })
    })
}

/// Reads the head of a session in memory, and its markers. The rows have no edges if `event_id` is not stored, or if
/// places of markers are lost.
pub fn read_markers(
    storage: &MemoryStorage,
    target: &Target,
    event_id: Option<&str>,
) -> Result<Rows, Error> {
    let contents = storage.contents()?;
    let markers = contents.markers(target, event_id);
    let edges = markers.is_some().then(PageEdges::default);
    let rows = contents.read(target, &Read::NONE)?;
    Ok(Rows { events: markers.unwrap_or_default(), edges, ..rows })
}

/// Returns the error for placeholders without a value.
pub fn missing_error(
    missing: &[Placeholder<'_>],
    known_keys: impl Iterator<Item = String>,
) -> TemplateError {
    template::missing_error(missing, known_keys)
}

/// Returns the error for an artifact that could not be loaded.
pub fn artifact_error(found: &Placeholder<'_>, error: ArtifactError) -> TemplateError {
    template::artifact_error(found, error)
}
