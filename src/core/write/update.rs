//! Changing a user's or an app's state without a session.

use crate::core::error::{Error, Field};
use crate::core::session::check_owner;
use crate::core::state::{ByOwner, Delta};
use crate::core::write::changes::{Changes, SharedChange, SharedRevisions};
use crate::core::write::compute::{Compute, ComputeDelta};
use crate::core::write::outcome::{Effect, Outcome};
use crate::core::write::plan::{Plan, Repetition, ScopeSet, Target};
use crate::core::write::rows::Found;
use crate::core::write::{Decide, Decision};

/// Changes the states of a user and of an app.
#[derive(Debug)]
pub struct Update {
    plan: Plan,
    delta: Delta,
    /// Computes `delta`.
    compute: Option<Compute>,
    outcome: Outcome<SharedRevisions>,
}

impl Update {
    /// Changes the states by a delta.
    ///
    /// # Errors
    /// Fails with `invalid_argument` if a name is invalid, or if a key's scope needs an id that is
    /// missing.
    pub fn new(app_name: String, user_id: Option<String>, delta: Delta) -> Result<Self, Error> {
        check_owner(&app_name, user_id.as_deref())?;
        let target = Target { app_name, user_id, session_id: None };
        let plan = Plan { scopes: ScopeSet::of(&delta), ..Plan::of(target) };
        let update = Self { plan, delta, compute: None, outcome: Outcome::NONE };
        update.check_scopes()?;
        Ok(update)
    }

    /// Makes the update compute its delta from the stored states.
    #[must_use]
    pub fn computing(mut self, compute: Box<dyn ComputeDelta>) -> Self {
        self.plan.repetition = Repetition::CountsTwice;
        self.compute = Some(Compute::new(compute, &mut self.plan));
        self
    }

    /// Returns the new revisions of the states that it changed.
    ///
    /// # Errors
    /// Fails with the reason why it was refused.
    pub fn finish(self) -> Result<SharedRevisions, Error> {
        self.outcome.finish()
    }

    /// Refuses keys of an owner that the update does not name. An app is always named.
    fn check_scopes(&self) -> Result<(), Error> {
        let Delta { session, shared: ByOwner { user, app: _ } } = &self.delta;
        if let Some((name, _)) = session.first() {
            return Err(Error::invalid(
                Field::StateDelta,
                format!("holds \"{name}\", a session's key; name the session as well"),
            ));
        }
        if let (None, Some((name, _))) = (&self.plan.target.user_id, user.first()) {
            return Err(Error::invalid(
                Field::StateDelta,
                format!("holds \"user:{name}\", a user's key; name the user as well"),
            ));
        }
        Ok(())
    }

    fn decide_on(&mut self, found: &Found) -> Result<Effect<SharedRevisions>, Error> {
        found.check_revisions(0)?;
        if let Some(compute) = &mut self.compute {
            self.delta = compute.call(found)?.delta;
            self.check_scopes()?;
        }
        let shared = SharedChange::of(found, self.delta.shared.clone());
        let changes = Changes { session: None, shared, events: Vec::new() };
        changes.check_sizes(found)?;
        let result = changes.shared_revisions();
        let is_any = result != SharedRevisions::default();
        Ok(Effect { result, changes: is_any.then_some(changes) })
    }
}

impl Decide for Update {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn decide(&mut self, found: Found) -> Decision {
        let effect = self.decide_on(&found);
        self.outcome.set(effect)
    }
}
