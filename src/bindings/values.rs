//! Values on their way in and out.

use js_sys::Array;
use wasm_bindgen::prelude::*;
use wasm_bindgen::{JsCast, JsValue};

use crate::event::EventText;
use crate::service::{Appended, StoredSession};
use crate::session::{Page, SessionHead, Window};
use crate::storage::answer::{ChosenListing, push2, push4};
use crate::storage::{ScopeRevisions, is_same_json};
use crate::write::Created;

/// Whether two JSON texts say the same.
#[wasm_bindgen]
pub fn same_json(one: &str, other: &str) -> bool {
    is_same_json(one, other)
}

/// Texts cross in pieces of about this many bytes: one call an event costs more than the copy,
/// and one piece for all would make wasm's memory grow by the whole history, for good.
const PIECE: usize = 256 << 10;

/// JSON texts, each one event or several with commas between them.
fn fragments(texts: Vec<EventText>) -> Array {
    let fragments = Array::new();
    let mut piece = String::new();
    for text in texts {
        match text {
            EventText::JavaScript(text) => {
                fragments.push(&text);
            }
            EventText::Rust(text) => {
                if !piece.is_empty() && piece.len() + text.len() > PIECE {
                    fragments.push(&JsValue::from_str(&piece));
                    piece.clear();
                }
                // To copy it would take as much memory again.
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

/// `[created, revision, lastUpdateTime, state, fragments]`; if the call created it and `tells`, the
/// revisions of the other states that changed follow.
pub(super) fn session_to_javascript(session: StoredSession, tells: bool) -> JsValue {
    let StoredSession { head, state, events, created, .. } = session;
    opened_to_javascript(head, &state, &fragments(events), created.filter(|_| tells))
}

/// The same for a session that was created just now.
pub(super) fn created_to_javascript((head, state, scopes): Created) -> JsValue {
    opened_to_javascript(head, &state, &Array::new(), Some(scopes))
}

fn opened_to_javascript(
    head: SessionHead,
    state: &str,
    fragments: &Array,
    scopes: Option<ScopeRevisions>,
) -> JsValue {
    let answer = Array::of5(
        &JsValue::from_f64(head.created as f64),
        &JsValue::from_f64(head.revision as f64),
        &JsValue::from_f64(head.last_update_time),
        &JsValue::from_str(state),
        fragments,
    );
    if let Some(scopes) = scopes {
        push_scopes(&answer, scopes);
    }
    answer.unchecked_into()
}

/// `[user, app]`: their new revisions; 0, which none has, for one that did not change.
pub(super) fn scopes_to_javascript(scopes: ScopeRevisions) -> JsValue {
    let answer = Array::new();
    push_scopes(&answer, scopes);
    answer.unchecked_into()
}

fn push_scopes(answer: &Array, ScopeRevisions { user, app }: ScopeRevisions) {
    push2(answer, user.unwrap_or_default() as f64, app.unwrap_or_default() as f64);
}

/// `[created, revision, lastUpdateTime, since]`, and behind them, where there is any to tell,
/// `unchanged`: `[position, revision]` each, `missed`: `[seq, revision, text]` each, the revisions of
/// the other states that changed, if it `tells`, and the state before the append, if it is needed.
pub(super) fn appended_to_javascript(appended: Appended, tells: bool) -> JsValue {
    let head = appended.head;
    let scopes = if tells { appended.scopes } else { ScopeRevisions::default() };
    let is_plain = appended.unchanged.is_empty()
        && appended.missed.is_empty()
        && scopes == ScopeRevisions::default();
    let answer = Array::new();
    let [created, revision, since] = [head.created, head.revision, appended.since];
    push4(&answer, created as f64, revision as f64, head.last_update_time, since as f64);
    if !is_plain {
        let (unchanged, missed) = (Array::new(), Array::new());
        for (position, revision) in appended.unchanged {
            let fields = Array::new();
            push2(&fields, position as f64, revision as f64);
            unchanged.push(&fields);
        }
        for row in appended.missed {
            let fields = Array::new();
            push2(&fields, row.seq as f64, row.revision as f64);
            fields.push(&row.text.into());
            missed.push(&fields);
        }
        answer.push(&unchanged);
        answer.push(&missed);
        push_scopes(&answer, scopes);
        if let Some(state) = appended.state {
            answer.push(&state.into());
        }
    }
    answer.unchecked_into()
}

/// What the numbers of a request for a page mean: `[offset, limit, page, items on a page, pages]`, where
/// `limit` is NaN without one, and the last two rest on the `total`.
#[wasm_bindgen]
pub fn page_numbers(
    limit: Option<f64>,
    offset: Option<f64>,
    page: Option<f64>,
    total: f64,
) -> Result<Vec<f64>, JsValue> {
    let page = Page::from_numbers(limit, offset, page)?;
    let position = page.position(total as usize);
    let limit = page.limit.map_or(f64::NAN, |limit| limit as f64);
    let [number, items, pages] = [position.page, position.limit, position.total_pages];
    Ok(vec![page.offset as f64, limit, number as f64, items as f64, pages as f64])
}

/// # Errors
/// `invalid_argument` for numbers that mean no window of a session's events.
#[wasm_bindgen]
pub fn check_window(last: Option<f64>, after: Option<f64>) -> Result<(), JsValue> {
    Window::from_numbers(last, after)?;
    Ok(())
}

/// `[sessions, page, limit, totalItems, totalPages, shared]`, as [`ChosenListing`] has them.
pub(super) fn listing_to_javascript(listing: ChosenListing, page: Page) -> JsValue {
    let ChosenListing { sessions, shared, total } = listing;
    let position = page.position(total);
    let answer = Array::of1(&sessions);
    let numbers = [position.page, position.limit, total, position.total_pages];
    let [page, limit, total, pages] = numbers.map(|number| number as f64);
    push4(&answer, page, limit, total, pages);
    answer.push(&shared);
    answer.into()
}
