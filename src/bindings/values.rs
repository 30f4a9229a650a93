//! Converts results to JavaScript, and checks numbers of requests.

use js_sys::Array;
use wasm_bindgen::prelude::*;
use wasm_bindgen::{JsCast, JsValue};

use crate::event::EventText;
use crate::service::{Appended, StoredSession};
use crate::session::{Page, SessionHead, Window};
use crate::storage::answer::{ChosenListing, push2, push4};
use crate::storage::{ScopeRevisions, is_same_json};
use crate::write::Created;

/// Whether two JSON texts are equal as JSON values.
#[wasm_bindgen]
pub fn same_json(one: &str, other: &str) -> bool {
    is_same_json(one, other)
}

/// About how many bytes of text cross at once. One call for each event costs more than the copy.
/// One piece for all would grow wasm memory by the whole history, and wasm memory never shrinks.
const PIECE: usize = 256 << 10;

/// Returns JSON texts, each of one event or of several with commas between them.
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

/// Returns `[created, revision, lastUpdateTime, state, fragments]`. If the call created the session
/// and `tells` is set, the new revisions of user and app state follow.
pub(super) fn session_to_javascript(session: StoredSession, tells: bool) -> JsValue {
    let StoredSession { head, state, events, created, .. } = session;
    opened_to_javascript(head, &state, &fragments(events), created.filter(|_| tells))
}

/// Returns the same list for a session that was just created.
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

/// Returns the new revisions `[user, app]`; 0, which no state has, for an unchanged state.
pub(super) fn scopes_to_javascript(scopes: ScopeRevisions) -> JsValue {
    let answer = Array::new();
    push_scopes(&answer, scopes);
    answer.unchecked_into()
}

fn push_scopes(answer: &Array, ScopeRevisions { user, app }: ScopeRevisions) {
    push2(answer, user.unwrap_or_default() as f64, app.unwrap_or_default() as f64);
}

/// Returns `[created, revision, lastUpdateTime, since]`. If there is more, these follow:
/// `unchanged` with `[position, revision]` each, and `missed` with `[seq, revision, text]` each.
/// Then come the new revisions of user and app state (0 unless `tells`), and the state before the
/// append if it is needed.
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

/// Converts the numbers of a page request to `[offset, limit, page, items on a page, pages]`.
/// `limit` is NaN if there is none. The last two depend on the `total`.
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
/// Fails with `invalid_argument` if the numbers are no valid window of a session's events.
#[wasm_bindgen]
pub fn check_window(last: Option<f64>, after: Option<f64>) -> Result<(), JsValue> {
    Window::from_numbers(last, after)?;
    Ok(())
}

/// Returns `[sessions, page, limit, totalItems, totalPages, shared]`, as in [`ChosenListing`].
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
