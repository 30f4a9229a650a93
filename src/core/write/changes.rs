//! The changes that a write makes.

use crate::core::error::Error;
use crate::core::session::{Description, Revision, SessionHead};
use crate::core::state::{ScopedState, StateChanges};
use crate::core::write::rows::{EventRow, Found, SharedRow};

/// A change of a user's or an app's state.
#[derive(Debug, PartialEq)]
pub struct SharedChange {
    /// Its new revision.
    pub revision: Revision,
    /// The changed keys.
    pub state: StateChanges,
}

impl SharedChange {
    /// Returns the change of the state in `row`; `None` if nothing changes.
    pub(crate) fn of(
        row: Option<&SharedRow>,
        state: StateChanges,
        floor: Revision,
    ) -> Option<Self> {
        let last = row.map_or(0, |row| row.revision).max(floor);
        (!state.is_empty()).then(|| Self { revision: last + 1, state })
    }
}

/// The new revisions of the shared states that a write changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SharedRevisions {
    /// The user's.
    pub user: Option<Revision>,
    /// The app's.
    pub app: Option<Revision>,
}

/// A new or changed session.
#[derive(Debug, PartialEq)]
pub struct SessionChange {
    /// Its new revisions and time.
    pub head: SessionHead,
    /// The changed keys of its own state.
    pub state: StateChanges,
    /// The change of its title and labels.
    pub description: Description,
}

/// All changes of one write. An event whose id is stored already replaces the stored event in
/// place.
#[derive(Debug)]
pub struct Changes {
    /// The session, if it changes.
    pub session: Option<SessionChange>,
    /// The user's state, if it changes.
    pub user: Option<SharedChange>,
    /// The app's state, if it changes.
    pub app: Option<SharedChange>,
    /// New and replaced events.
    pub events: Vec<EventChange>,
}

impl Changes {
    /// Checks that each state stays within its size limit. `found` has the states before the changes.
    ///
    /// # Errors
    /// Fails with `quota_exceeded` if one would be too large.
    pub(super) fn check_sizes(&self, found: &Found) -> Result<(), Error> {
        let [user, app] = [&found.user, &found.app].map(|row| row.as_ref().map(|row| &row.state));
        let states = [
            (found.state.as_ref(), self.session.as_ref().map(|change| &change.state)),
            (user, self.user.as_ref().map(|change| &change.state)),
            (app, self.app.as_ref().map(|change| &change.state)),
        ];
        let mut changed = states.into_iter().filter_map(|(state, changes)| Some((state, changes?)));
        changed.try_for_each(|(state, changes)| ScopedState::check_size(state, changes))
    }

    /// Returns the new revisions of the shared states.
    pub fn shared_revisions(&self) -> SharedRevisions {
        SharedRevisions {
            user: self.user.as_ref().map(|change| change.revision),
            app: self.app.as_ref().map(|change| change.revision),
        }
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
