//! Where a handle stands.

use crate::error::Error;
use crate::session::{NEVER, Revision, SessionHead};
use crate::write::rows::{Found, StoredEvent};

/// Where a handle stands in the history of its session.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Position {
    Revision {
        created: Revision,
        revision: Revision,
    },
    /// The `seq` of the last event that the handle has.
    Event {
        created: Revision,
        seq: Revision,
    },
    Latest,
}

impl Position {
    /// Whether the session was deleted since, and another one created with its id.
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

    /// Whether someone else changed the session. A handle without revision is told by its last
    /// event alone: it cannot know of replacements further back.
    pub(super) fn is_stale(self, found: &Found<'_>, head: SessionHead) -> bool {
        match self {
            Self::Revision { revision, .. } => head.revision > revision,
            // What may have come since by its place alone is none that the handle would know of.
            Self::Event { seq, .. } => {
                found.changed.iter().any(|row| row.seq > seq && row.revision > seq)
            }
            Self::Latest => false,
        }
    }
}

/// Reads where a handle stands by its last event; writes nothing.
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
        // An event that the store does not have tells nothing: the handle may have missed all.
        Ok(Position::Event { created, seq: self.seq.unwrap_or(created) })
    }
}
