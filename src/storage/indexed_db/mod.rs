//! Sessions in a browser's IndexedDB.
//!
//! An append is one transaction: it reads the session, the states that the delta touches and what
//! the handle may have missed, decides, writes, commits, and counts as done when the browser says
//! `complete`. Appends that are under way together share a transaction ([`queue`]). Events are put
//! together into pages of [`page::PAGE`] in the background ([`sealing`]).
//!
//! | module | what it holds |
//! |---|---|
//! | [`schema`] | stores, indexes, and the steps from one version to the next |
//! | [`keys`], [`record`], [`page`] | what lies in the stores, and under which keys |
//! | [`database`], [`access`], [`transaction`] | connections, transactions, and how they end |
//! | [`queue`], [`group`], [`session_slot`], [`sequence`] | writing |
//! | [`reading`], [`listing`], [`deleting`], [`sealing`] | the other verbs, and pages |
//!
//! Raw web-sys: the crates that wrap IndexedDB lose the reason of a failed commit, or have no option
//! for the durability.

mod access;
mod database;
mod deleting;
mod failure;
mod group;
mod keys;
mod listing;
mod page;
mod queue;
mod reading;
mod record;
mod schema;
mod sealing;
mod sequence;
mod session_slot;
mod signal;
mod timer;
mod transaction;

#[cfg(feature = "testing")]
pub use schema::Step;

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::Function;
use wasm_bindgen::JsValue;

use crate::error::Error;
use crate::session::{Revision, Window};
use crate::storage::indexed_db::access::Access;
use crate::storage::indexed_db::database::Database;
use crate::storage::indexed_db::page::Page;
use crate::storage::indexed_db::queue::Queue;
use crate::storage::javascript_text::JavaScriptText;
use crate::storage::{
    Changes, Decide, Deletion, Found, ListRequest, Listing, Rows, Storage, Target, WriteRequest,
};

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
    on_reopen: Option<Function>,
}

impl IndexedDbStorage {
    /// The database of that name, which all storages of that name in this realm share.
    pub fn new(name: &str, options: IndexedDbOptions) -> Self {
        let database = Database::named(name, options.blocked_timeout);
        Self::over(database, options)
    }

    /// As a later version of this package would open it, with more steps; on a connection of its
    /// own.
    #[cfg(feature = "testing")]
    pub fn with_later_steps(name: &str, later: &[Step], options: IndexedDbOptions) -> Self {
        let steps = schema::STEPS.iter().chain(later).copied().collect();
        Self::over(Database::new(name, steps, options.blocked_timeout), options)
    }

    fn over(database: Rc<Database>, options: IndexedDbOptions) -> Self {
        let access = Access::new(database, options.strict, options.timeout);
        Self { queue: Queue::new(Rc::clone(&access)), access, on_reopen: None }
    }

    /// Calls that whenever the connection was made anew: what others wrote meanwhile may have been
    /// missed.
    pub fn on_reopen(&mut self, callback: Function) {
        self.access.database().on_reopen(callback.clone());
        self.on_reopen = Some(callback);
    }

    /// Opens the database, if it is not open.
    ///
    /// # Errors
    /// `storage_unavailable`, `storage_newer`, `storage_blocked`, `quota_exceeded`,
    /// `connection_lost`.
    pub async fn open(&self) -> Result<(), JsValue> {
        let database = self.access.database();
        self.access.twice(|| Box::pin(async { database.connection().await.map(drop) })).await?;
        Ok(())
    }

    /// Lets go of the connection; the next verb makes another one.
    pub fn disconnect(&self) {
        self.access.database().disconnect();
    }

    /// As the verb reads, but for the events: the records as they lie in the store, cut to the
    /// window, for a reader in JavaScript.
    pub(crate) async fn records<T: From<JsValue>>(
        &self,
        target: Target,
        window: Window,
    ) -> Result<Rows<T>, JsValue> {
        let rows = reading::read(&self.access, &target, window).await?;
        let Rows { session, user, app, events } = rows;
        let events = events.into_iter().map(|record| T::from(JsValue::from(record))).collect();
        Ok(Rows { session, user, app, events })
    }

    /// Deletes a database with all that is in it. Waits so many milliseconds for tabs that hold it
    /// open and do not give way.
    ///
    /// # Errors
    /// `storage_blocked`, `storage_unavailable`.
    pub async fn delete_database(name: &str, blocked_timeout: f64) -> Result<(), JsValue> {
        Ok(database::delete(name, blocked_timeout).await?)
    }

    pub(crate) async fn write<D: Decide<JavaScriptText> + 'static>(
        &self,
        creates: bool,
        request: WriteRequest,
        decision: D,
    ) -> Result<D, JsValue> {
        let shared = Rc::new(RefCell::new(Lent(Some(decision))));
        let lent: Rc<RefCell<dyn Decide<JavaScriptText>>> = Rc::clone(&shared) as _;
        self.queue.write(creates, request, lent).await?;
        let decision = shared.borrow_mut().0.take();
        decision.ok_or_else(|| Error::StorageFailed { reason: "it answered twice".into() }.into())
    }
}

impl Drop for IndexedDbStorage {
    fn drop(&mut self) {
        if let Some(callback) = &self.on_reopen {
            self.access.database().forget_listener(callback);
        }
    }
}

/// A decision that the queue asks and the verb gets back.
struct Lent<D>(Option<D>);

impl<T, D: Decide<T>> Decide<T> for Lent<D> {
    fn decide(&mut self, found: Found<'_, T>) -> Option<Changes<T>> {
        self.0.as_mut()?.decide(found)
    }
}

impl Storage for IndexedDbStorage {
    type Text = JavaScriptText;
    type Failure = JsValue;

    async fn create<D: Decide<JavaScriptText> + 'static>(
        &self,
        request: WriteRequest,
        decision: D,
    ) -> Result<D, JsValue> {
        self.write(true, request, decision).await
    }

    async fn append<D: Decide<JavaScriptText> + 'static>(
        &self,
        request: WriteRequest,
        decision: D,
    ) -> Result<D, JsValue> {
        self.write(false, request, decision).await
    }

    async fn read(&self, target: Target, window: Window) -> Result<Rows<JavaScriptText>, JsValue> {
        let rows = reading::read(&self.access, &target, window).await?;
        let mut events = Vec::new();
        for record in &rows.events {
            events.extend(Page::read(record)?.rows.into_iter().map(|row| row.text));
        }
        Ok(Rows { session: rows.session, user: rows.user, app: rows.app, events })
    }

    async fn list(&self, request: ListRequest) -> Result<Listing, JsValue> {
        Ok(listing::list(&self.access, &request).await?)
    }

    async fn delete(&self, deletion: Deletion) -> Result<Option<Revision>, JsValue> {
        Ok(Some(self.queue.delete(deletion).await?))
    }
}
