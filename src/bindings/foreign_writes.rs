//! Writes to a foreign storage, step by step. JavaScript asks what to write once the storage has read.
//!
//! Those that Rust begins it hands to the bridge. An append of one event, which is what nearly all are,
//! JavaScript begins and ends itself: nothing in wasm waits then, so that over a storage that answers at
//! once it takes no promise, and neither the session's names nor the event's text enter wasm.

use std::mem;

use js_sys::Array;
use wasm_bindgen::prelude::*;

use crate::bindings::parts::Parts;
use crate::bindings::sessions::policy_of;
use crate::bindings::values::appended_to_javascript;
use crate::event::NewEvent;
use crate::session::{NEVER, SessionHead, SessionKey, check_timestamp};
use crate::storage::foreign::begun::{self, FoundStates, decided, rows_of};
use crate::storage::shared_write::SharedWrite;
use crate::write::{Position, Write};

/// Begins an append to a session behind a bridge, through a handle of ours, or with `created` below 0
/// through none. `packed`: the event's id, of so many UTF-16 code units, and its delta. Answers with its
/// place times 16, plus what it wants to know: the states of session (1), user (2) and app (4), and what
/// was changed since the revision (8).
#[wasm_bindgen]
#[allow(clippy::too_many_arguments, reason = "an object would cost more than the call")]
pub fn begin_append(
    packed: &str,
    id: usize,
    text: JsValue,
    created: f64,
    revision: f64,
    policy: u8,
    now: f64,
    timestamp: f64,
) -> Result<f64, JsValue> {
    let mut parts = Parts::of(packed);
    let id = parts.next(id);
    let event = NewEvent::new(id, timestamp, parts.rest(), text.into())?;
    let now = check_timestamp("the clock", now)?;
    let position = if created < 0.0 {
        Position::Latest
    } else {
        Position::Revision { created: created as u64, revision: revision as u64 }
    };
    // The adapter alone has to know which session it is.
    let [app_name, user_id, session_id] = [const { String::new() }; 3];
    let key = SessionKey { app_name, user_id, session_id };
    let write = Write::append(key, position, policy_of(policy), vec![event], now);
    let (scopes, since) = (write.plan().scopes, write.plan().since);
    let wanted = scopes.bits() | u8::from(since < NEVER) << 3;
    let place = begun::begin(SharedWrite::new(write));
    Ok((place * 16) as f64 + f64::from(wanted))
}

/// Decides what a write writes, and answers whether it is anything: what, is asked for before anything
/// else is decided.
///
/// `revision` is below 0 where there is no session. `states`: those of session, user and app as far as
/// they are there and were asked for, else empty, with the lengths of the first two in UTF-16 code units.
/// `rows`: the events, and the changed ones, if there are any, as `checked_rows.ts` has them.
#[wasm_bindgen]
#[allow(clippy::too_many_arguments, reason = "an object would cost more than the call")]
pub fn decide(
    place: usize,
    floor: f64,
    created: f64,
    revision: f64,
    time: f64,
    user_revision: f64,
    app_revision: f64,
    states: &str,
    session: usize,
    user: usize,
    rows: Option<Array>,
) -> Result<bool, JsValue> {
    let mut parts = Parts::of(states);
    let states = [parts.next(session), parts.next(user), parts.rest()];
    let head =
        SessionHead { created: created as u64, revision: revision as u64, last_update_time: time };
    let head = (revision >= 0.0).then_some(head);
    let found = FoundStates { floor, head, user_revision, app_revision, states };
    begun::decide(place, found, rows)
}

/// The new revisions of session (0), user (1) and app (2), 0 where they do not change; the session's time
/// (3).
#[wasm_bindgen]
pub fn decided_number(which: usize) -> f64 {
    decided(|decided| decided.numbers.get(which).copied()).unwrap_or_default()
}

/// The states of session, user and app, each empty where it does not change, with a NUL behind it, which
/// no JSON has.
#[wasm_bindgen]
pub fn decided_states() -> String {
    decided(|decided| mem::take(&mut decided.states))
}

/// The events, as `checked_rows.ts` has them.
#[wasm_bindgen]
pub fn decided_events() -> Array {
    rows_of(decided(|decided| mem::take(&mut decided.events)))
}

/// Ends an append that was begun here. Answers with what it did to the session of that id, as
/// `appended_to_javascript` lays it out; with nothing if none is named. `null`: it wrote nothing yet, since it needs
/// the states; `append_events` asks for them.
#[wasm_bindgen]
pub fn end_append(place: usize, session_id: Option<String>) -> Result<JsValue, JsValue> {
    let Some((write, session_id)) = begun::end(place).zip(session_id) else {
        return Ok(JsValue::UNDEFINED);
    };
    let mut write = write.take()?;
    if write.again() {
        return Ok(JsValue::NULL);
    }
    Ok(appended_to_javascript(write.appended(&session_id)?, true))
}
