//! The layout of a database: its stores and indexes.
//!
//! | store | key | what it holds |
//! |---|---|---|
//! | `sessions` | `[appName, userId, sessionId]` | a session without its events, with its `title` and the JSON of its `labels` and `parent` |
//! | `states` | `[appName]` or `[appName, userId]` | how many sessions an app or a user has, and the state, if there is any |
//! | `events` | `[number, seq]` | one event, or a page record of many; `seq` is the last one's |
//! | `meta` | a name | one record each: `sequence` and `creation` |
//!
//! In `meta`, `sequence` has the next session's number and the floor of revisions. `creation`
//! stands in a new database until someone has found out whether the browser lost an earlier one,
//! and until a lost one is filled again; see `creation_note.rs`.
//!
//! A session's events have its `number` in their keys, and no number is used twice. So a later
//! session with the same key never meets the events of an earlier one.
//!
//! A session's record has in `markers` the `seq`s of its markers; see
//! [`MarkerSeqs`](adk_session::write::MarkerSeqs). Sessions have few of them, so no index is needed.
//!
//! Sessions are counted as they are created and deleted. Counting 5,000 of them takes ten times as
//! long as reading a page of a list. The count is in the record of the state: a list needs both,
//! and this saves a request.
//!
//! # Versions
//! 1. A database of a higher version is refused with `storage_newer` and left untouched. Sessions
//!    leave it as session files.
//! 2. A database of a lower version is refused with `storage_failed` and left untouched. No published
//!    version has written one.
//! 3. An open connection closes as soon as another tab asks for another version, and opens again at
//!    its next call. A tab that does not close its connection blocks the other: `storage_blocked`.
//! 4. Packages of the same version may differ in what they store. Each leaves members that it does
//!    not know as they are. Event records are the exception: the page writer builds them from the
//!    known members, so a new member there needs a new version.

use adk_session::error::StorageProblem;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{IdbDatabase, IdbObjectStore, IdbTransaction};

use crate::indexed_db::records::failure::Failure;
use crate::indexed_db::records::keys::list;
use crate::object::JsObject;

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

/// Sessions of an app, by creation.
pub(crate) const BY_APP_CREATION: &str = "appCreation";
/// Sessions of a user, by creation.
pub(crate) const BY_USER_CREATION: &str = "userCreation";

/// The key in `meta` of the note that the database is new.
pub(crate) const CREATION: &str = "creation";

pub(crate) const VERSION: u32 = 4;

/// Creates the stores of a new database, in the upgrade that a request has begun. Fails if there is
/// an older database: the upgrade is then aborted, so the database stays as it was.
pub(crate) fn create(request: &JsObject, event: &JsObject) -> Result<(), Failure> {
    let version = event.count("oldVersion") as u64;
    if version > 0 {
        let advice =
            "an earlier build has written the database; call deleteDatabase: its layout is";
        return Err(Failure::of(StorageProblem::Failed, format!("{advice} {version}")));
    }
    let transaction: IdbTransaction = request.get("transaction").unchecked_into();
    let database: IdbDatabase = request.get("result").unchecked_into();
    // Only Chromium has this member; elsewhere it is undefined.
    let message = event.get("dataLossMessage");
    create_stores(&database)
        .and_then(|()| note_creation(&transaction, &message))
        .map_err(|thrown| Failure::of_creation(&thrown))
}

fn create_stores(database: &IdbDatabase) -> Result<(), JsValue> {
    let sessions = store(database, SESSIONS, &list(&["appName", "userId", "sessionId"]))?;
    for (name, path) in [
        (BY_APP, ["appName", "lastUpdateTime", "sessionId", "userId"]),
        (BY_USER, ["appName", "userId", "lastUpdateTime", "sessionId"]),
        (BY_APP_CREATION, ["appName", "createTime", "sessionId", "userId"]),
        (BY_USER_CREATION, ["appName", "userId", "createTime", "sessionId"]),
    ] {
        index(&sessions, name, &list(&path), &[])?;
    }

    let events = store(database, EVENTS, &list(&["number", "seq"]))?;
    index(&events, BY_ID, &"ids".into(), &["unique", "multiEntry"])?;
    index(&events, BY_TIME, &list(&["number", "time"]), &[])?;
    index(&events, BY_REPLACEMENT, &"replaced".into(), &[])?;

    for name in [STATES, META] {
        store(database, name, &"key".into())?;
    }
    Ok(())
}

fn store(database: &IdbDatabase, name: &str, path: &JsValue) -> Result<IdbObjectStore, JsValue> {
    let options = JsObject::empty();
    options.set("keyPath", path);
    database.create_object_store_with_optional_parameters(name, options.unchecked_ref())
}

fn index(
    store: &IdbObjectStore,
    name: &str,
    path: &JsValue,
    traits: &[&str],
) -> Result<(), JsValue> {
    let options = JsObject::empty();
    for name in traits {
        options.set(name, &JsValue::TRUE);
    }
    let options = options.unchecked_ref();
    store.create_index_with_str_sequence_and_optional_parameters(name, path, options).map(drop)
}

/// Notes in a new database that it is new, with the browser's message about the loss of an earlier
/// one. The note is part of the creation, so no tab finds a new database without it.
fn note_creation(transaction: &IdbTransaction, message: &JsValue) -> Result<(), JsValue> {
    let note = JsObject::empty();
    note.set_text("key", CREATION);
    note.set("message", message);
    transaction.object_store(META)?.put(&note).map(drop)
}
