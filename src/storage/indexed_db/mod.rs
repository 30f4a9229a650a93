//! Sessions in a browser's IndexedDB.
//!
//! An append is one transaction. It reads the session, the states that the delta touches and what
//! the handle may have missed; it decides, writes and commits. It is done when the browser says
//! `complete`. An append may be decided on the uncommitted result of the previous one; only its commit
//! has to wait ([`writing::group`]). Appends that are under way together share a transaction
//! ([`writing::queue`]). A task in the background puts events together into pages of
//! [`records::page::PAGE`] ([`writing::sealing`]).
//!
//! | module | what it holds |
//! |---|---|
//! | [`records`] | stores, indexes and the steps between versions; what lies in the stores, and under which keys |
//! | [`connection`] | connections, transactions, and how they end |
//! | [`writing`] | the queue of writes, groups, deletions, and pages |
//! | [`reading`], [`listing`] | the other verbs |
//!
//! Raw web-sys: the crates that wrap IndexedDB lose the reason of a failed commit, or have no option
//! for the durability.

mod connection;
mod listing;
mod reading;
mod records;
mod writing;

#[cfg(feature = "testing")]
pub use records::schema::Step;

use std::cell::Cell;
use std::future::Future;
use std::rc::Rc;

use js_sys::{Array, Function, JsString};
use wasm_bindgen::{JsCast, JsValue};

use crate::error::{Error, StorageProblem};
use crate::event::{EventText, NewEvent};
use crate::session::{Revision, Window};
use crate::storage::answer::read_floor;
use crate::storage::indexed_db::connection::access::Access;
use crate::storage::indexed_db::connection::database::Database;
use crate::storage::indexed_db::records::page::Page;
use crate::storage::indexed_db::writing::queue::Queue;
use crate::storage::shared_write::SharedWrite;
use crate::storage::{Deletion, ListRequest, Listing, Rows, Storage};
use crate::write::{Target, Write};

/// How a database is opened and written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IndexedDbOptions {
    /// Whether a write is done only when the disk has it. Else what was written survives a crash of
    /// the tab or the browser, and the last moments of it perhaps not a loss of power.
    pub strict: bool,
    /// Milliseconds after which a transaction of which nothing is heard is given up.
    pub timeout: f64,
    /// Milliseconds to wait for other tabs that hold an older version open.
    pub blocked_timeout: f64,
}

impl Default for IndexedDbOptions {
    fn default() -> Self {
        Self { strict: false, timeout: 30_000.0, blocked_timeout: 5_000.0 }
    }
}

/// See the module. Opened by the first verb, or by [`IndexedDbStorage::open`].
pub struct IndexedDbStorage {
    access: Rc<Access>,
    queue: Rc<Queue>,
}

impl IndexedDbStorage {
    /// The database of that name. Storages of this realm share the connection if they have the same
    /// `on_open`, which is called with each new one before anybody may use it: the `IDBDatabase`,
    /// whether it was made anew, and what Chromium then says of the loss of an earlier one. If it
    /// answers with a promise, that is waited for; if that rejects, the opening fails with the reason.
    pub fn new(name: &str, on_open: Option<Function>, options: IndexedDbOptions) -> Self {
        Self::over(Database::named(name, on_open, options.blocked_timeout), options)
    }

    /// As a later version of this package would open it, with more steps; on a connection of its
    /// own.
    #[cfg(feature = "testing")]
    pub fn with_later_steps(name: &str, later: &[Step], options: IndexedDbOptions) -> Self {
        let steps = records::schema::STEPS.iter().chain(later).copied().collect();
        Self::over(Database::new(name, Some(steps), None, options.blocked_timeout), options)
    }

    fn over(database: Rc<Database>, options: IndexedDbOptions) -> Self {
        let access = Access::new(database, options.strict, options.timeout);
        Self { queue: Queue::new(Rc::clone(&access)), access }
    }

    /// Opens the database, if it is not open.
    ///
    /// # Errors
    /// `storage_unavailable`, `storage_newer`, `storage_blocked`, `quota_exceeded`,
    /// `connection_lost`.
    pub async fn open(&self) -> Result<(), JsValue> {
        self.access.open().await?;
        Ok(())
    }

    /// Lets go of the connection; the next verb makes another one.
    pub fn disconnect(&self) {
        self.access.database().disconnect();
    }

    /// Reads records, as the verb `read` does, for [`rows`].
    pub(crate) fn read_records(
        &self,
        target: Target,
        window: Window,
    ) -> impl Future<Output = Result<JsValue, JsValue>> + use<> {
        let access = Rc::clone(&self.access);
        async move { Ok(reading::read(&access, &target, window).await?) }
    }

    /// Reads records, as the verb `list` does, for [`listed_texts`].
    pub(crate) fn list_records(
        &self,
        request: ListRequest,
    ) -> impl Future<Output = Result<JsValue, JsValue>> + use<> {
        let access = Rc::clone(&self.access);
        async move { Ok(listing::list(&access, &request).await?) }
    }

    /// Carries out a write.
    pub(crate) fn carry_out(
        &self,
        write: SharedWrite,
    ) -> impl Future<Output = Result<JsValue, JsValue>> + use<> {
        let written = self.queue.write(write);
        async move {
            written?.await?;
            Ok(JsValue::UNDEFINED)
        }
    }

    /// Makes sure that records can hold the events.
    pub(crate) fn check_events(events: &[NewEvent]) -> Result<(), Error> {
        for NewEvent { id, text, .. } in events {
            let EventText::JavaScript(text) = text else {
                continue;
            };
            let length = text.dyn_ref().map_or(0, JsString::length);
            if length > records::failure::LARGEST_RECORD {
                let reason = records::failure::too_large(&format!("event \"{id}\""), length);
                return Err(Error::Storage { problem: StorageProblem::TooLarge, reason });
            }
        }
        Ok(())
    }

    /// Deletes; answers with the floor.
    pub(crate) fn remove(
        &self,
        deletion: Deletion,
    ) -> impl Future<Output = Result<JsValue, JsValue>> + use<> {
        let floor = Rc::new(Cell::new(0));
        let deleted = self.queue.delete(deletion, Rc::clone(&floor));
        async move {
            deleted.await?;
            Ok(JsValue::from_f64(floor.get() as f64))
        }
    }

    /// Deletes a database with all that is in it. Waits so many milliseconds for tabs that hold it
    /// open and do not give way.
    ///
    /// # Errors
    /// `storage_blocked`, `storage_unavailable`.
    pub async fn delete_database(name: &str, blocked_timeout: f64) -> Result<(), JsValue> {
        Ok(connection::database::delete(name, blocked_timeout).await?)
    }
}

/// What was read, with the events as the records that hold them, for a reader in JavaScript.
pub(crate) fn rows(records: JsValue) -> Result<Rows, JsValue> {
    Ok(reading::rows(records)?)
}

/// What was listed, for a reader in JavaScript.
pub(crate) fn listed_texts(read: JsValue) -> Result<(JsValue, Array, usize), JsValue> {
    Ok(listing::texts(read)?)
}

impl Storage for IndexedDbStorage {
    type Listing = Listing;
    type Failure = JsValue;

    async fn write(&self, write: Write) -> Result<Write, JsValue> {
        let shared = SharedWrite::new(write);
        self.carry_out(shared.clone()).await?;
        Ok(shared.take()?)
    }

    async fn read(&self, target: Target, window: Window) -> Result<Rows, JsValue> {
        let records = self.read_records(target, window).await?;
        let Rows { session, user, app, events: records } = rows(records)?;
        let mut events = Vec::new();
        for record in records {
            let page = Page::read(JsValue::from(record).unchecked_ref())?;
            events.extend(page.rows.into_iter().map(|row| row.text));
        }
        Ok(Rows { session, user, app, events })
    }

    async fn list(&self, request: ListRequest) -> Result<Listing, JsValue> {
        Ok(listing::listing(self.list_records(request).await?)?)
    }

    async fn delete(&self, deletion: Deletion) -> Result<Option<Revision>, JsValue> {
        read_floor(self.remove(deletion).await?)
    }
}
