//! The position of a handle in its session's history.

use crate::core::session::{Revision, SessionHead};
use crate::core::write::rows::Found;
use crate::core::write::undone::LookBack;

/// The position of a handle, once it is known which revision the handle has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ResolvedPosition {
    /// The revision at which its session was created; `None` without a handle.
    created: Option<Revision>,
    /// The revision of the last change that the handle has; `None` without a handle.
    pub(super) since: Option<Revision>,
    /// Whether only the last event of the handle is known. Then `since` is that event's `seq`.
    pub(super) is_of_event: bool,
}

/// What an append knows from the rows of its plans so far. Most appends need one plan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Progress {
    /// `None` until the handle's last event is looked up.
    pub(super) position: Option<ResolvedPosition>,
    /// Whether all states are read, not only the ones that the append changes.
    pub(super) sees_states: bool,
    /// Which events are read because of rewinds.
    pub(super) look_back: LookBack,
}

impl ResolvedPosition {
    /// The position without a handle: nothing can be stale.
    pub(super) const LATEST: Self = Self { created: None, since: None, is_of_event: false };

    pub(super) fn of_revision(created: Revision, since: Revision) -> Self {
        Self { created: Some(created), since: Some(since), is_of_event: false }
    }

    /// Returns the position of a handle by the `seq` of its last event. If the session lacks that
    /// event, the handle may have missed all events.
    pub(super) fn of_event(head: SessionHead, seq: Option<Revision>) -> Self {
        let since = seq.unwrap_or(head.created);
        Self { created: Some(head.created), since: Some(since), is_of_event: true }
    }

    /// Whether the session was deleted since, and another one was created with its id.
    pub(super) fn is_of_another(self, head: SessionHead) -> bool {
        self.created.is_some_and(|created| head.created != created)
    }

    /// Whether the session was changed other than through this handle. If only the handle's last event is
    /// known, only new events count: replaced ones may be on the handle already.
    pub(super) fn is_stale(self, found: &Found, head: SessionHead) -> bool {
        let Some(since) = self.since else { return false };
        if !self.is_of_event {
            return head.revision > since;
        }
        // Both conditions: a replaced event has a later `revision` but an old `seq`. A row that a
        // storage lists only because of its place has a later `seq` but an old `revision`.
        found.changed.iter().any(|row| row.seq > since && row.revision > since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::session::Timestamp;
    use crate::core::write::EventRow;

    #[test]
    fn only_a_new_event_makes_a_handle_without_revision_stale() {
        let position = ResolvedPosition::of_event(SessionHead::default(), Some(5));
        let listed = |(seq, revision)| {
            let (id, text, timestamp) = ("e".into(), String::new().into(), Timestamp::MIN);
            Found {
                changed: vec![EventRow { id, seq, revision, timestamp, text }],
                ..Found::default()
            }
        };
        let is_stale = |row| position.is_stale(&listed(row), SessionHead::default());
        // An event that was replaced, one that is listed for its place alone, and a new one.
        assert_eq!([(3, 9), (9, 3), (9, 9)].map(is_stale), [false, false, true]);
    }
}
