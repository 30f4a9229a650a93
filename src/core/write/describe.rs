//! Changing the title and the labels of a session.

use crate::core::error::Error;
use crate::core::session::{DescriptionChange, SessionKey};
use crate::core::state::{ByOwner, StateChanges};
use crate::core::write::changes::{Changes, SessionChange};
use crate::core::write::marker_seqs::MarkerSeqs;
use crate::core::write::outcome::{Effect, Outcome};
use crate::core::write::plan::Plan;
use crate::core::write::rows::Found;
use crate::core::write::{Decide, Decision};

/// Changes a session's title and labels, and neither its revision nor its time.
#[derive(Debug)]
pub struct Describe {
    plan: Plan,
    change: DescriptionChange,
    outcome: Outcome<bool>,
}

impl Describe {
    /// Changes the description of the session with that key.
    pub fn new(key: SessionKey, change: DescriptionChange) -> Self {
        Self { plan: Plan::of(key), change, outcome: Outcome::NONE }
    }

    /// Returns whether the session exists.
    ///
    /// # Errors
    /// Fails with `storage_failed` if the storage did not carry out the write.
    pub fn finish(self) -> Result<bool, Error> {
        self.outcome.finish()
    }
}

impl Decide for Describe {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn decide(&mut self, found: Found) -> Decision {
        let changes = found.session.map(|head| {
            let (state, description) = (StateChanges::default(), self.change.clone());
            Changes {
                session: Some(SessionChange {
                    head,
                    state,
                    description,
                    markers: MarkerSeqs::default(),
                }),
                shared: ByOwner::default(),
                events: Vec::new(),
            }
        });
        self.outcome.set(Ok(Effect { result: changes.is_some(), changes }))
    }
}
