//! Converts results to JavaScript, and checks numbers of requests.

use adk_session::event::EventText;
use adk_session::internals::{merge_scopes, state_to_json};
use adk_session::read::{PageEdges, Rows};
use adk_session::session::{Description, SessionHead};
use adk_session::storage::is_same_json;
use adk_session::write::{EventRow, SharedRow};
use js_sys::Array;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::*;

use crate::text::{foreign_string, string_of};
use crate::thrown::Thrown;

/// A result for JavaScript, or a promise of it.
pub(super) type JsResult = Result<JsValue, Thrown>;

/// Whether two JSON texts are equal as JSON values.
#[wasm_bindgen]
pub fn same_json(one: &str, other: &str) -> bool {
    is_same_json(one, other)
}

/// About how many bytes of text cross at once. One call for each event costs more than the copy.
/// One piece for all would grow wasm memory by the whole history, and wasm memory never shrinks.
const PIECE: usize = 256 << 10;

/// Events on their way to JavaScript: JSON texts, each of one event or of several with commas between
/// them, or records of IndexedDB. See `js/storage/core/unpack.ts`.
pub(super) type Fragments = Array;

pub(super) fn fragments(texts: Vec<EventText>) -> Fragments {
    let fragments = Array::new();
    let mut piece = String::new();
    for text in texts {
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

/// Returns the session that was read, as `[created, revision, lastUpdateTime, state, fragments,
/// …description]`, or `undefined`. A read of changes has them in place of the fragments, as
/// `changed_to_javascript` lays them out.
pub(super) fn session_to_javascript(rows: Rows<Fragments>) -> JsResult {
    let Rows { session: Some(row), shared, events, changed, .. } = rows else {
        return Ok(JsValue::UNDEFINED);
    };
    let events = if changed.is_empty() { events } else { changed_to_javascript(changed) };
    let state = merge_scopes(&row.state, shared.as_ref().map(Option::as_ref))?;
    let session = opened(row.head, &state, &events);
    push_description(&session, &row.description);
    Ok(session.into())
}

/// Returns `[seq, revision, text]` for each event.
pub(super) fn changed_to_javascript(rows: Vec<EventRow>) -> Array {
    let changed = Array::new();
    for row in rows {
        let fields = Array::new();
        push2(&fields, row.seq as f64, row.revision as f64);
        fields.push(&string_of(&row.text));
        changed.push(&fields);
    }
    changed
}

/// Returns the page of events that was read, as `[created, revision, fragments, hasOlder, first, last,
/// count, createTime, lastUpdateTime, initialState, …description]`. The ids of its first and last event
/// are `undefined` if it is empty, and `count` if it was not requested. Returns only the first two if no
/// event has the id of the page's end, and `undefined` if there is no session.
pub(super) fn page_to_javascript(rows: Rows<Fragments>) -> JsResult {
    let Rows { session: Some(row), events, edges, .. } = rows else {
        return Ok(JsValue::UNDEFINED);
    };
    let page = Array::new();
    push2(&page, row.head.created as f64, row.head.revision as f64);
    if let Some(PageEdges { first, last, has_older, count }) = edges {
        page.push(&events);
        page.push(&has_older.into());
        for id in [first, last] {
            page.push(&id.map_or(JsValue::UNDEFINED, |id| JsValue::from_str(&id)));
        }
        page.push(&count.map_or(JsValue::UNDEFINED, |count| JsValue::from_f64(count as f64)));
        push2(&page, row.head.create_time.as_millis(), row.head.last_update_time.as_millis());
        page.push(&row.description.initial_state.as_deref().into());
        push_description(&page, &row.description);
    }
    Ok(page.into())
}

/// Pushes the title, the labels and the parent, if there are any.
pub(super) fn push_description(session: &Array, description: &Description) {
    let Description { title, labels, parent, .. } = description;
    let members = [title, labels, parent];
    if members.iter().any(|member| member.is_some()) {
        for member in members {
            session.push(&member.as_deref().into());
        }
    }
}

pub(super) fn opened(head: SessionHead, state: &str, fragments: &Array) -> Array {
    Array::of5(
        &JsValue::from_f64(head.created as f64),
        &JsValue::from_f64(head.revision as f64),
        &JsValue::from_f64(head.last_update_time.as_millis()),
        &JsValue::from_str(state),
        fragments,
    )
}

/// Returns the JSON object of a user's or an app's state.
pub(super) fn state_to_javascript(row: Option<SharedRow>) -> JsResult {
    Ok(JsValue::from_str(&state_to_json(&row.unwrap_or_default().state)?))
}

/// Returns `[sessions, totalItems, shared]`.
///
/// - `sessions`: the storage's records; over memory, rows as `js_storage.rs` lays them out. The states
///   are the sessions' own: a merged text for each session would take more memory than there is.
/// - `shared`: the app's state, then pairs of a user's id and state. Keys have no prefix.
pub(super) fn listing_to_javascript((sessions, shared, total): (JsValue, Array, usize)) -> JsValue {
    Array::of3(&sessions, &JsValue::from_f64(total as f64), &shared).into()
}

// Several numbers in one call: a call into JavaScript costs more than the numbers.
#[wasm_bindgen]
extern "C" {
    /// Pushes two numbers.
    #[wasm_bindgen(js_namespace = ["Array", "prototype", "push"], js_name = call)]
    pub(super) fn push2(array: &Array, first: f64, second: f64);
    /// Makes an array of six numbers.
    #[wasm_bindgen(js_name = Array)]
    pub(super) fn array_of(
        first: f64,
        second: f64,
        third: f64,
        fourth: f64,
        fifth: f64,
        sixth: f64,
    ) -> Array;
}
