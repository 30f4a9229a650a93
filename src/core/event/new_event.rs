//! The parts of a new event that the core knows.

use std::sync::Arc;

use crate::core::error::{Error, Field};
use crate::core::event::EventText;
use crate::core::event::marker::may_be_marker;
use crate::core::session::{Revision, Timestamp, check_id};
use crate::core::state::Delta;

/// A snapshot of an event: its text, and the few fields that the rules need.
///
/// The text is opaque. It was made once from the caller's event, without `temp:` keys. Later reads
/// return it as it is, so unknown fields survive and nothing is shared with the caller.
#[derive(Debug, Clone)]
pub struct NewEvent {
    /// Unique within the session; an event with the same id replaces the stored one.
    pub id: Arc<str>,
    /// When it was made.
    pub timestamp: Timestamp,
    /// The changes of the state.
    pub delta: Delta,
    /// The event's JSON text.
    pub text: EventText,
    /// The JSON text with superseded keys still in the delta, if any were removed from `text`. A
    /// stored event equal to it counts as the same event.
    pub whole: Option<EventText>,
    /// Which stored event with its id it may replace. A stored event that is the same is no conflict.
    pub replaces: Replaceable,
    /// Whether it may be a marker: a rewind or a compaction, which change what belongs to a view of the
    /// history, or an event that tells whether an invocation waits. Storages keep their
    /// [`MarkerSeqs`](crate::write::MarkerSeqs).
    pub(crate) may_be_marker: bool,
    /// The member of `customMetadata` that readers of a stored event do not see.
    pub(crate) hidden_member: Option<&'static str>,
}

/// Which stored event an event with its id may replace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Replaceable {
    /// Any.
    #[default]
    Any,
    /// None: no event with that id may be stored.
    Nothing,
    /// Only the one whose last write has this revision.
    Revision(Revision),
}

impl Replaceable {
    /// Whether the event may be written. `stored` is the revision of the stored one, if any.
    pub(crate) fn is_met_by(self, stored: Option<Revision>) -> bool {
        match self {
            Self::Any => true,
            Self::Nothing => stored.is_none(),
            Self::Revision(revision) => stored == Some(revision),
        }
    }
}

impl NewEvent {
    /// Checks and parses the fields; `delta` is the JSON text of the event's state changes.
    ///
    /// # Errors
    /// Fails with `invalid_argument` if the id is invalid, and with `unserializable` if the delta is not
    /// a JSON object.
    pub fn new(
        id: impl Into<Arc<str>>,
        timestamp: Timestamp,
        delta: &str,
        text: EventText,
    ) -> Result<Self, Error> {
        let may_be_marker = text.with(may_be_marker);
        Self::marked(id, timestamp, delta, text, may_be_marker, None)
    }

    /// The same without reading the text: the caller knows whether the event may be a marker. A stored event may have
    /// the hidden member of `customMetadata` besides, and be the same.
    ///
    /// # Errors
    /// Fails as [`Self::new`] does.
    #[doc(hidden)]
    pub fn marked(
        id: impl Into<Arc<str>>,
        timestamp: Timestamp,
        delta: &str,
        text: EventText,
        may_be_marker: bool,
        hidden_member: Option<&'static str>,
    ) -> Result<Self, Error> {
        let id = id.into();
        check_id(Field::EventId, &id)?;
        let delta = Delta::parse(delta)?;
        let (whole, replaces) = (None, Replaceable::Any);
        Ok(Self { id, timestamp, delta, text, whole, replaces, may_be_marker, hidden_member })
    }

    /// Whether a stored event with this text is the same event.
    pub(crate) fn is_same(&self, stored: &EventText) -> bool {
        let is_same = |text| stored.is_same(text, self.hidden_member);
        is_same(&self.text) || self.whole.as_ref().is_some_and(is_same)
    }
}
