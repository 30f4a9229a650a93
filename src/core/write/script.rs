//! A write whose decision a test supplies, so that it can require more of a storage than the
//! session service does.

use crate::core::event::NewEvent;
use crate::core::session::Revision;
use crate::core::state::Delta;
use crate::core::write::changes::{Changes, SharedRevisions};
use crate::core::write::outcome::{Decision, Outcome};
use crate::core::write::plan::Plan;
use crate::core::write::rows::{EventRow, Found};
use crate::core::write::{Rule, Write};

/// The rule of such a write.
#[derive(Debug)]
pub(super) struct Script {
    changes_at: fn(Revision) -> Option<Changes>,
    /// `None` until the storage calls `decide`.
    found: Option<Found>,
}

impl Script {
    pub(super) fn decide(&mut self, found: &Found) -> Decision {
        let changes = (self.changes_at)(found.floor);
        self.found = Some(found.clone());
        (Outcome::Updated(SharedRevisions::default()), changes)
    }
}

impl Write {
    /// `events` gives ids, timestamps and texts. `changes_at` gets the floor and returns the changes.
    pub(crate) fn script(
        plan: Plan,
        events: Vec<EventRow>,
        changes_at: fn(Revision) -> Option<Changes>,
    ) -> Self {
        let new_event = |row: EventRow| NewEvent {
            id: row.id,
            timestamp: row.timestamp,
            delta: Delta::default(),
            text: row.text,
            whole: None,
            expected: None,
        };
        let events = events.into_iter().map(new_event).collect();
        Self::new(plan, Rule::Script(Script { changes_at, found: None }), events)
    }

    /// From now on each decision is made three times. The first two see wrong rows, as if a
    /// database had aborted and retried the transaction.
    pub fn starting_over(self) -> Self {
        Self { starts_over: true, ..self }
    }

    pub(super) fn start_over(&mut self, found: &Found) {
        if !self.starts_over {
            return;
        }
        self.decide_once(Found::default());
        self.decide_once(found.clone());
    }

    /// Returns the rows that the storage found; `None` if it never called `decide`.
    pub(crate) fn found_rows(self) -> Option<Found> {
        match self.rule {
            Rule::Script(script) => script.found,
            _ => None,
        }
    }
}
