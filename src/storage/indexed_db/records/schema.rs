//! The stores and indexes, and the steps between versions of a database.
//!
//! | store | key | what it holds |
//! |---|---|---|
//! | `sessions` | `[appName, userId, sessionId]` | a session without its events |
//! | `states` | `[appName]` or `[appName, userId]` | how many sessions an app or a user has, and the state, if there is any |
//! | `events` | `[number, seq]` | one event, or a sealed page of many; `seq` is the last one's |
//! | `meta` | `"sequence"` | the next session's number, and the floor of revisions |
//!
//! A session's events have its `number` in their keys, and no number is used twice. So a later
//! session with the same key never meets the events of an earlier one.
//!
//! Sessions are counted as they are created and deleted. Counting 5,000 of them takes ten times as
//! long as reading a page of a list. The count is in the record of the state: a list needs both,
//! and this saves a request.

use wasm_bindgen::{JsCast, JsValue};
use web_sys::{IdbDatabase, IdbObjectStore, IdbTransaction};

use crate::storage::indexed_db::records::keys::list;
use crate::storage::indexed_db::records::object::Record;

pub(crate) const SESSIONS: &str = "sessions";
pub(crate) const STATES: &str = "states";
pub(crate) const EVENTS: &str = "events";
pub(crate) const META: &str = "meta";

/// Sessions of an app, by last update.
pub(crate) const BY_APP: &str = "app";
/// Sessions of a user, by last update.
pub(crate) const BY_USER: &str = "user";
/// Events by `"number/id"`: unique, so that no event can be stored twice.
pub(crate) const BY_ID: &str = "id";
/// Events by the largest timestamp in their record.
pub(crate) const BY_TIME: &str = "time";
/// Records that hold a replaced event, by the revision of the last replacement; no others.
pub(crate) const BY_REPLACEMENT: &str = "replaced";

/// Brings a database from one version to the next. It may read and write anything through the
/// transaction. If it fails, the database stays as it was.
pub type Step = fn(&IdbDatabase, &IdbTransaction) -> Result<(), JsValue>;

/// The steps; the database's version is their number. A released step never changes.
pub(crate) const STEPS: &[Step] = &[create_stores];

fn create_stores(database: &IdbDatabase, _: &IdbTransaction) -> Result<(), JsValue> {
    let store = |name, path: &JsValue| {
        let options = Record::empty();
        options.set("keyPath", path);
        database.create_object_store_with_optional_parameters(name, options.unchecked_ref())
    };
    let index = |store: &IdbObjectStore, name, path: &JsValue, options: &Record| {
        let options = options.unchecked_ref();
        store.create_index_with_str_sequence_and_optional_parameters(name, path, options).map(drop)
    };
    let plain = Record::empty();
    let sessions = store(SESSIONS, &list(&["appName", "userId", "sessionId"]))?;
    let by_time = list(&["appName", "lastUpdateTime", "sessionId", "userId"]);
    index(&sessions, BY_APP, &by_time, &plain)?;
    let by_time = list(&["appName", "userId", "lastUpdateTime", "sessionId"]);
    index(&sessions, BY_USER, &by_time, &plain)?;

    let events = store(EVENTS, &list(&["number", "seq"]))?;
    let unique = Record::empty();
    unique.set("unique", &JsValue::TRUE);
    unique.set("multiEntry", &JsValue::TRUE);
    index(&events, BY_ID, &"ids".into(), &unique)?;
    index(&events, BY_TIME, &list(&["number", "time"]), &plain)?;
    index(&events, BY_REPLACEMENT, &"replaced".into(), &plain)?;

    for name in [STATES, META] {
        store(name, &JsValue::from_str("key"))?;
    }
    Ok(())
}
