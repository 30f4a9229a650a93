//! Changing a user's or an app's state without a session.

use crate::core::error::Error;
use crate::core::session::check_owner;
use crate::core::state::Delta;
use crate::core::write::changes::{Changes, SharedChange, SharedRevisions};
use crate::core::write::outcome::{Decision, Outcome};
use crate::core::write::plan::ScopeSet;
use crate::core::write::rows::Found;

/// The rule that writes the scopes of a delta.
#[derive(Debug)]
pub(super) struct Update {
    delta: Delta,
}

impl Update {
    pub(super) fn new(app_name: &str, user_id: Option<&str>, delta: Delta) -> Result<Self, Error> {
        check_owner(app_name, user_id)?;
        // An app needs no other id than the one that is always given.
        let Delta { session, user, app: _ } = &delta;
        if let Some((name, _)) = session.first() {
            return Err(Error::invalid(
                "stateDelta",
                format!("holds \"{name}\", a session's key; name the sessionId as well"),
            ));
        }
        if let (None, Some((name, _))) = (user_id, user.first()) {
            return Err(Error::invalid(
                "stateDelta",
                format!("holds \"user:{name}\", a user's key; name the userId as well"),
            ));
        }
        Ok(Self { delta })
    }

    pub(super) fn scopes(&self) -> ScopeSet {
        ScopeSet::of(&self.delta)
    }

    pub(super) fn decide(&self, found: &Found) -> Decision {
        let user = SharedChange::of(found.user.as_ref(), self.delta.user.clone(), found.floor);
        let app = SharedChange::of(found.app.as_ref(), self.delta.app.clone(), found.floor);
        let changes = Changes { session: None, user, app, events: Vec::new() };
        let updated = changes.shared_revisions();
        let is_any = updated != SharedRevisions::default();
        (Outcome::Updated(updated), is_any.then_some(changes))
    }
}
