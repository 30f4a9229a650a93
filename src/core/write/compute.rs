//! Deltas that a caller computes from the stored state, in the transaction that writes them.

use std::fmt;

use crate::core::error::Error;
use crate::core::event::EventText;
use crate::core::state::Delta;

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
pub type ComputeDelta = Box<dyn FnMut(&str) -> Result<Computed, Error>>;

/// The function of a write that computes its delta.
pub(super) struct Compute(pub(super) ComputeDelta);

impl fmt::Debug for Compute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Compute")
    }
}
