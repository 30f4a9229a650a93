//! The verbs' access to the database: a transaction on the open connection, retried on a new
//! connection if that one broke. Writes run one after the other.

use std::cell::RefCell;
use std::rc::Rc;

use wasm_bindgen::JsValue;

use crate::core::storage::Call;
use crate::wasm::guarded::{Guarded, Task};
use crate::wasm::indexed_db::connection::database::Database;
use crate::wasm::indexed_db::connection::one_shot::OneShot;
use crate::wasm::indexed_db::connection::transaction::{Mode, Transaction, Transactions};
use crate::wasm::indexed_db::records::failure::Failure;

/// Always gives a JavaScript value, so that the wasm holds the code around it once, and not for each
/// call.
pub(crate) type Attempt<'a> = Task<'a, JsValue, Failure>;

/// A database, the settings of its transactions, and the order of its writes.
pub(crate) struct Access {
    database: Rc<Database>,
    transactions: Rc<Transactions>,
    /// Set when the last write so far has ended.
    last_write: RefCell<Option<OneShot>>,
}

/// Tells the next write that this one has ended, even if its future is dropped.
struct Turn(OneShot);

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.set(Ok(()));
    }
}

impl Access {
    pub(crate) fn new(database: Rc<Database>, strict: bool, timeout: f64) -> Rc<Self> {
        let transactions = Transactions::new(strict, timeout);
        Rc::new(Self { database, transactions, last_write: RefCell::default() })
    }

    /// Ends what is under way before the browser freezes the page: there, transactions and upgrades
    /// would block other pages. The verbs try again after [`Self::resume`].
    pub(crate) fn suspend(&self) {
        self.database.suspend();
        self.transactions.leave();
    }

    pub(crate) fn resume(&self) {
        self.database.resume();
    }

    /// Opens the database, unless it is open.
    pub(crate) async fn open(&self) -> Result<JsValue, Failure> {
        self.database.connection().await.map(JsValue::from)
    }

    pub(crate) async fn begin(&self, mode: Mode, stores: &[&str]) -> Result<Transaction, Failure> {
        let connection = self.database.connection().await?;
        self.transactions.begin(&connection, mode, stores)
    }

    /// Runs a write after all earlier ones, with its retries. So writes keep the order of their
    /// calls, and the time limit of a transaction does not include the writes before it. An
    /// exception ends only this write.
    pub(crate) async fn run_in_turn<T>(&self, write: Task<'_, T, Failure>) -> Result<T, Failure> {
        let turn = Turn(OneShot::default());
        let earlier = self.last_write.replace(Some(turn.0.clone()));
        if let Some(earlier) = earlier {
            drop(earlier.await);
        }
        let done = Guarded::new(write, Failure::thrown).await;
        self.transactions.abort_unfinished_write();
        done
    }

    /// Runs an attempt. If the connection broke, closes it: a broken connection stays broken.
    pub(crate) async fn run_once(&self, attempt: Attempt<'_>) -> Result<JsValue, Failure> {
        let done = attempt.await;
        if done.as_ref().is_err_and(Failure::is_loss) {
            self.database.disconnect();
        }
        done
    }

    /// Runs an attempt. Retries it whenever the page was left, and once if the connection broke.
    ///
    /// It is not retried after its commit was sent. A deletion may then have taken effect, and a
    /// second one would delete what was written since.
    pub(crate) async fn run_with_retries<'a>(
        &self,
        call: &dyn Call,
        attempt: &(dyn Fn() -> Attempt<'a> + '_),
    ) -> Result<JsValue, Failure> {
        let mut is_retry = false;
        loop {
            match self.run_once(attempt()).await {
                Err(failure)
                    if failure.is_page_left() || failure.is_loss_before_commit() && !is_retry =>
                {
                    is_retry |= failure.is_loss();
                    call.count_retry()?;
                }
                done => return done,
            }
        }
    }
}
