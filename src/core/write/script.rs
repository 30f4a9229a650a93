//! A write whose decision a test supplies, so that it can require more of a storage than the
//! session service does.

use crate::core::event::NewEvent;
use crate::core::session::{Revision, SessionHead};
use crate::core::state::Delta;
use crate::core::write::changes::Changes;
use crate::core::write::plan::Plan;
use crate::core::write::rows::{EventRow, Found, SharedRow};
use crate::core::write::{Rule, Write};

/// The rule of such a write.
#[derive(Debug)]
pub(super) struct Script {
    changes_at: fn(Revision) -> Option<Changes>,
    found: Option<FoundRows>,
}

/// The rows that the storage found.
#[derive(Debug)]
pub(crate) struct FoundRows {
    pub(crate) session: Option<SessionHead>,
    pub(crate) user: Option<SharedRow>,
    pub(crate) app: Option<SharedRow>,
    pub(crate) events: Vec<EventRow>,
    pub(crate) changed: Vec<EventRow>,
    pub(crate) floor: Revision,
}

impl Script {
    pub(super) fn decide(&mut self, found: Found<'_>) -> Option<Changes> {
        let Found { session, state: _, user, app, events, changed, floor } = found;
        let (user, app) = (user.cloned(), app.cloned());
        self.found = Some(FoundRows { session, user, app, events, changed, floor });
        (self.changes_at)(floor)
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
        };
        let events = events.into_iter().map(new_event).collect();
        Self::new(plan, Rule::Script(Script { changes_at, found: None }), events)
    }

    /// From now on each decision is made three times. The first two see wrong rows, as if a
    /// database had aborted and retried the transaction.
    pub fn starting_over(self) -> Self {
        Self { starts_over: true, ..self }
    }

    pub(super) fn start_over(&mut self, found: &Found<'_>) {
        if !self.starts_over {
            return;
        }
        let (events, changed) = (found.events.clone(), found.changed.clone());
        self.decide_once(Found::default());
        self.decide_once(Found { events, changed, ..*found });
    }

    /// Returns the rows that the storage found; `None` if it never called `decide`.
    pub(crate) fn found_rows(self) -> Option<FoundRows> {
        match self.rule {
            Rule::Script(script) => script.found,
            _ => None,
        }
    }
}
