//! Lists of sessions, by an index in which they stand in the list's order.

use js_sys::{Array, Reflect};
use wasm_bindgen::prelude::*;
use web_sys::{IdbCursor, IdbCursorDirection, IdbIndex, IdbKeyRange, IdbRequest};

use crate::session::Page;
use crate::storage::indexed_db::access::Access;
use crate::storage::indexed_db::failure::Failure;
use crate::storage::indexed_db::keys;
use crate::storage::indexed_db::reading::scope;
use crate::storage::indexed_db::record::{Record, SessionRecord};
use crate::storage::indexed_db::schema::{BY_APP, BY_USER, COUNTS, SESSIONS, STATES};
use crate::storage::indexed_db::sequence::Counts;
use crate::storage::indexed_db::transaction::{Mode, Transaction, result};
use crate::storage::{ListRequest, Listing, SessionRow};

/// Reads a page of sessions, with the states that their readers see.
pub(super) async fn list(access: &Access, request: &ListRequest) -> Result<Listing, Failure> {
    access.twice(|| Box::pin(list_once(access, request))).await
}

async fn list_once(access: &Access, request: &ListRequest) -> Result<Listing, Failure> {
    let ListRequest { app_name, user_id, .. } = request;
    let transaction = access.begin(&[SESSIONS, STATES, COUNTS], Mode::Read).await?;
    let mut counts = Counts::default();
    counts.ask_of(&transaction, app_name, user_id.as_deref())?;
    let states = transaction.store(STATES)?;
    let state_of =
        |user_id: Option<&str>| transaction.asked(states.get(&keys::scope(app_name, user_id)));
    let app = state_of(None)?;
    let mut users: Vec<(String, IdbRequest)> = Vec::new();
    if let Some(user_id) = user_id {
        users.push((user_id.clone(), state_of(Some(user_id))?));
    }
    let records = records(&transaction, request).await?;
    counts.read()?;

    let mut sessions = Vec::with_capacity(records.len());
    for record in records {
        let record = SessionRecord::read(record)?;
        let state = record.state()?;
        let user = &record.key.user_id;
        if users.iter().all(|(known, _)| known != user) {
            users.push((user.clone(), state_of(Some(user))?));
        }
        sessions.push(SessionRow { key: record.key, head: record.head, state });
    }
    transaction.answered().await?;
    let mut states = Vec::with_capacity(users.len());
    for (user_id, request) in users {
        states.extend(scope(&request)?.map(|row| (user_id, row)));
    }
    if sessions.is_empty() {
        states.clear();
    }
    let total = counts.of(app_name, user_id.as_deref());
    Ok(Listing { sessions, users: states, app: scope(&app)?, total })
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(extends = IdbIndex)]
    type Directed;

    /// With options, which web-sys does not know yet.
    #[wasm_bindgen(method, catch, js_name = getAll)]
    fn get_all_by(this: &Directed, options: &Record) -> Result<IdbRequest, JsValue>;
}

/// The records of the page, in its order.
async fn records(
    transaction: &Transaction,
    ListRequest { app_name, user_id, descending, page }: &ListRequest,
) -> Result<Vec<Record>, Failure> {
    let Page { offset, limit } = *page;
    if limit == Some(0) {
        transaction.answered().await?;
        return Ok(Vec::new());
    }
    let throws = |thrown| Failure::of_transaction(&thrown);
    let index = transaction.index(SESSIONS, if user_id.is_some() { BY_USER } else { BY_APP })?;
    let range = keys::within(&keys::scope(app_name, user_id.as_deref())).map_err(throws)?;
    let end = limit.and_then(|limit| u32::try_from(offset.saturating_add(limit)).ok());
    // Came together with `getAll`'s options, which an engine without them would take for a key.
    let has_directions = Reflect::has(&index, &"getAllRecords".into()).unwrap_or(false);
    let mut is_reversed = false;
    let request = match (*descending, end) {
        (true, Some(end)) if has_directions => {
            is_reversed = true;
            let options = Record::empty();
            options.set("query", &range);
            options.set_number("count", f64::from(end));
            options.set_text("direction", "prev");
            index.unchecked_ref::<Directed>().get_all_by(&options)
        }
        (true, Some(end)) => {
            let range = last_keys(transaction, &index, range, end).await?;
            index.get_all_with_key(&range)
        }
        (false, Some(end)) => index.get_all_with_key_and_limit(&range, end),
        (_, None) => index.get_all_with_key(&range),
    };
    let request = transaction.asked(request)?;
    transaction.answered().await?;
    let mut records: Vec<Record> =
        Array::from(&result(&request)?).iter().filter_map(Record::found).collect();
    if *descending && !is_reversed {
        records.reverse();
    }
    records.drain(..offset.min(records.len()));
    records.truncate(limit.unwrap_or(usize::MAX));
    Ok(records)
}

/// The part of the range that holds its last so many keys: a cursor that jumps there.
async fn last_keys(
    transaction: &Transaction,
    index: &IdbIndex,
    range: IdbKeyRange,
    count: u32,
) -> Result<IdbKeyRange, Failure> {
    let throws = |thrown| Failure::of_transaction(&thrown);
    let direction = IdbCursorDirection::Prev;
    let request =
        transaction.asked(index.open_key_cursor_with_range_and_direction(&range, direction))?;
    transaction.answered().await?;
    let cursor = result(&request)?;
    if cursor.is_object() && count > 1 {
        cursor.unchecked_ref::<IdbCursor>().advance(count - 1).map_err(throws)?;
        // It answers again.
        transaction.asked(Ok(request.clone()))?;
        transaction.answered().await?;
    }
    let cursor = result(&request)?;
    if !cursor.is_object() {
        return Ok(range);
    }
    let first = cursor.unchecked_ref::<IdbCursor>().key().map_err(throws)?;
    IdbKeyRange::bound(&first, &range.upper().map_err(throws)?).map_err(throws)
}
