//! Values on their way in and out.

use js_sys::Array;
use wasm_bindgen::{JsCast, JsValue};

use crate::service::{Appended, SessionPage, StoredSession, merged};
use crate::session::{Page, PagePosition, SessionKey};
use crate::state::ScopedState;
use crate::storage::chosen::{ChosenListing, ChosenText};
use crate::storage::foreign::push_numbers;
use crate::storage::{Listing, ScopeRevisions};

/// Texts cross in pieces of about this many bytes: one call an event costs more than the copy,
/// and one piece for all would make wasm's memory grow by the whole history, for good.
const PIECE: usize = 256 << 10;

/// JSON texts, each one event or several with commas between them.
fn fragments(texts: Vec<ChosenText>) -> Array {
    let fragments = Array::new();
    let mut piece = String::new();
    for text in texts {
        match text {
            ChosenText::JavaScript(text) => {
                fragments.push(text.as_ref());
            }
            ChosenText::Memory(text) => {
                if !piece.is_empty() && piece.len() + text.len() > PIECE {
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

/// `[created, revision, lastUpdateTime, state, fragments]`; if the call created it and `tells`, the
/// revisions of the other states that changed follow.
pub(super) fn session_to_javascript(session: StoredSession<ChosenText>, tells: bool) -> JsValue {
    let head = session.head;
    let answer = Array::of5(
        &JsValue::from_f64(head.created as f64),
        &JsValue::from_f64(head.revision as f64),
        &JsValue::from_f64(head.last_update_time),
        &JsValue::from_str(&session.state),
        &fragments(session.events),
    );
    if let Some(scopes) = session.created.filter(|_| tells) {
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
    push_numbers(answer, &[user.unwrap_or_default() as f64, app.unwrap_or_default() as f64]);
}

/// `[created, revision, lastUpdateTime, since]`, and behind them, where there is any to tell,
/// `unchanged`: positions, `missed`: `[seq, revision, text]` each, and the revisions of the other
/// states that changed, if it `tells`.
pub(super) fn appended_to_javascript(appended: Appended<ChosenText>, tells: bool) -> JsValue {
    let head = appended.head;
    let scopes = if tells { appended.scopes } else { ScopeRevisions::default() };
    let is_plain = appended.unchanged.is_empty()
        && appended.missed.is_empty()
        && scopes == ScopeRevisions::default();
    let answer = Array::of4(
        &JsValue::from_f64(head.created as f64),
        &JsValue::from_f64(head.revision as f64),
        &JsValue::from_f64(head.last_update_time),
        &JsValue::from_f64(appended.since as f64),
    );
    if !is_plain {
        let (unchanged, missed) = (Array::new(), Array::new());
        for position in appended.unchanged {
            push_numbers(&unchanged, &[position as f64]);
        }
        for row in appended.missed {
            let fields = Array::new();
            push_numbers(&fields, &[row.seq as f64, row.revision as f64]);
            fields.push(&row.text.into());
            missed.push(&fields);
        }
        answer.push(&unchanged);
        answer.push(&missed);
        push_scopes(&answer, scopes);
    }
    answer.unchecked_into()
}

/// `[sessions, page, limit, totalItems, totalPages]`, each session `[sessionId, userId, created,
/// revision, lastUpdateTime, state]`. Arrays: a page may have thousands of rows.
///
/// Where the sessions are stored records, what their users see beside a session's own state follows:
/// the JSON object of a user without a state, then pairs of a user's id and the one of that user.
pub(super) fn listing_to_javascript(listing: ChosenListing, page: Page) -> JsValue {
    match listing {
        ChosenListing::Rows(listing) => {
            let SessionPage { sessions: listed, position, total } = SessionPage::of(listing, page);
            let sessions = Array::new();
            for session in listed {
                sessions.push(&row_to_javascript(session));
            }
            page_to_javascript(&sessions, position, total).into()
        }
        ChosenListing::Records(Listing { sessions, users, app, total }) => {
            let answer = page_to_javascript(&sessions, page.position(total), total);
            let app = app.as_ref().map(|app| &app.state);
            let shared = |user| JsValue::from(merged(&ScopedState::default(), user, app));
            answer.push(&shared(None));
            for (user_id, user) in &users {
                answer.push(&user_id.into());
                answer.push(&shared(Some(&user.state)));
            }
            answer.into()
        }
    }
}

fn page_to_javascript(sessions: &JsValue, position: PagePosition, total: usize) -> Array {
    let answer = Array::of1(sessions);
    let numbers = [position.page, position.limit, total, position.total_pages];
    push_numbers(&answer, &numbers.map(|number| number as f64));
    answer
}

fn row_to_javascript(session: StoredSession<ChosenText>) -> Array {
    let SessionKey { session_id, user_id, .. } = session.key;
    let row = Array::of2(&session_id.into(), &user_id.into());
    let head = session.head;
    push_numbers(&row, &[head.created as f64, head.revision as f64, head.last_update_time]);
    row.push(&session.state.into());
    row
}
