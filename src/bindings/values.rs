//! Values on their way in and out.

use js_sys::Array;
use serde::Serialize;
use wasm_bindgen::{JsCast, JsValue};

use crate::error::Error;
use crate::service::{Appended, SessionPage, StoredSession};
use crate::storage::foreign::ForeignText;
use crate::storage::{EventRow, MemoryText};

/// Texts cross in pieces of about this many bytes: one call an event costs more than the copy,
/// and one piece for all would make wasm's memory grow by the whole history, for good.
const PIECE: usize = 256 << 10;

/// An event's text as it comes from JavaScript and goes back.
pub(super) trait CrossingText: Sized {
    fn from_javascript(text: JsValue) -> Result<Self, Error>;
    fn to_javascript(&self) -> JsValue;
    /// JSON texts, each one event or several with commas between them.
    fn to_fragments(texts: Vec<Self>) -> Array;
}

impl CrossingText for MemoryText {
    fn from_javascript(text: JsValue) -> Result<Self, Error> {
        let text = text.as_string().ok_or_else(|| Error::invalid("text", "must be a string"))?;
        Ok(Self::from(text))
    }

    fn to_javascript(&self) -> JsValue {
        self.with(JsValue::from_str)
    }

    fn to_fragments(texts: Vec<Self>) -> Array {
        let fragments = Array::new();
        let total: usize = texts.iter().map(|text| text.len() + 1).sum();
        let mut piece = String::with_capacity(total.min(PIECE + 4096));
        for text in texts {
            if !piece.is_empty() {
                if piece.len() + text.len() > PIECE {
                    fragments.push(&JsValue::from_str(&piece));
                    piece.clear();
                } else {
                    piece.push(',');
                }
            }
            text.with(|text| piece.push_str(text));
        }
        if !piece.is_empty() {
            fragments.push(&JsValue::from_str(&piece));
        }
        fragments
    }
}

impl CrossingText for ForeignText {
    fn from_javascript(text: JsValue) -> Result<Self, Error> {
        Ok(Self(text))
    }

    fn to_javascript(&self) -> JsValue {
        self.0.clone()
    }

    fn to_fragments(texts: Vec<Self>) -> Array {
        texts.into_iter().map(|text| text.0).collect()
    }
}

/// `[created, revision, lastUpdateTime, state, fragments]`
pub(super) fn session_to_javascript<T: CrossingText>(session: StoredSession<T>) -> JsValue {
    let head = session.head;
    Array::of5(
        &JsValue::from_f64(head.created as f64),
        &JsValue::from_f64(head.revision as f64),
        &JsValue::from_f64(head.last_update_time),
        &JsValue::from_str(&session.state),
        &T::to_fragments(session.events),
    )
    .unchecked_into()
}

/// `[created, revision, lastUpdateTime, since]`, and behind them, where there is any to tell,
/// `unchanged`: positions, and `missed`: `[seq, revision, text]` each.
pub(super) fn appended_to_javascript<T: CrossingText>(appended: Appended<T>) -> JsValue {
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
        answer.push(&appended.missed.iter().map(row_to_javascript).collect::<Array>());
    }
    answer.unchecked_into()
}

fn row_to_javascript<T: CrossingText>(row: &EventRow<T>) -> JsValue {
    Array::of3(
        &JsValue::from_f64(row.seq as f64),
        &JsValue::from_f64(row.revision as f64),
        &row.text.to_javascript(),
    )
    .unchecked_into()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PageOut {
    sessions: Vec<SessionOut>,
    page: usize,
    limit: usize,
    total_items: usize,
    total_pages: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SessionOut {
    session_id: String,
    user_id: String,
    created: f64,
    revision: f64,
    last_update_time: f64,
    state: String,
}

/// `{sessions: [{sessionId, userId, created, revision, lastUpdateTime, state}], page, limit,
/// totalItems, totalPages}`
pub(super) fn page_to_javascript<T>(page: SessionPage<T>) -> Result<JsValue, JsValue> {
    let sessions = page.sessions.into_iter().map(|session| SessionOut {
        session_id: session.key.session_id,
        user_id: session.key.user_id,
        created: session.head.created as f64,
        revision: session.head.revision as f64,
        last_update_time: session.head.last_update_time,
        state: session.state,
    });
    let page = PageOut {
        sessions: sessions.collect(),
        page: page.position.page,
        limit: page.position.limit,
        total_items: page.total,
        total_pages: page.position.total_pages,
    };
    Ok(serde_wasm_bindgen::to_value(&page)?)
}
