//! Sessions in a browser's IndexedDB.
//!
//! An append is one transaction. It reads the session, the states that the delta touches, and the
//! events that the handle may have missed. It decides, writes and commits. It succeeds when the
//! browser reports `complete`. Appends that JavaScript groups share a transaction
//! ([`writing::group`]). Writes run one after the other, in the order of their calls
//! ([`connection::access`]); reads wait only for the transactions that have begun. A background task seals single events into pages of
//! [`records::page::PAGE`] ([`writing::sealing`]).
//!
//! | module | what it holds |
//! |---|---|
//! | [`records`] | stores, indexes and the steps between versions; what lies in the stores, and under which keys |
//! | [`connection`] | connections, transactions, and how they end |
//! | [`writing`] | groups of writes, deletions, and pages |
//! | [`reading`], [`listing`] | the other verbs |
//!
//! It uses web-sys directly: the crates that wrap IndexedDB lose the reason of a failed commit, or
//! have no option for the durability.

mod connection;
mod listing;
mod reading;
mod records;
mod writing;

use std::rc::Rc;
use std::slice;

use js_sys::{Array, Function};
use wasm_bindgen::{JsCast, JsValue};

use crate::core::error::Error;
use crate::core::read::{ListRequest, Listing, Rows, Window};
use crate::core::session::Revision;
use crate::core::storage::{Deletion, Storage};
use crate::core::write::{Decide, Target};
use crate::wasm::guarded::Task;
use crate::wasm::indexed_db::connection::access::Access;
pub(crate) use crate::wasm::indexed_db::connection::caller::Caller;
use crate::wasm::indexed_db::connection::database::Database;
pub use crate::wasm::indexed_db::records::failure::Failure;
use crate::wasm::indexed_db::records::page::Page;
pub(crate) use crate::wasm::indexed_db::writing::deleting::Expected;
pub(crate) use crate::wasm::indexed_db::writing::group_rows::Member;
use crate::wasm::indexed_db::writing::sealing::Sealer;
use crate::wasm::indexed_db::writing::{deleting, group};

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
    sealer: Rc<Sealer>,
}

impl IndexedDbStorage {
    /// Returns a storage in the database of that name. Storages of this realm with the same
    /// `on_open` share the connection.
    ///
    /// `on_open` is called for each new connection, before it is used. If it returns a promise, the
    /// opening waits for it. If the promise rejects, the opening fails with
    /// its reason.
    pub fn new(name: &str, on_open: Option<Function>, options: IndexedDbOptions) -> Self {
        let database = Database::named(name, on_open, options.timeout);
        let access = Access::new(database, options.strict, options.timeout);
        Self { sealer: Sealer::new(Rc::clone(&access)), access }
    }

    /// Opens the database, unless it is open.
    ///
    /// # Errors
    /// `storage_unavailable`, `storage_newer`, `storage_blocked`, `quota_exceeded`,
    /// `connection_lost`.
    pub async fn open(&self) -> Result<(), JsValue> {
        self.access.open().await?;
        Ok(())
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

    /// Reads records for [`rows`], as the verb `read` does.
    pub(crate) async fn read_records(
        &self,
        target: Target,
        window: Window,
        caller: Caller,
    ) -> Result<JsValue, Failure> {
        reading::read(&self.access, &target, &window, &caller).await
    }

    /// Reads records for [`listed_texts`], as the verb `list` does.
    pub(crate) async fn list_records(
        &self,
        request: ListRequest,
        caller: Caller,
    ) -> Result<JsValue, Failure> {
        listing::list(&self.access, &request, &caller).await
    }

    /// Carries out a write, unless its call is aborted before. Repeats it while its decision needs more
    /// rows.
    pub(crate) async fn write_one(
        &self,
        write: &mut dyn Decide,
        caller: &Caller,
    ) -> Result<(), Failure> {
        self.write_all(vec![Member::new(write, caller)]).await?.into_iter().collect()
    }

    /// Carries out writes in one transaction; each of them may fail by itself. If the transaction
    /// fails, nothing is stored. Writes that only read wait for no turn, as other reads do. A write
    /// whose decision needs more rows is repeated alone.
    pub(crate) async fn write_all(
        &self,
        mut members: Vec<Member<'_>>,
    ) -> Result<Vec<Result<(), Failure>>, Failure> {
        self.write_group(&mut members).await?;
        let mut written = Vec::new();
        for mut member in members {
            while member.done.is_ok() && member.write.replan() {
                if let Err(failure) = self.write_group(slice::from_mut(&mut member)).await {
                    member.done = Err(failure);
                }
            }
            written.push(member.done);
        }
        Ok(written)
    }

    async fn write_group(&self, members: &mut [Member<'_>]) -> Result<(), Failure> {
        let only_reads = members.iter().all(Member::only_reads);
        let written: Task<'_, _, Failure> = Box::pin(async {
            let mut full = Vec::new();
            group::write(&self.access, members, &mut full).await?;
            Ok(full)
        });
        let full = if only_reads { written.await } else { self.access.run_in_turn(written).await }?;
        for key in full {
            self.sealer.seal(key);
        }
        Ok(())
    }

    /// Deletes, and resolves with the floor, or `undefined` if the session is not as `expected`.
    pub(crate) async fn remove(
        &self,
        deletion: Deletion,
        expected: Option<Expected>,
        caller: Caller,
    ) -> Result<JsValue, Failure> {
        let removed = deleting::delete(&self.access, &deletion, expected.as_ref(), &caller);
        self.access.run_in_turn(Box::pin(removed)).await
    }

    /// Deletes a database with everything in it. Waits up to `timeout` milliseconds for tabs
    /// that keep it open.
    ///
    /// # Errors
    /// `storage_blocked`, `storage_unavailable`.
    pub async fn delete_database(name: &str, timeout: f64) -> Result<(), JsValue> {
        Ok(connection::database::delete(name, timeout).await?)
    }
}

/// Converts the records of a read. The events are still their records, for a reader in JavaScript.
pub(crate) fn rows(records: JsValue) -> Result<Rows<Array>, Failure> {
    reading::rows(records)
}

/// Converts the records of a list, for a reader in JavaScript.
pub(crate) fn listed_texts(read: JsValue) -> Result<(JsValue, Array, usize), Failure> {
    listing::texts(read)
}

impl Storage for IndexedDbStorage {
    async fn write(&self, write: &mut dyn Decide) -> Result<(), Error> {
        Ok(self.write_one(write, &Caller::default()).await?)
    }

    async fn read(&self, target: Target, window: Window) -> Result<Rows, Error> {
        let records = self.read_records(target, window, Caller::default()).await?;
        let Rows { session, user, app, events: records, edges } = rows(records)?;
        let mut events = Vec::new();
        for record in records {
            let page = Page::read(record.unchecked_ref())?;
            events.extend(page.rows.into_iter().map(|row| row.text));
        }
        Ok(Rows { session, user, app, events, edges })
    }

    async fn list(&self, request: ListRequest) -> Result<Listing, Error> {
        Ok(listing::listing(self.list_records(request, Caller::default()).await?)?)
    }

    async fn delete(&self, deletion: Deletion) -> Result<Option<Revision>, Error> {
        let floor = self.remove(deletion, None, Caller::default()).await?;
        Ok(floor.as_f64().map(|floor| floor as Revision))
    }

    fn truncates(&self) -> bool {
        true
    }
}
