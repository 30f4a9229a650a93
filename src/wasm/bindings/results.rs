//! Results as JavaScript objects with named members. Their forms are those of `js/core/read.ts` and `js/core/storage/store.ts`.
//!
//! Numbers cross as `f64`, since larger types would link code for `BigInt`. What JavaScript holds is passed
//! on as it is.

use adk_session::internals::merge_scopes;
use adk_session::memory::StoredSession;
use adk_session::read::{ListPlace, PageEdges, Rows};
use adk_session::session::{DescriptionRow, Revision, SessionHead};
use adk_session::write::{Appended, EventRow, SharedRevisions};
use js_sys::Array;
use serde::Serialize;
use serde_wasm_bindgen::preserve;
use wasm_bindgen::{JsCast, JsValue};

use crate::bindings::values::{Fragments, JsResult};
use crate::object::object_of;
use crate::text::string_of;

/// The title, the labels and the parent of a session, in members of the result.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReadSession {
    created: f64,
    revision: f64,
    last_update_time: f64,
    /// The JSON object of all scopes.
    state: String,
    #[serde(with = "preserve")]
    events: Array,
    title: Option<String>,
    labels: Option<String>,
    parent: Option<String>,
}

/// Returns the session that was read, or `undefined`. A read of changes has these as its events.
pub(super) fn read_session(rows: Rows<Fragments>) -> JsResult {
    let Rows { session: Some(row), shared, events, rows, .. } = rows else {
        return Ok(JsValue::UNDEFINED);
    };
    let state = merge_scopes(&row.state, shared.as_ref().map(Option::as_ref))?;
    let DescriptionRow { title, labels, parent, .. } = row.description;
    Ok(object_of(&ReadSession {
        created: row.head.created as f64,
        revision: row.head.revision as f64,
        last_update_time: row.head.last_update_time.as_millis(),
        state,
        events: if rows.is_empty() { events } else { missed_events(rows) },
        title,
        labels,
        parent,
    }))
}

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

#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
struct ReadPage {
    created: f64,
    revision: f64,
    #[serde(with = "preserve")]
    events: JsValue,
    has_older: Option<bool>,
    first_id: Option<String>,
    last_id: Option<String>,
    event_count: Option<f64>,
    create_time: Option<f64>,
    last_update_time: Option<f64>,
    initial_state: Option<String>,
    title: Option<String>,
    labels: Option<String>,
    parent: Option<String>,
}

/// Returns the page of events that was read, or `undefined` without a session. It has only the revisions
/// if no event has the id of the page's end.
pub(super) fn read_page(rows: Rows<Fragments>) -> JsResult {
    let Rows { session: Some(row), events, edges, .. } = rows else {
        return Ok(JsValue::UNDEFINED);
    };
    let SessionHead { created, revision, create_time, last_update_time } = row.head;
    let mut page =
        ReadPage { created: created as f64, revision: revision as f64, ..ReadPage::default() };
    if let Some(PageEdges { first, last, has_older, count }) = edges {
        let DescriptionRow { title, labels, parent, initial_state, .. } = row.description;
        page = ReadPage {
            events: events.into(),
            has_older: Some(has_older),
            first_id: first.map(|id| id.to_string()),
            last_id: last.map(|id| id.to_string()),
            event_count: count.map(|count| count as f64),
            create_time: Some(create_time.as_millis()),
            last_update_time: Some(last_update_time.as_millis()),
            initial_state,
            title,
            labels,
            parent,
            ..page
        };
    }
    Ok(object_of(&page))
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
struct FoundEvents {
    created: f64,
    revision: f64,
    #[serde(with = "preserve")]
    events: Array,
}

/// Returns the events that were found by their ids, or `undefined` without a session.
pub(super) fn found_events(rows: Rows<Fragments>) -> JsResult {
    let Rows { session: Some(row), rows, .. } = rows else {
        return Ok(JsValue::UNDEFINED);
    };
    Ok(object_of(&FoundEvents {
        created: row.head.created as f64,
        revision: row.head.revision as f64,
        events: missed_events(rows),
    }))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed<'a> {
    session_id: &'a str,
    user_id: &'a str,
    created: f64,
    revision: f64,
    last_update_time: f64,
    create_time: f64,
    /// The session's own: a merged text for each session would take more memory than there is.
    state: String,
    title: Option<&'a str>,
    labels: Option<&'a str>,
    parent: Option<&'a str>,
    is_damaged: bool,
}

/// Returns a session of a list over memory.
pub(super) fn listed_session(place: &ListPlace, session: &StoredSession) -> JsResult {
    let ListPlace { session_id, user_id, .. } = place;
    let SessionHead { created, revision, last_update_time, create_time } = session.head;
    let DescriptionRow { title, labels, parent, .. } = &session.description;
    Ok(object_of(&Listed {
        session_id,
        user_id,
        created: created as f64,
        revision: revision as f64,
        last_update_time: last_update_time.as_millis(),
        create_time: create_time.as_millis(),
        state: session.state.try_to_json()?,
        title: title.as_deref(),
        labels: labels.as_deref(),
        parent: parent.as_deref(),
        is_damaged: false,
    }))
}

/// A page of a list of sessions.
#[derive(Serialize)]
pub(super) struct JsListing {
    /// Over memory as [`listed_session`] makes them, over IndexedDB the records.
    #[serde(with = "preserve")]
    pub(super) sessions: Array,
    pub(super) total: f64,
    /// The JSON object of the app's state, without prefixes.
    #[serde(with = "preserve")]
    pub(super) app: JsValue,
    /// Pairs of a user's id and state. As an object, they would lose a user `__proto__`.
    #[serde(with = "preserve")]
    pub(super) users: Array,
}

/// Returns the page of a list.
pub(super) fn listing(listing: &JsListing) -> JsValue {
    object_of(listing)
}

#[derive(Serialize)]
struct UnchangedEvent {
    position: f64,
    revision: f64,
}

#[derive(Serialize)]
struct EventPlace {
    seq: f64,
    revision: f64,
}

/// The part of the result that most appends do not have.
#[derive(Serialize)]
struct AppendDetails {
    /// The revision of the handle before the append. Absent without a handle, and if it lies right before that of the
    /// first event.
    since: Option<f64>,
    unchanged: Vec<UnchangedEvent>,
    #[serde(with = "preserve")]
    missed: Array,
    state: Option<String>,
    /// Absent if all events are new: their `seq` is their revision, and the last one has the session's.
    placed: Option<Vec<EventPlace>>,
}

/// Returns the details of an append; `None` if there are none.
pub(super) fn append_details(appended: Appended) -> Option<JsValue> {
    let Appended { head, unchanged, stored_at: placed, missed, state, since, .. } = appended;
    let before = head.revision.saturating_sub(placed.len() as Revision);
    let are_new = unchanged.is_empty()
        && placed.iter().zip(before + 1..).all(|(place, new)| *place == (new, new));
    let since = since.filter(|since| *since != before);
    if since.is_none() && are_new && missed.is_empty() && state.is_none() {
        return None;
    }
    let unchanged = unchanged.into_iter().map(|(position, revision)| UnchangedEvent {
        position: position as f64,
        revision: revision as f64,
    });
    let place = |(seq, revision)| EventPlace { seq: seq as f64, revision: revision as f64 };
    Some(object_of(&AppendDetails {
        since: since.map(|since| since as f64),
        unchanged: unchanged.collect(),
        missed: missed_events(missed),
        state,
        placed: (!are_new).then(|| placed.into_iter().map(place).collect()),
    }))
}

/// The outcome of an append within a group: the result, or the error.
#[derive(Serialize)]
pub(super) struct AppendOutcome {
    #[serde(with = "preserve")]
    pub(super) appended: JsValue,
    #[serde(with = "preserve")]
    pub(super) error: JsValue,
}
