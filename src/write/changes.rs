//! What a write changes.

use crate::session::{Revision, SessionHead};
use crate::state::Changes as StateChanges;
use crate::write::rows::ScopeRow;

/// A changed user's or app's state.
#[derive(Debug, PartialEq)]
pub struct ScopeChange {
    /// Its new revision.
    pub revision: Revision,
    /// What changes in it.
    pub state: StateChanges,
}

impl ScopeChange {
    /// The change of a scope that stands at `row`; `None` if nothing changes.
    pub(crate) fn of(row: Option<&ScopeRow>, state: StateChanges, floor: Revision) -> Option<Self> {
        let last = row.map_or(0, |row| row.revision).max(floor);
        (!state.is_empty()).then(|| Self { revision: last + 1, state })
    }
}

/// The new revisions of the states that a write changed beside the session's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ScopeRevisions {
    /// The user's, if it changed.
    pub user: Option<Revision>,
    /// The app's, if it changed.
    pub app: Option<Revision>,
}

/// A new or changed session.
#[derive(Debug, PartialEq)]
pub struct SessionChange {
    /// Its new revisions and time.
    pub head: SessionHead,
    /// What changes in its own state.
    pub state: StateChanges,
}

/// What to write. An event whose id is stored already takes the stored one's place.
#[derive(Debug, PartialEq)]
pub struct Changes {
    /// The session, if it changes.
    pub session: Option<SessionChange>,
    /// The user's state, if it changes.
    pub user: Option<ScopeChange>,
    /// The app's state, if it changes.
    pub app: Option<ScopeChange>,
    /// New and replaced events.
    pub events: Vec<EventChange>,
}

impl Changes {
    /// What it makes of the user's and the app's revision.
    pub fn scope_revisions(&self) -> ScopeRevisions {
        ScopeRevisions {
            user: self.user.as_ref().map(|change| change.revision),
            app: self.app.as_ref().map(|change| change.revision),
        }
    }
}

/// A new or replaced event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventChange {
    /// The position of the event among those of the write.
    pub position: usize,
    /// The revision that it was appended at first.
    pub seq: Revision,
    /// The revision of this write.
    pub revision: Revision,
}
