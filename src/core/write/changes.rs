//! The changes that a write makes.

use crate::core::error::Error;
use crate::core::session::{DescriptionChange, Revision, SessionHead};
use crate::core::state::{ByOwner, ScopedState, StateChanges};
use crate::core::write::marker_seqs::MarkerSeqs;
use crate::core::write::rows::{EventChange, Found};

/// A change of a user's or an app's state.
#[derive(Debug, PartialEq)]
pub struct SharedChange {
    /// Its new revision.
    pub revision: Revision,
    /// The changed keys.
    pub state: StateChanges,
}

impl SharedChange {
    /// Returns the changes of the states that were found; `None` for each that does not change.
    pub(crate) fn of(found: &Found, changes: ByOwner<StateChanges>) -> ByOwner<Option<Self>> {
        found.shared.as_ref().zip(changes).map(|(row, state)| {
            let last = row.as_ref().map_or(0, |row| row.revision).max(found.floor);
            (!state.is_empty()).then(|| Self { revision: last + 1, state })
        })
    }
}

/// The new revisions of the shared states that a write changed.
pub type SharedRevisions = ByOwner<Option<Revision>>;

/// A new or changed session.
#[derive(Debug, PartialEq)]
pub struct SessionChange {
    /// Its new revisions and time.
    pub head: SessionHead,
    /// The changed keys of its own state.
    pub state: StateChanges,
    /// The change of its title and labels.
    pub description: DescriptionChange,
    /// The places of the markers that it gets. A storage that keeps none ignores them.
    pub markers: MarkerSeqs,
}

/// All changes of one write. An event whose id is stored already replaces the stored event in
/// place.
#[derive(Debug)]
pub struct Changes {
    /// The session, if it changes.
    pub session: Option<SessionChange>,
    /// The states of the user and of the app, each if it changes.
    pub shared: ByOwner<Option<SharedChange>>,
    /// New and replaced events.
    pub events: Vec<EventChange>,
}

impl Changes {
    /// Checks that each state stays within its size limit. `found` has the states before the changes.
    ///
    /// # Errors
    /// Fails with `quota_exceeded` if one would be too large.
    pub(super) fn check_sizes(&self, found: &Found) -> Result<(), Error> {
        let own = (found.state.as_ref(), self.session.as_ref().map(|change| &change.state));
        let shared = found.shared.as_ref().zip(self.shared.as_ref()).map(|(row, change)| {
            (row.as_ref().map(|row| &row.state), change.as_ref().map(|change| &change.state))
        });
        let states = shared.values().into_iter().chain([own]);
        let mut changed = states.filter_map(|(state, changes)| Some((state, changes?)));
        changed.try_for_each(|(state, changes)| ScopedState::check_size(state, changes))
    }

    /// Returns the new revisions of the shared states.
    pub fn shared_revisions(&self) -> SharedRevisions {
        self.shared.as_ref().map(|change| change.as_ref().map(|change| change.revision))
    }
}

#[cfg(test)]
mod tests {
    use crate::core::state::Delta;
    use crate::core::write::{Decide, Decision, Found, Update};

    #[test]
    fn a_write_refuses_a_state_that_would_be_too_large_over_any_storage() {
        let text = format!(r#"{{"app:large":"{}"}}"#, "x".repeat(128 << 20));
        let delta = Delta::parse(&text).unwrap();
        let mut update = Update::new("shop".to_owned(), None, delta).unwrap();
        assert!(matches!(update.decide(Found::default()), Decision::Done(None)));
        assert_eq!(update.finish().unwrap_err().code(), "quota_exceeded");
    }
}
