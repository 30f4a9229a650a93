//! Lists sessions by an index in the list's order.

use adk_session::internals::NameMap;
use adk_session::read::{ListOrder, ListQuery, Listing};
use adk_session::storage::Call;
use js_sys::{Array, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{IdbCursor, IdbCursorDirection, IdbIndex};

use crate::indexed_db::connection::access::Access;
use crate::indexed_db::connection::transaction::{Mode, Source, Transaction};
use crate::indexed_db::records::failure::Failure;
use crate::indexed_db::records::keys;
use crate::indexed_db::records::record::is_counter;
use crate::indexed_db::records::schema::{
    BY_APP, BY_APP_CREATION, BY_USER, BY_USER_CREATION, SESSIONS, STATES,
};
use crate::object::JsObject;

/// Reads the page of sessions, and the rows of the app and of the sessions' users.
pub(super) async fn list(
    access: &Access,
    request: &ListQuery,
    call: &dyn Call,
) -> Result<ListedRecords, Failure> {
    access.run_with_retries(call, || list_once(access, request)).await
}

/// The records of a list.
pub(super) struct ListedRecords {
    sessions: Array,
    app: Option<JsObject>,
    /// With their ids.
    users: Vec<(String, JsObject)>,
    total: usize,
}

impl ListedRecords {
    pub(super) fn listing(self) -> Result<Listing, Failure> {
        let app = self.app.as_ref().map(JsObject::shared_row).transpose()?.flatten();
        let (mut sessions, mut users) = (Vec::new(), Vec::new());
        for record in self.sessions.iter().filter_map(JsObject::found) {
            sessions.push(record.session_row()?);
        }
        for (user_id, record) in self.users {
            users.extend(record.shared_row()?.map(|row| (user_id, row)));
        }
        Ok(Listing { sessions, users, app, total: self.total })
    }

    /// Converts the list for a reader in JavaScript. No state enters the wasm, which might have no room for all
    /// of them.
    #[cfg(feature = "bindings")]
    pub(super) fn texts(self) -> Result<ListedTexts, Failure> {
        let Self { sessions, app, users: rows, total } = self;
        let app = app.as_ref().map(state_text).transpose()?.unwrap_or_default();
        let users = Array::new();
        for (user_id, record) in rows {
            let state = state_text(&record)?;
            if !state.is_undefined() {
                users.push(&Array::of2(&user_id.into(), &state));
            }
        }
        Ok(ListedTexts { sessions, app, users, total })
    }
}

/// A list for a reader in JavaScript.
#[cfg(feature = "bindings")]
pub(crate) struct ListedTexts {
    /// The records.
    pub(crate) sessions: Array,
    /// The JSON of the app's state; `undefined` if it has none.
    pub(crate) app: JsValue,
    /// Pairs of a user's id and the JSON of its state.
    pub(crate) users: Array,
    pub(crate) total: usize,
}

/// Returns the JSON of the record's state; `undefined` if it has none.
#[cfg(feature = "bindings")]
fn state_text(record: &JsObject) -> Result<JsValue, Failure> {
    if !record.has_state() {
        return Ok(JsValue::UNDEFINED);
    }
    record.shared_revision()?;
    let state = record.get("state");
    if state.is_string() { Ok(state) } else { Err(record.damaged("it is damaged")) }
}

/// Returns the users of some sessions, each once.
fn users_of(page: &Array) -> Vec<String> {
    let mut seen = NameMap::<()>::default();
    let mut users = Vec::new();
    for record in page.iter().filter_map(JsObject::found) {
        let user_id = record.text("userId");
        if seen.add(&user_id, ()) {
            users.push(user_id);
        }
    }
    users
}

async fn list_once(access: &Access, request: &ListQuery) -> Result<ListedRecords, Failure> {
    let ListQuery { app_name, user_id, order, after, offset, limit, .. } = request;
    let (ListOrder { descending, .. }, offset, limit) = (order, *offset, *limit);
    let owner = keys::owner(app_name, user_id.as_deref());
    let transaction = access.begin(Mode::Read, &[SESSIONS, STATES]).await?;
    let index = index_of(&transaction, request)?;
    let end = limit.and_then(|limit| u32::try_from(offset.saturating_add(limit)).ok());
    // `getAll` reads 0 as no limit.
    let end = end.map(|end| end.max(1));
    // Browsers added this method together with `getAll`'s options. A browser without them would read
    // the options as a key.
    let has_directions = Reflect::has(&index, &"getAllRecords".into()).unwrap_or(false);
    let mut range = keys::listed(&owner, after.as_ref(), *descending);
    if let Some(end) = end.filter(|_| *descending && !has_directions) {
        range = last_keys(&transaction, &index, range, end).await?;
    }
    transaction.get(STATES, &keys::owner(app_name, None));
    if user_id.is_some() {
        transaction.get(STATES, &owner);
    }
    let is_reversed = *descending && has_directions && end.is_some();
    let source: &Source = index.unchecked_ref();
    transaction.ask(match end {
        Some(end) if is_reversed => {
            let options = JsObject::empty();
            options.set("query", &range);
            options.set_number("count", f64::from(end));
            options.set_text("direction", "prev");
            source.get_all(&options, None)
        }
        end => source.get_all(&range, end.filter(|_| !*descending)),
    });
    let read = transaction.results().await?;
    let mut sessions: Array = read.pop().unchecked_into();
    if *descending && !is_reversed {
        sessions = sessions.reverse();
    }
    let end = limit.map_or(usize::MAX, |limit| offset.saturating_add(limit));
    let sessions = sessions.slice(offset as u32, end as u32);
    let (app, stored) = (JsObject::stored(read.get(0)), JsObject::stored(read.pop()));
    let is_whole = offset == 0 && limit.is_none() && after.is_none();
    let listed = is_whole.then(|| sessions.length());
    let total = count_of(&transaction, &owner, stored.as_ref(), listed).await? as usize;
    let users = match user_id {
        Some(user_id) => stored.map(|row| (user_id.clone(), row)).into_iter().collect(),
        None => rows_of(&transaction, app_name, users_of(&sessions)).await?,
    };
    Ok(ListedRecords { sessions, app, users, total })
}

/// Reads the rows of users; those that have none are left out.
async fn rows_of(
    transaction: &Transaction,
    app_name: &str,
    users: Vec<String>,
) -> Result<Vec<(String, JsObject)>, Failure> {
    for user_id in &users {
        transaction.get(STATES, &keys::owner(app_name, Some(user_id)));
    }
    let results = transaction.results().await?;
    let rows = users.into_iter().zip(results.iter());
    Ok(rows.filter_map(|(user_id, row)| JsObject::stored(row).map(|row| (user_id, row))).collect())
}

/// Returns the index whose order is that of the list.
fn index_of(transaction: &Transaction, request: &ListQuery) -> Result<IdbIndex, Failure> {
    let name = match (&request.user_id, request.order.by_creation) {
        (None, false) => BY_APP,
        (None, true) => BY_APP_CREATION,
        (Some(_), false) => BY_USER,
        (Some(_), true) => BY_USER_CREATION,
    };
    transaction.index(SESSIONS, name).map_err(|thrown| Failure::of_transaction(&thrown))
}

/// Returns the number of the owner's sessions. It is counted again if its record has it wrong.
///
/// A session with a damaged time is in no index. If all sessions are listed (`listed` is their
/// number), it fails with `corrupt_record`.
async fn count_of(
    transaction: &Transaction,
    owner: &JsValue,
    stored: Option<&JsObject>,
    listed: Option<u32>,
) -> Result<f64, Failure> {
    let count = stored.map_or(JsValue::UNDEFINED, |record| record.get("sessions"));
    let number = count.as_f64();
    let is_right = match listed {
        Some(listed) => number.unwrap_or_default() == f64::from(listed),
        None => count.is_undefined() || number.is_some_and(is_counter),
    };
    if is_right {
        return Ok(number.unwrap_or_default());
    }
    transaction.get_all(SESSIONS, &keys::within(owner), None);
    let sessions: Array = transaction.results().await?.pop().unchecked_into();
    if listed.is_some() {
        for session in sessions.iter().filter_map(JsObject::found) {
            session.head()?;
        }
    }
    Ok(f64::from(sessions.length()))
}

/// Returns the part of the range that holds its last `count` keys, found by a cursor that jumps
/// there.
async fn last_keys(
    transaction: &Transaction,
    index: &IdbIndex,
    range: JsValue,
    count: u32,
) -> Result<JsValue, Failure> {
    let direction = IdbCursorDirection::Prev;
    let opened = index.open_key_cursor_with_range_and_direction(&range, direction);
    transaction.ask(opened.clone());
    let cursor = transaction.results().await?.get(0);
    if !cursor.is_object() {
        return Ok(range);
    }
    let cursor: JsObject = cursor.unchecked_into();
    if count > 1 {
        // The same request succeeds again.
        transaction.ask(cursor.unchecked_ref::<IdbCursor>().advance(count - 1).and(opened));
        if !transaction.results().await?.get(0).is_object() {
            return Ok(range);
        }
    }
    let upper = range.unchecked_ref::<JsObject>().get("upper");
    Ok(keys::half_open(&cursor.get("key"), &upper, true))
}
