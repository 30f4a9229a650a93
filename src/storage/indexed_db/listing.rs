//! Lists of sessions, by an index in which they stand in the list's order.

use js_sys::{Array, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{IdbCursor, IdbCursorDirection, IdbIndex};

use crate::session::Page;
use crate::storage::indexed_db::access::Access;
use crate::storage::indexed_db::failure::Failure;
use crate::storage::indexed_db::keys;
use crate::storage::indexed_db::record::Record;
use crate::storage::indexed_db::schema::{BY_APP, BY_USER, COUNTS, SESSIONS, STATES};
use crate::storage::indexed_db::transaction::{Source, Transaction};
use crate::storage::{ListRequest, Listing};

/// Where the sessions stand in what is read.
const PAGE: u32 = 2;

/// Reads how many sessions there are, the state of the app, a page of sessions, and the states of
/// their users: a list for [`listing`].
pub(super) async fn list(access: &Access, request: &ListRequest) -> Result<JsValue, Failure> {
    access.twice(&|| Box::pin(list_once(access, request))).await
}

/// What [`list`] has read.
pub(super) fn listing(read: &JsValue) -> Result<Listing, Failure> {
    let read: &Array = read.unchecked_ref();
    let page: Array = read.get(PAGE).unchecked_into();
    let mut sessions = Vec::new();
    for record in page.iter().filter_map(Record::found) {
        sessions.push(record.session_row()?);
    }
    let mut users = Vec::new();
    for (user_id, index) in users_of(&page).into_iter().zip(PAGE + 1..) {
        if let Some(record) = Record::found(read.get(index)) {
            users.push((user_id, record.scope_row()?));
        }
    }
    let total = Record::found(read.get(0)).map_or(0.0, |record| record.count("sessions")) as usize;
    let app = Record::found(read.get(1));
    let app = app.as_ref().map(Record::scope_row).transpose()?;
    Ok(Listing { sessions, users, app, total })
}

/// The users of some sessions, each once.
fn users_of(page: &Array) -> Vec<String> {
    let mut users = Vec::new();
    for record in page.iter().filter_map(Record::found) {
        let user_id = record.text("userId");
        if !users.contains(&user_id) {
            users.push(user_id);
        }
    }
    users
}

async fn list_once(access: &Access, request: &ListRequest) -> Result<JsValue, Failure> {
    let ListRequest { app_name, user_id, descending, page } = request;
    let owner = keys::scope(app_name, user_id.as_deref());
    let transaction = access.read(&keys::list(&[SESSIONS, STATES, COUNTS])).await?;
    let index = transaction.index(SESSIONS, if user_id.is_some() { BY_USER } else { BY_APP });
    let index = index.map_err(|thrown| Failure::of_transaction(&thrown))?;
    let Page { offset, limit } = *page;
    let end = limit.and_then(|limit| u32::try_from(offset.saturating_add(limit)).ok());
    // `getAll` takes 0 for no limit.
    let end = end.map(|end| end.max(1));
    // Came together with `getAll`'s options, which an engine without them would take for a key.
    let has_directions = Reflect::has(&index, &"getAllRecords".into()).unwrap_or(false);
    let mut range = keys::within(&owner);
    if let Some(end) = end.filter(|_| *descending && !has_directions) {
        range = last_keys(&transaction, &index, range, end).await?;
    }
    transaction.get(COUNTS, &owner);
    transaction.get(STATES, &keys::scope(app_name, None));
    let is_reversed = *descending && has_directions && end.is_some();
    let source: &Source = index.unchecked_ref();
    transaction.ask(match end {
        Some(end) if is_reversed => {
            let options = Record::empty();
            options.set("query", &range);
            options.set_number("count", f64::from(end));
            options.set_text("direction", "prev");
            source.get_all(&options, None)
        }
        end => source.get_all(&range, end.filter(|_| !*descending)),
    });
    if user_id.is_some() {
        transaction.get(STATES, &owner);
    }
    let read = transaction.answered().await?;
    let mut sessions: Array = read.get(PAGE).unchecked_into();
    if *descending && !is_reversed {
        sessions = sessions.reverse();
    }
    let end = limit.map_or(usize::MAX, |limit| offset.saturating_add(limit));
    let sessions = sessions.slice(offset as u32, end as u32);
    read.set(PAGE, sessions.clone().into());
    if user_id.is_some() {
        return Ok(read.into());
    }
    for user_id in users_of(&sessions) {
        transaction.get(STATES, &keys::scope(app_name, Some(&user_id)));
    }
    Ok(read.concat(&transaction.answered().await?).into())
}

/// The part of the range that holds its last so many keys: a cursor that jumps there.
async fn last_keys(
    transaction: &Transaction,
    index: &IdbIndex,
    range: JsValue,
    count: u32,
) -> Result<JsValue, Failure> {
    let direction = IdbCursorDirection::Prev;
    let opened = index.open_key_cursor_with_range_and_direction(&range, direction);
    transaction.ask(opened.clone());
    let cursor = transaction.answered().await?.get(0);
    if !cursor.is_object() {
        return Ok(range);
    }
    let cursor: Record = cursor.unchecked_into();
    if count > 1 {
        // It answers again.
        transaction.ask(cursor.unchecked_ref::<IdbCursor>().advance(count - 1).and(opened));
        if !transaction.answered().await?.get(0).is_object() {
            return Ok(range);
        }
    }
    Ok(keys::between(&cursor.get("key"), &range.unchecked_ref::<Record>().get("upper")))
}
