//! The position of a handle in its session's history.

use crate::error::Error;
use crate::session::{NEVER, Revision, SessionHead};
use crate::write::rows::{Found, StoredEvent};

/// The position of a handle in the history of its session.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Position {
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

impl Position {
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

/// The rule that finds a handle's position by its last event. It writes nothing.
#[derive(Debug, Default)]
pub(super) struct Locate {
    created: Option<Revision>,
    seq: Option<Revision>,
}

impl Locate {
    pub(super) fn decide(&mut self, found: &Found<'_>, stored: &[StoredEvent]) {
        self.created = found.session.map(|head| head.created);
        self.seq = stored.first().map(|event| event.seq);
    }

    pub(super) fn position(self, session_id: String) -> Result<Position, Error> {
        let created = self.created.ok_or(Error::NotFound { session_id })?;
        // The store may lack the handle's last event. Then the handle may have missed all events.
        Ok(Position::Event { created, seq: self.seq.unwrap_or(created) })
    }
}
