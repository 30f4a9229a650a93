//! Changing the title and the labels of a session.

use crate::core::error::Error;
use crate::core::session::Description;
use crate::core::state::StateChanges;
use crate::core::write::changes::{Changes, SessionChange};
use crate::core::write::never_decided;
use crate::core::write::rows::Found;

/// The rule that changes a session's title and labels, and neither its revision nor its time.
#[derive(Debug)]
pub(super) struct Describe {
    change: Description,
    /// Whether the session exists; `None` until the storage calls `decide`.
    described: Option<bool>,
}

impl Describe {
    pub(super) fn new(change: Description) -> Self {
        Self { change, described: None }
    }

    /// Returns whether the session exists.
    pub(super) fn described(self) -> Result<bool, Error> {
        self.described.ok_or_else(never_decided)
    }

    pub(super) fn decide(&mut self, found: &Found<'_>) -> Option<Changes> {
        self.described = Some(found.session.is_some());
        let (state, description) = (StateChanges::default(), self.change.clone());
        let session = Some(SessionChange { head: found.session?, state, description });
        Some(Changes { session, user: None, app: None, events: Vec::new() })
    }
}
