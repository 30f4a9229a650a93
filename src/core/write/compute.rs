//! Deltas that a caller computes from the stored state, in the transaction that writes them.

use std::fmt;

use crate::core::error::Error;
use crate::core::event::EventText;
use crate::core::state::{ByOwner, Delta};
use crate::core::write::plan::{Plan, ScopeSet, Target};
use crate::core::write::rows::{Found, stored_state};
use crate::host::SendOutsideWasm;

/// The changes that a caller computed.
#[derive(Debug, Clone)]
pub struct Computed {
    /// The changes of the state.
    pub delta: Delta,
    /// The text of the event that holds them. Unused if the write stores no event.
    pub text: EventText,
}

impl From<Delta> for Computed {
    fn from(delta: Delta) -> Self {
        Self { delta, text: String::new().into() }
    }
}

/// Computes changes from the JSON object of the state, with prefixes: of the app, and of the user and
/// the session that the write names. An empty delta writes nothing.
///
/// It runs within the storage's transaction, and again if the storage retries that. It must not call
/// the service.
pub trait ComputeDelta: FnMut(&str) -> Result<Computed, Error> + SendOutsideWasm {}

impl<F: FnMut(&str) -> Result<Computed, Error> + SendOutsideWasm> ComputeDelta for F {}

/// The function of a write that computes its delta.
pub(super) struct Compute(Box<dyn ComputeDelta>);

impl Compute {
    /// Makes the plan read the states that the function gets: of the app, and of the user and the
    /// session that the plan names.
    pub(super) fn new(compute: Box<dyn ComputeDelta>, plan: &mut Plan) -> Self {
        let Target { user_id, session_id, .. } = &plan.target;
        let (user, session) = (user_id.is_some(), session_id.is_some());
        plan.scopes = ScopeSet { session, shared: ByOwner { user, app: true } };
        Self(compute)
    }

    pub(super) fn call(&mut self, found: &Found) -> Result<Computed, Error> {
        (self.0)(&stored_state(found)?)
    }
}

impl fmt::Debug for Compute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Compute")
    }
}
