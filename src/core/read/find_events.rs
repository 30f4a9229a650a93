//! Reading events by their ids.

use std::sync::Arc;

use crate::core::error::Error;
use crate::core::error::reason::broken_storage;
use crate::core::session::{NEVER, SessionHead, SessionKey};
use crate::core::write::{Decide, Decision, EventRow, Found, Plan, Repetition, ScopeSet};

/// Reads events of a session by their ids. To a storage it is a write that has nothing to write: every storage
/// looks up the ids of a write, so none needs a verb for it.
#[derive(Debug)]
pub struct FindEvents {
    plan: Plan,
    /// `None` before the storage has looked.
    found: Option<Option<FoundEvents>>,
}

/// The result of [`FindEvents`]: the session's head, and those of the events that are stored, in the order of
/// the ids and each once.
pub type FoundEvents = (SessionHead, Vec<EventRow>);

impl FindEvents {
    /// Reads the events with these ids.
    pub fn new(key: SessionKey, event_ids: Vec<Arc<str>>) -> Self {
        let plan = Plan {
            creates: false,
            target: key.into(),
            scopes: ScopeSet::default(),
            event_ids,
            ids_are_new: false,
            since: NEVER,
            repetition: Repetition::Recognized,
        };
        Self { plan, found: None }
    }

    /// Returns the events, or `None` if the session does not exist.
    ///
    /// # Errors
    /// Fails with `storage_failed` if the storage did not look.
    pub fn finish(self) -> Result<Option<FoundEvents>, Error> {
        self.found.ok_or_else(|| broken_storage("it never called decide"))
    }
}

impl Decide for FindEvents {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn decide(&mut self, found: Found) -> Decision {
        let Found { session, events: mut rows, .. } = found;
        let mut events: Vec<EventRow> = Vec::new();
        for id in &self.plan.event_ids {
            // An id may be requested twice.
            let is_new = !events.iter().any(|row| row.id == *id);
            let position = rows.iter().position(|row| row.id == *id).filter(|_| is_new);
            events.extend(position.map(|position| rows.swap_remove(position)));
        }
        self.found = Some(session.map(|head| (head, events)));
        Decision::Done(None)
    }
}
