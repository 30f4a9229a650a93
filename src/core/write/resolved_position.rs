//! The position of a handle in its session's history.

use crate::core::session::{NEVER, Revision, SessionHead};
use crate::core::write::rows::{Found, StoredEvent};

/// The position of a handle in the history of its session.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ResolvedPosition {
    Revision {
        created: Revision,
        revision: Revision,
    },
    /// The position is known only from the last event that the handle has: `seq` is that event's.
    Event {
        created: Revision,
        seq: Revision,
    },
    Latest,
}

impl ResolvedPosition {
    /// Returns the position of a handle whose last event is `last`. If the session lacks that
    /// event, the handle may have missed all events.
    pub(super) fn of_event(head: SessionHead, last: Option<&StoredEvent>) -> Self {
        let created = head.created;
        Self::Event { created, seq: last.map_or(created, |event| event.seq) }
    }

    /// Whether the session was deleted since, and another one was created with its id.
    pub(super) fn is_of_another(self, head: SessionHead) -> bool {
        match self {
            Self::Revision { created, .. } | Self::Event { created, .. } => head.created != created,
            Self::Latest => false,
        }
    }

    pub(super) fn since(self) -> Revision {
        match self {
            Self::Revision { revision, .. } => revision,
            Self::Event { seq, .. } => seq,
            Self::Latest => NEVER,
        }
    }

    /// Whether someone else changed the session. Without a revision only new events count: such a
    /// handle cannot know whether earlier events were replaced.
    pub(super) fn is_stale(self, found: &Found<'_>, head: SessionHead) -> bool {
        match self {
            Self::Revision { revision, .. } => head.revision > revision,
            // Both conditions: a replaced event has a later `revision` but an old `seq`. A row that
            // a storage lists only because of its place has a later `seq` but an old `revision`.
            Self::Event { seq, .. } => {
                found.changed.iter().any(|row| row.seq > seq && row.revision > seq)
            }
            Self::Latest => false,
        }
    }
}
