//! Sessions in a browser's IndexedDB.
//!
//! An append is one transaction. It reads the session, the states that the delta touches, and the
//! events that the handle may have missed. It decides, writes and commits. It succeeds when the
//! browser reports `complete`. Appends that JavaScript groups share a transaction
//! (`writing::group`). Writes run one after the other, in the order of their calls
//! (`connection::access`); reads wait only for the transactions that have begun. A background task
//! puts single events into page records of up to `records::page::PAGE` events (`writing::page_writer`).
//!
//! | module | what it holds |
//! |---|---|
//! | `records` | stores, indexes and the steps between versions; what lies in the stores, and under which keys |
//! | `connection` | connections, transactions, and how they end |
//! | `writing` | groups of writes, deletions, and pages |
//! | `reading`, `listing`, `finding` | the other verbs |
//! | `creation_note` | the note in a new database |
//!
//! It uses web-sys directly: the crates that wrap IndexedDB lose the reason of a failed commit, or
//! have no option for the durability.

mod connection;
#[cfg(feature = "bindings")]
mod creation_note;
mod finding;
mod listing;
mod reading;
mod records;
mod writing;

use std::rc::Rc;

use adk_session::Error;
use adk_session::read::{ListQuery, Listing, Read, Rows};
use adk_session::session::{Revision, SessionKey};
use adk_session::storage::{Call, Deletion, Storage, StorageFuture};
use adk_session::write::{Decide, Target};
use js_sys::{Array, Function};
use wasm_bindgen::JsCast;

use crate::guarded::Task;
use crate::indexed_db::connection::access::Access;
use crate::indexed_db::connection::database::Database;
#[cfg(feature = "bindings")]
pub(crate) use crate::indexed_db::listing::ListedTexts;
pub(crate) use crate::indexed_db::reading::EventsRead;
pub use crate::indexed_db::records::failure::Failure;
use crate::indexed_db::records::page::PageRecord;
pub(crate) use crate::indexed_db::writing::group_rows::Member;
use crate::indexed_db::writing::page_writer::PageWriter;
use crate::indexed_db::writing::{deleting, group};

/// How a database is opened and written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IndexedDbOptions {
    /// Whether a write completes only when it is on disk. Otherwise writes survive a crash of the
    /// tab or the browser, but the last moments may be lost in a power failure.
    pub strict: bool,
    /// Milliseconds without any event after which a transaction or an opening is given up.
    pub timeout: f64,
}

impl Default for IndexedDbOptions {
    fn default() -> Self {
        Self { strict: false, timeout: 30_000.0 }
    }
}

/// Sessions in an IndexedDB database. The first verb opens it, or [`IndexedDbStorage::open`].
pub struct IndexedDbStorage {
    access: Rc<Access>,
    page_writer: Rc<PageWriter>,
}

impl IndexedDbStorage {
    /// Returns a storage in the database of that name. Storages of this realm with the same
    /// `on_open` share the connection.
    ///
    /// `on_open` is called for each new connection, before it is used. If it returns a promise, the
    /// opening waits for it, up to ten times the `timeout` of a call. If the promise rejects, the
    /// opening fails with its reason.
    pub fn new(name: &str, on_open: Option<Function>, options: IndexedDbOptions) -> Self {
        let database = Database::named(name, on_open);
        let access = Access::new(database, options.strict, options.timeout);
        Self { page_writer: PageWriter::new(Rc::clone(&access)), access }
    }

    /// Opens the database, unless it is open.
    ///
    /// # Errors
    /// `storage_unavailable`, `storage_newer`, `storage_blocked`, `quota_exceeded`,
    /// `connection_lost`.
    pub async fn open(&self) -> Result<(), Error> {
        Ok(self.connect().await?)
    }

    pub(crate) async fn connect(&self) -> Result<(), Failure> {
        self.access.open().await
    }

    /// Ends what is under way, and lets the verbs wait. For a page that the browser is about to freeze:
    /// its transactions and upgrades would block other pages.
    pub fn suspend(&self) {
        self.access.suspend();
    }

    /// Lets the verbs continue after [`Self::suspend`]. Those under way try again.
    pub fn resume(&self) {
        self.access.resume();
    }

    /// Reads as the verb `read` does. The events stay records: each of one event, or a page of many.
    pub(crate) async fn read_records(
        &self,
        target: &Target,
        read: &EventsRead,
        call: &dyn Call,
    ) -> Result<Rows<Array>, Failure> {
        reading::read(&self.access, target, read, call).await?.rows(read)
    }

    /// Carries out writes in one transaction; each of them may fail by itself. If the transaction
    /// fails, nothing is stored.
    pub(crate) async fn write_all(
        &self,
        mut members: Vec<Member<'_>>,
    ) -> Result<Vec<Result<(), Failure>>, Failure> {
        let written: Task<'_, _, Failure> = Box::pin(async {
            let mut full = Vec::new();
            group::write(&self.access, &mut members, &mut full).await?;
            Ok((members, full))
        });
        let (members, full) = self.access.run_in_turn(written).await?;
        for key in full {
            self.page_writer.write_pages(key);
        }
        Ok(members.into_iter().map(|member| member.done).collect())
    }

    /// Deletes a database with everything in it. Waits up to `timeout` milliseconds for tabs
    /// that keep it open.
    ///
    /// # Errors
    /// `storage_blocked`, `storage_unavailable`.
    pub async fn delete_database(name: &str, timeout: f64) -> Result<(), Error> {
        Ok(connection::database::delete(name, timeout).await?)
    }
}

/// For callers in JavaScript.
#[cfg(feature = "bindings")]
impl IndexedDbStorage {
    /// Lists as the verb `list` does, for a reader in JavaScript; see [`listing::texts`].
    pub(crate) async fn list_texts(
        &self,
        request: &ListQuery,
        call: &dyn Call,
    ) -> Result<ListedTexts, Failure> {
        listing::list(&self.access, request, call).await?.texts()
    }

    /// Reads the note of a new database, and changes it; see [`creation_note::update`].
    pub(crate) async fn creation_note(
        &self,
        change: Option<&Function>,
    ) -> Result<wasm_bindgen::JsValue, Failure> {
        let update = Box::pin(creation_note::update(&self.access, change));
        self.access.run_in_turn(update).await
    }
}

impl Storage for IndexedDbStorage {
    fn write<'a>(&'a self, write: &'a mut dyn Decide, call: &'a dyn Call) -> StorageFuture<'a, ()> {
        Box::pin(async move {
            let written = self.write_all(vec![Member::new(write, call)]).await?;
            Ok(written.into_iter().collect::<Result<(), Failure>>()?)
        })
    }

    fn read<'a>(
        &'a self,
        target: &'a Target,
        read: &'a Read,
        call: &'a dyn Call,
    ) -> StorageFuture<'a, Rows> {
        Box::pin(async move {
            let Rows { session, shared, events: records, edges, rows } =
                self.read_records(target, &EventsRead::Of(read.clone()), call).await?;
            let mut events = Vec::new();
            for record in records {
                let page = PageRecord::read(record.unchecked_ref())?;
                events.extend(page.rows.into_iter().map(|row| (row.timestamp, row.text)));
            }
            Ok(Rows { session, shared, events, edges, rows })
        })
    }

    fn list<'a>(
        &'a self,
        request: &'a ListQuery,
        call: &'a dyn Call,
    ) -> StorageFuture<'a, Listing> {
        Box::pin(async move { Ok(listing::list(&self.access, request, call).await?.listing()?) })
    }

    fn delete<'a>(
        &'a self,
        deletion: &'a Deletion,
        call: &'a dyn Call,
    ) -> StorageFuture<'a, Option<Revision>> {
        Box::pin(async move {
            let deleted = Box::pin(deleting::delete(&self.access, deletion, call));
            Ok(self.access.run_in_turn(deleted).await?)
        })
    }

    /// Reads the keys of all sessions, since no index has their ids alone. For many appends to a database
    /// of thousands of sessions, `append_event_to` costs less.
    fn find<'a>(
        &'a self,
        session_id: &'a str,
        call: &'a dyn Call,
    ) -> StorageFuture<'a, Vec<SessionKey>> {
        Box::pin(async move { Ok(finding::find(&self.access, session_id, call).await?) })
    }
}
