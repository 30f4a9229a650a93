//! Writes with the results that JavaScript gets.

use adk_session::error::Error;
use adk_session::read::FindEvents;
use adk_session::session::Revision;
use adk_session::write::{
    Append, Appended, Create, CreatedSession, Decide, Decision, Describe, Found, Plan,
    SharedRevisions, Update,
};
use js_sys::Array;
use wasm_bindgen::JsValue;

use crate::bindings::values::{JsResult, array_of, changed_to_javascript, opened, push2};

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
    /// Returns the new session as `session_to_javascript` does, without its description, followed by
    /// the new revisions of user and app state.
    fn finish(self: Box<Self>) -> JsResult {
        match self.create.finish() {
            Err(Error::AlreadyExists { .. }) if self.if_absent => Ok(JsValue::UNDEFINED),
            created => {
                let CreatedSession { head, state, shared } = created?;
                let session = opened(head, &state, &Array::new());
                let [user, app] = revision_numbers(shared);
                push2(&session, user, app);
                Ok(session.into())
            }
        }
    }
}

impl JsWrite for Append {
    /// Returns `[created, revision, lastUpdateTime, since, user, app]`: the session's revisions and
    /// time, the handle's revision before the append or NaN, and the new revisions of user and app
    /// state. If there is more, these follow: `unchanged` with `[position, revision]` each, `missed`
    /// with `[seq, revision, text]` each, the state before the append if it is needed, `placed` with
    /// `[seq, revision]` for each event, and the undone invocations. `placed` is `undefined` if all
    /// events are new: their `seq` is their revision, and the last one has the session's.
    fn finish(self: Box<Self>) -> JsResult {
        let Appended { head, unchanged, placed, missed, state, since, undone, shared } =
            Append::finish(*self)?;
        let [user, app] = revision_numbers(shared);
        let [created, revision] = [head.created, head.revision].map(|n| n as f64);
        let since = since.map_or(f64::NAN, |since| since as f64);
        let time = head.last_update_time.as_millis();
        let result = array_of(created, revision, time, since, user, app);
        let new = (head.revision + 1).saturating_sub(placed.len() as Revision)..;
        let are_new =
            unchanged.is_empty() && placed.iter().zip(new).all(|(place, new)| *place == (new, new));
        if are_new && missed.is_empty() && state.is_none() && undone.is_none() {
            return Ok(result.into());
        }
        result.push(&pairs(unchanged.into_iter().map(|(at, revision)| (at as Revision, revision))));
        result.push(&changed_to_javascript(missed));
        result.push(&state.into());
        result.push(&if are_new { JsValue::UNDEFINED } else { pairs(placed.into_iter()).into() });
        let undone = undone
            .map(|names| -> Array { names.iter().map(|name| JsValue::from_str(name)).collect() });
        result.push(&undone.into());
        Ok(result.into())
    }
}

impl JsWrite for Update {
    /// Returns the new revisions of user and app state.
    fn finish(self: Box<Self>) -> JsResult {
        let result = Array::new();
        let [user, app] = revision_numbers(Update::finish(*self)?);
        push2(&result, user, app);
        Ok(result.into())
    }
}

impl JsWrite for Describe {
    /// Returns whether the session exists.
    fn finish(self: Box<Self>) -> JsResult {
        Ok(Describe::finish(*self)?.into())
    }
}

impl JsWrite for FindEvents {
    /// Returns `[created, revision, events]`, with `[seq, revision, text]` for each event. Returns `undefined` if
    /// there is no session.
    fn finish(self: Box<Self>) -> JsResult {
        let Some((head, rows)) = FindEvents::finish(*self)? else {
            return Ok(JsValue::UNDEFINED);
        };
        let found = Array::new();
        push2(&found, head.created as f64, head.revision as f64);
        found.push(&changed_to_javascript(rows));
        Ok(found.into())
    }
}

/// The revisions of user and app state; 0, which no state has, for an unchanged state.
fn revision_numbers(revisions: SharedRevisions) -> [f64; 2] {
    revisions.map(|revision| revision.unwrap_or_default() as f64).values()
}

fn pairs(pairs: impl Iterator<Item = (Revision, Revision)>) -> Array {
    let rows = Array::new();
    for (one, other) in pairs {
        let fields = Array::new();
        push2(&fields, one as f64, other as f64);
        rows.push(&fields);
    }
    rows
}
