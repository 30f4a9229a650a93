//! Values on their way in and out.

use js_sys::Array;
use wasm_bindgen::{JsCast, JsValue};

use crate::bindings::object::{Field, Object};
use crate::service::{Appended, SessionPage, StoredSession};
use crate::storage::EventRow;
use crate::storage::chosen::ChosenText;

/// Texts cross in pieces of about this many bytes: one call an event costs more than the copy,
/// and one piece for all would make wasm's memory grow by the whole history, for good.
const PIECE: usize = 256 << 10;

/// JSON texts, each one event or several with commas between them.
fn fragments(texts: Vec<ChosenText>) -> Array {
    let fragments = Array::new();
    let mut piece = String::new();
    for text in texts {
        match text {
            ChosenText::Foreign(text) => {
                fragments.push(&text);
            }
            ChosenText::Memory(text) => {
                if piece.len() + text.len() > PIECE {
                    fragments.push(&JsValue::from_str(&piece));
                    piece.clear();
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

/// `[created, revision, lastUpdateTime, state, fragments]`
pub(super) fn session_to_javascript(session: StoredSession<ChosenText>) -> JsValue {
    let head = session.head;
    Array::of5(
        &JsValue::from_f64(head.created as f64),
        &JsValue::from_f64(head.revision as f64),
        &JsValue::from_f64(head.last_update_time),
        &JsValue::from_str(&session.state),
        &fragments(session.events),
    )
    .unchecked_into()
}

/// `[created, revision, lastUpdateTime, since]`, and behind them, where there is any to tell,
/// `unchanged`: positions, and `missed`: `[seq, revision, text]` each.
pub(super) fn appended_to_javascript(appended: Appended<ChosenText>) -> JsValue {
    let head = appended.head;
    let answer = Array::of4(
        &JsValue::from_f64(head.created as f64),
        &JsValue::from_f64(head.revision as f64),
        &JsValue::from_f64(head.last_update_time),
        &JsValue::from_f64(appended.since as f64),
    );
    if !appended.unchanged.is_empty() || !appended.missed.is_empty() {
        let unchanged = appended.unchanged.iter().map(|number| JsValue::from_f64(*number as f64));
        answer.push(&unchanged.collect::<Array>());
        answer.push(&appended.missed.into_iter().map(row_to_javascript).collect::<Array>());
    }
    answer.unchecked_into()
}

fn row_to_javascript(row: EventRow<ChosenText>) -> JsValue {
    Array::of3(
        &JsValue::from_f64(row.seq as f64),
        &JsValue::from_f64(row.revision as f64),
        &row.text.into(),
    )
    .unchecked_into()
}

/// `{sessions: [{sessionId, userId, created, revision, lastUpdateTime, state}], page, limit,
/// totalItems, totalPages}`
pub(super) fn page_to_javascript(page: SessionPage<ChosenText>) -> JsValue {
    let sessions = page.sessions.into_iter().map(|session| {
        Object::default()
            .text("sessionId", session.key.session_id)
            .text("userId", session.key.user_id)
            .number("created", session.head.created as f64)
            .number("revision", session.head.revision as f64)
            .number("lastUpdateTime", session.head.last_update_time)
            .text("state", session.state)
    });
    Object::default()
        .with("sessions", Field::Objects(sessions.collect()))
        .number("page", page.position.page as f64)
        .number("limit", page.position.limit as f64)
        .number("totalItems", page.total as f64)
        .number("totalPages", page.position.total_pages as f64)
        .into_javascript()
}
