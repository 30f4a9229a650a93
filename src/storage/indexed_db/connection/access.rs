//! The verbs' access to the database: a transaction on the open connection, retried on a new
//! connection if that one broke.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use wasm_bindgen::JsValue;

use crate::storage::indexed_db::connection::database::Database;
use crate::storage::indexed_db::connection::transaction::{Mode, Transaction, Transactions};
use crate::storage::indexed_db::records::failure::Failure;

/// Boxed and always with a JavaScript value, so that the wasm holds the code around it once, and
/// not for each caller.
pub(crate) type Attempt<'a> = Pin<Box<dyn Future<Output = Result<JsValue, Failure>> + 'a>>;

/// A database with its time limit and the settings of its transactions.
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

    /// Aborts the writing transaction that an exception left open.
    pub(crate) fn abort_left_behind(&self) {
        self.transactions.abort_left_behind();
    }

    /// Opens the database, unless it is open.
    pub(crate) async fn open(&self) -> Result<JsValue, Failure> {
        self.database.connection(self.timeout).await.map(JsValue::from)
    }

    /// Begins a transaction that reads. `stores` is a JavaScript array of names.
    pub(crate) async fn read(&self, stores: &JsValue) -> Result<Transaction, Failure> {
        self.begin(stores, Mode::Read).await
    }

    /// Begins a transaction that reads and writes.
    pub(crate) async fn write(&self, stores: &JsValue) -> Result<Transaction, Failure> {
        self.begin(stores, Mode::Write).await
    }

    async fn begin(&self, stores: &JsValue, mode: Mode) -> Result<Transaction, Failure> {
        let connection = self.database.connection(self.timeout).await?;
        self.transactions.begin(&connection, stores, mode)
    }

    /// Runs an attempt. If the connection broke, closes it: a broken connection stays broken.
    pub(crate) async fn once(&self, attempt: Attempt<'_>) -> Result<JsValue, Failure> {
        let done = attempt.await;
        if done.as_ref().is_err_and(Failure::is_loss) {
            self.database.disconnect();
        }
        done
    }

    /// Runs an attempt that is safe to repeat, and retries it once if the connection broke.
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
