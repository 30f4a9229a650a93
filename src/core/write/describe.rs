//! Changing the title and the labels of a session.

use crate::core::session::Description;
use crate::core::state::StateChanges;
use crate::core::write::changes::{Changes, SessionChange};
use crate::core::write::outcome::{Decision, Outcome};
use crate::core::write::rows::Found;

/// Changes a session's title and labels, and neither its revision nor its time.
pub(super) fn decide(change: &Description, found: &Found) -> Decision {
    let session = found.session.map(|head| {
        let (state, description) = (StateChanges::default(), change.clone());
        SessionChange { head, state, description }
    });
    let is_there = session.is_some();
    let changes = Changes { session, user: None, app: None, events: Vec::new() };
    (Outcome::Described(is_there), is_there.then_some(changes))
}
