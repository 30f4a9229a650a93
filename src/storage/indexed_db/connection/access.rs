//! How the verbs get at the database: a transaction on a connection that is there, and once more on
//! a new one where it was not.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use wasm_bindgen::JsValue;

use crate::storage::indexed_db::connection::database::Database;
use crate::storage::indexed_db::connection::transaction::{Mode, Transaction, Transactions};
use crate::storage::indexed_db::records::failure::Failure;

/// Boxed, and always with a value of JavaScript's, so that what is done with it stands in the wasm
/// once, and not in each that awaits it.
pub(crate) type Attempt<'a> = Pin<Box<dyn Future<Output = Result<JsValue, Failure>> + 'a>>;

/// See the module.
pub(crate) struct Access {
    database: Rc<Database>,
    transactions: Rc<Transactions>,
    /// Milliseconds.
    timeout: f64,
}

impl Access {
    pub(crate) fn new(database: Rc<Database>, strict: bool, timeout: f64) -> Rc<Self> {
        Rc::new(Self { database, transactions: Transactions::new(strict, timeout), timeout })
    }

    pub(crate) fn database(&self) -> &Rc<Database> {
        &self.database
    }

    /// Aborts the transaction that an exception left behind, if it writes.
    pub(crate) fn abort_left_behind(&self) {
        self.transactions.abort_left_behind();
    }

    /// Opens the database, if it is not open.
    pub(crate) async fn open(&self) -> Result<JsValue, Failure> {
        self.database.connection(self.timeout).await.map(JsValue::from)
    }

    /// Reads from stores, whose names are a list of JavaScript's.
    pub(crate) async fn read(&self, stores: &JsValue) -> Result<Transaction, Failure> {
        self.begin(stores, Mode::Read).await
    }

    /// Reads from them and writes to them.
    pub(crate) async fn write(&self, stores: &JsValue) -> Result<Transaction, Failure> {
        self.begin(stores, Mode::Write).await
    }

    async fn begin(&self, stores: &JsValue, mode: Mode) -> Result<Transaction, Failure> {
        let connection = self.database.connection(self.timeout).await?;
        self.transactions.begin(&connection, stores, mode)
    }

    /// Does something that a broken connection may end. A connection that broke stays broken,
    /// whatever is tried on it, so it is given up.
    pub(crate) async fn once(&self, attempt: Attempt<'_>) -> Result<JsValue, Failure> {
        let done = attempt.await;
        if done.as_ref().is_err_and(Failure::is_loss) {
            self.database.disconnect();
        }
        done
    }

    /// The same for what can be done twice: a second time where the connection broke.
    pub(crate) async fn twice<'a>(
        &self,
        attempt: &(dyn Fn() -> Attempt<'a> + '_),
    ) -> Result<JsValue, Failure> {
        match self.once(attempt()).await {
            Err(failure) if failure.is_loss() => self.once(attempt()).await,
            done => done,
        }
    }
}
