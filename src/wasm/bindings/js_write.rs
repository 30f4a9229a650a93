//! Writes with the results that JavaScript gets.

use adk_session::error::Error;
use adk_session::write::{
    Append, Appended, Create, CreatedSession, Decide, Decision, Describe, Found, Plan, Update,
};
use wasm_bindgen::JsValue;

use crate::bindings::results::{Revisions, append_details};
use crate::bindings::values::{JsResult, array_of};
use crate::object::object_of;

/// A write that JavaScript asked for.
pub(super) trait JsWrite: Decide {
    /// Returns the result, or fails with the reason of the refusal.
    fn finish(self: Box<Self>) -> JsResult;
}

/// A creation.
pub(super) struct Creation {
    pub(super) create: Create,
    /// Whether it gives `undefined` if the key is taken, and does not fail.
    pub(super) if_absent: bool,
}

impl Decide for Creation {
    fn plan(&self) -> &Plan {
        self.create.plan()
    }

    fn decide(&mut self, found: Found) -> Decision {
        self.create.decide(found)
    }
}

impl JsWrite for Creation {
    /// Returns a list with a `CreatedNumber` each.
    fn finish(self: Box<Self>) -> JsResult {
        match self.create.finish() {
            Err(Error::AlreadyExists { .. }) if self.if_absent => Ok(JsValue::UNDEFINED),
            created => {
                let CreatedSession { head, state, has_rest, shared } = created?;
                let Revisions { user, app } = Revisions::of(shared);
                let (revision, time) = (head.revision as f64, head.last_update_time.as_millis());
                let result = array_of(revision, time, user, app, f64::from(has_rest));
                if !has_rest || state != "{}" {
                    result.push(&state.into());
                }
                Ok(result.into())
            }
        }
    }
}

impl JsWrite for Append {
    /// Returns a list with an `AppendedNumber` each.
    fn finish(self: Box<Self>) -> JsResult {
        let appended = Append::finish(*self)?;
        let Appended { head, shared, .. } = appended;
        let [created, revision] = [head.created, head.revision].map(|revision| revision as f64);
        let Revisions { user, app } = Revisions::of(shared);
        let result = array_of(created, revision, head.last_update_time.as_millis(), user, app);
        if let Some(details) = append_details(appended) {
            result.push(&details);
        }
        Ok(result.into())
    }
}

impl JsWrite for Update {
    /// Returns the new revisions of user and app state.
    fn finish(self: Box<Self>) -> JsResult {
        Ok(object_of(&Revisions::of(Update::finish(*self)?)))
    }
}

impl JsWrite for Describe {
    /// Returns whether the session exists.
    fn finish(self: Box<Self>) -> JsResult {
        Ok(Describe::finish(*self)?.into())
    }
}
