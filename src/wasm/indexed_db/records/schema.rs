//! The layout of a database: its stores and indexes, and the steps from version to version.
//!
//! | store | key | what it holds |
//! |---|---|---|
//! | `sessions` | `[appName, userId, sessionId]` | a session without its events, with its `title` and the JSON of its `labels` |
//! | `states` | `[appName]` or `[appName, userId]` | how many sessions an app or a user has, and the state, if there is any |
//! | `events` | `[number, seq]` | one event, or a sealed page of many; `seq` is the last one's |
//! | `meta` | a name | one record each: `sequence`, `createTimes`, `creation`, `mirror` |
//! | `details` | `[number, kind, id]` | what belongs to a session beside its events: the kind `terms`, by which lists find it |
//! | `outbox` | `[appName, userId, sessionId, position]` | reserved: operations that a server has not confirmed |
//! | `leases` | a name | reserved: which tab may do something, and until when |
//!
//! `meta` holds four records. `sequence` has the next session's number and the floor of revisions.
//! `createTimes` notes that all sessions have a `createTime`. `creation` stands in a new database
//! until someone has found out whether the browser lost an earlier one, and until a lost one is
//! filled again. `mirror` is the mark of the mirror. The last three are read and written in
//! JavaScript, by `js/indexed_db/layout.ts`.
//!
//! A session's events have its `number` in their keys, and no number is used twice. So a later
//! session with the same key never meets the events of an earlier one.
//!
//! Sessions are counted as they are created and deleted. Counting 5,000 of them takes ten times as
//! long as reading a page of a list. The count is in the record of the state: a list needs both,
//! and this saves a request.
//!
//! # What is reserved
//! Version 2 has the stores and indexes of what is planned, so that one upgrade is enough.
//!
//! | planned | place |
//! |---|---|
//! | pages of events by position | the key `[number, seq]`; index `id` finds an event, and counts those of a session |
//! | initial state, usage, pending requests, drafts | records in `details`, each of its own `kind` |
//! | base of the remote, of a session or a scope | `details`; number 0 for the records of no session |
//! | eviction of what was unused for longest | a term of the base |
//! | outbox, in order within a session | `outbox` |
//! | owner of a cache | a database for each owner |
//!
//! # Terms
//! A session with a title or labels has a record of the kind `terms` in `details`. Its `id` is the
//! key of the session. Each member of its `terms` is in the index `term`: `[app, word or label]`.
//! A write of a title or labels puts `"stale"` there. The next list with a filter computes the
//! terms, in `js/indexed_db/terms.ts`. The record of number 0 notes that no session lacks one.
//!
//! Sessions of version 1 have no `createTime`, so they are not in `appCreation` and `userCreation`.
//! It is the smaller one of `number` and `lastUpdateTime`. The first list by creation writes it, in
//! `js/indexed_db/create_times.ts`.
//!
//! # Rules of an upgrade
//! 1. The version of a database is the number of its steps. A released step never changes; a change
//!    of the layout is one more step.
//! 2. All missing steps run in one `versionchange` transaction. If a step fails, or the browser
//!    ends, the database stays as it was.
//! 3. A step changes no record that the mirror holds too: the mirror has no steps. A record that
//!    lacks a later member must stay readable.
//! 4. An open connection closes as soon as another tab asks for an upgrade, and opens again at its
//!    next call. A tab that does not close its connection blocks the upgrade: `storage_blocked`.
//!
//! # Rules of a rollback
//! 1. A database of a higher version is refused with `storage_newer` and left untouched. No step
//!    leads back: sessions leave a newer database as session files.
//! 2. Packages of the same version may differ in what they store. Each leaves kinds and members
//!    that it does not know as they are. Event records are the exception: sealing builds them
//!    from the known members, so a new member there needs a new version.
//! 3. Records that are derived from a session name the revision that they were derived at, so that
//!    a package that knows nothing of them may write. Terms cannot: a title changes no revision.
//! 4. Deleting a session deletes its records in `details`.

use wasm_bindgen::{JsCast, JsValue};
use web_sys::{IdbDatabase, IdbObjectStore, IdbTransaction};

use crate::wasm::indexed_db::records::failure::Failure;
use crate::wasm::indexed_db::records::keys::list;
use crate::wasm::object::Record;

pub(crate) const SESSIONS: &str = "sessions";
pub(crate) const STATES: &str = "states";
pub(crate) const EVENTS: &str = "events";
pub(crate) const META: &str = "meta";
pub(crate) const DETAILS: &str = "details";
const OUTBOX: &str = "outbox";
const LEASES: &str = "leases";

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
/// Records in `details`, by each of their terms.
const BY_TERM: &str = "term";

/// The key in `meta` of the note that the database is new.
const CREATION: &str = "creation";

/// Brings a database from one version to the next. If it fails, the database stays as it was.
type Step = fn(&IdbDatabase, &IdbTransaction) -> Result<(), JsValue>;

/// A released step never changes.
const STEPS: [Step; 2] = [create_stores, reserve_stores];

pub(crate) const VERSION: u32 = STEPS.len() as u32;

/// Runs the missing steps in the upgrade that a request has begun.
pub(crate) fn upgrade(request: &Record, event: &Record) -> Result<(), Failure> {
    let transaction: IdbTransaction = request.get("transaction").unchecked_into();
    let database: IdbDatabase = request.get("result").unchecked_into();
    let version = event.count("oldVersion") as usize;
    for (number, step) in STEPS.iter().enumerate().skip(version) {
        step(&database, &transaction).map_err(|thrown| Failure::of_step(number + 1, &thrown))?;
    }
    if version == 0 {
        // Only Chromium has this member; elsewhere it is undefined.
        note_creation(&transaction, &event.get("dataLossMessage"))
            .map_err(|thrown| Failure::of_step(0, &thrown))?;
    }
    Ok(())
}

/// Version 1.
fn create_stores(database: &IdbDatabase, _: &IdbTransaction) -> Result<(), JsValue> {
    let sessions = store(database, SESSIONS, &list(&["appName", "userId", "sessionId"]))?;
    let by_time = list(&["appName", "lastUpdateTime", "sessionId", "userId"]);
    index(&sessions, BY_APP, &by_time, &[])?;
    let by_time = list(&["appName", "userId", "lastUpdateTime", "sessionId"]);
    index(&sessions, BY_USER, &by_time, &[])?;

    let events = store(database, EVENTS, &list(&["number", "seq"]))?;
    index(&events, BY_ID, &"ids".into(), &["unique", "multiEntry"])?;
    index(&events, BY_TIME, &list(&["number", "time"]), &[])?;
    index(&events, BY_REPLACEMENT, &"replaced".into(), &[])?;

    for name in [STATES, META] {
        store(database, name, &"key".into())?;
    }
    Ok(())
}

/// Version 2.
fn reserve_stores(database: &IdbDatabase, transaction: &IdbTransaction) -> Result<(), JsValue> {
    let details = store(database, DETAILS, &list(&["number", "kind", "id"]))?;
    index(&details, BY_TERM, &"terms".into(), &["multiEntry"])?;
    store(database, OUTBOX, &list(&["appName", "userId", "sessionId", "position"]))?;
    store(database, LEASES, &"key".into())?;

    // Indexes of an older store come last: if an upgrade is aborted after them, WebKitGTK 2.50
    // refuses to make them in the next upgrade.
    let sessions = transaction.object_store(SESSIONS)?;
    let by_creation = list(&["appName", "createTime", "sessionId", "userId"]);
    index(&sessions, BY_APP_CREATION, &by_creation, &[])?;
    let by_creation = list(&["appName", "userId", "createTime", "sessionId"]);
    index(&sessions, BY_USER_CREATION, &by_creation, &[])
}

fn store(database: &IdbDatabase, name: &str, path: &JsValue) -> Result<IdbObjectStore, JsValue> {
    let options = Record::empty();
    options.set("keyPath", path);
    database.create_object_store_with_optional_parameters(name, options.unchecked_ref())
}

fn index(
    store: &IdbObjectStore,
    name: &str,
    path: &JsValue,
    traits: &[&str],
) -> Result<(), JsValue> {
    let options = Record::empty();
    for name in traits {
        options.set(name, &JsValue::TRUE);
    }
    let options = options.unchecked_ref();
    store.create_index_with_str_sequence_and_optional_parameters(name, path, options).map(drop)
}

/// Notes in a new database that it is new, with the browser's message about the loss of an earlier
/// one. The note is part of the creation, so no tab finds a new database without it.
fn note_creation(transaction: &IdbTransaction, message: &JsValue) -> Result<(), JsValue> {
    let note = Record::empty();
    note.set_text("key", CREATION);
    note.set("message", message);
    transaction.object_store(META)?.put(&note).map(drop)
}
