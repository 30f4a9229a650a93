//! A write whose decision a test supplies, so that it can require more of a storage than the
//! session service does.

use crate::core::session::Revision;
use crate::core::write::{Changes, Decide, Decision, EventRow, Found, Plan};

pub(super) struct Script {
    plan: Plan,
    events: Vec<EventRow>,
    changes_at: fn(Revision) -> Option<Changes>,
    /// The rows of the last decision; `None` until the storage calls `decide`.
    pub(super) found: Option<Found>,
}

impl Script {
    /// `events` gives ids, timestamps and texts. `changes_at` gets the floor and returns the changes.
    pub(super) fn new(
        plan: Plan,
        events: Vec<EventRow>,
        changes_at: fn(Revision) -> Option<Changes>,
    ) -> Self {
        Self { plan, events, changes_at, found: None }
    }
}

impl Decide for Script {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn decide(&mut self, found: Found) -> Decision {
        let mut changes = (self.changes_at)(found.floor);
        for change in changes.iter_mut().flat_map(|changes| &mut changes.events) {
            if let Some(event) = self.events.get(change.index) {
                let EventRow { seq, revision, .. } = change.row;
                change.row = EventRow { seq, revision, ..event.clone() };
            }
        }
        self.found = Some(found);
        Decision::Done(changes)
    }
}
