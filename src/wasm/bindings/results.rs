//! Results as JavaScript objects with named members. Their forms are those of `js/core/read.ts` and
//! `js/core/storage/store.ts`.
//!
//! Numbers cross as `f64`, since larger types would link code for `BigInt`. What JavaScript holds is passed
//! on as it is.

use adk_session::session::Revision;
use adk_session::write::{Appended, EventRow, SharedRevisions};
use js_sys::Array;
use serde::Serialize;
use serde_wasm_bindgen::preserve;
use wasm_bindgen::{JsCast, JsValue};

use crate::object::object_of;
use crate::text::string_of;

/// The revisions of user and app state; 0, which no state has, for an unchanged state.
#[derive(Serialize)]
pub(super) struct Revisions {
    pub(super) user: f64,
    pub(super) app: f64,
}

impl Revisions {
    pub(super) fn of(revisions: SharedRevisions) -> Self {
        let [user, app] = revisions.map(|revision| revision.unwrap_or_default() as f64).values();
        Self { user, app }
    }
}

#[derive(Serialize)]
struct MissedEvent {
    seq: f64,
    revision: f64,
    #[serde(with = "preserve")]
    text: JsValue,
}

/// Returns the list of events with their revisions and their texts.
pub(super) fn missed_events(rows: Vec<EventRow>) -> Array {
    let mut events = Vec::with_capacity(rows.len());
    for row in rows {
        let text = string_of(&row.text);
        events.push(MissedEvent { seq: row.seq as f64, revision: row.revision as f64, text });
    }
    object_of(&events).unchecked_into()
}

#[derive(Serialize)]
struct UnchangedEvent {
    position: f64,
    revision: f64,
}

#[derive(Serialize)]
struct EventRevisions {
    seq: f64,
    revision: f64,
}

/// The part of the result that most appends do not have.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AppendDetails {
    /// The revision of the handle before the append. Absent without a handle, and if it lies right before that of the
    /// first event.
    since: Option<f64>,
    unchanged: Vec<UnchangedEvent>,
    #[serde(with = "preserve")]
    missed: Array,
    state: Option<String>,
    /// Absent if all events are new: their `seq` is their revision, and the last one has the session's.
    event_revisions: Option<Vec<EventRevisions>>,
}

/// Returns the details of an append; `None` if there are none.
pub(super) fn append_details(appended: Appended) -> Option<JsValue> {
    let Appended { head, unchanged, stored_at: event_revisions, missed, state, since, .. } =
        appended;
    let before = head.revision.saturating_sub(event_revisions.len() as Revision);
    let are_new = unchanged.is_empty()
        && event_revisions.iter().zip(before + 1..).all(|(place, new)| *place == (new, new));
    let since = since.filter(|since| *since != before);
    if since.is_none() && are_new && missed.is_empty() && state.is_none() {
        return None;
    }
    let unchanged = unchanged.into_iter().map(|(position, revision)| UnchangedEvent {
        position: position as f64,
        revision: revision as f64,
    });
    let place = |(seq, revision)| EventRevisions { seq: seq as f64, revision: revision as f64 };
    Some(object_of(&AppendDetails {
        since: since.map(|since| since as f64),
        unchanged: unchanged.collect(),
        missed: missed_events(missed),
        state,
        event_revisions: (!are_new).then(|| event_revisions.into_iter().map(place).collect()),
    }))
}
