//! What the storages read, as JavaScript objects with named members; see `results.rs`.

use adk_session::event::EventText;
use adk_session::internals::merge_scopes;
use adk_session::memory::StoredSession;
use adk_session::read::{ListPlace, PageEdges, Rows, TimedText};
use adk_session::session::{DescriptionRow, SessionHead};
use adk_session::write::SharedRow;
use js_sys::Array;
use serde::Serialize;
use serde_wasm_bindgen::preserve;
use wasm_bindgen::JsValue;

use crate::bindings::results::missed_events;
use crate::bindings::values::JsResult;
use crate::object::object_of;
use crate::text::foreign_string;

/// About how many bytes of text cross at once. One call for each event costs more than the copy.
/// One piece for all would grow wasm memory by the whole history, and wasm memory never shrinks.
const PIECE: usize = 256 << 10;

/// Events on their way to JavaScript: JSON texts, each of one event or of several with commas between
/// them, or records of IndexedDB. See `CoreStorage.parse` in `js/core/storage/wasm/wasm_store.ts`.
pub(super) type Fragments = Array;

pub(super) fn fragments(events: Vec<TimedText>) -> Fragments {
    let fragments = Array::new();
    let mut piece = String::new();
    for (_, text) in events {
        match text {
            EventText::Foreign(text) => {
                fragments.push(&foreign_string(&*text));
            }
            EventText::Own(text) => {
                if !piece.is_empty() && piece.len() + text.len() > PIECE {
                    fragments.push(&JsValue::from_str(&piece));
                    piece.clear();
                }
                // Copying it would take as much memory again.
                if text.len() > PIECE {
                    fragments.push(&text.with(JsValue::from_str));
                    continue;
                }
                if !piece.is_empty() {
                    piece.push(',');
                }
                text.with(|text| piece.push_str(text));
            }
        }
    }
    if !piece.is_empty() {
        fragments.push(&JsValue::from_str(&piece));
    }
    fragments
}

/// Returns the JSON object of a user's or an app's state.
pub(super) fn state_to_javascript(row: Option<SharedRow>) -> JsResult {
    Ok(JsValue::from_str(&row.unwrap_or_default().state.try_to_json()?))
}

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

/// The outcome of an append within a group: the result, or the error.
#[derive(Serialize)]
pub(super) struct AppendOutcome {
    #[serde(with = "preserve")]
    pub(super) appended: JsValue,
    #[serde(with = "preserve")]
    pub(super) error: JsValue,
}
