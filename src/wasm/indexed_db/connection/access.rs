//! The verbs' access to the database: a transaction on the open connection, retried on a new
//! connection if that one broke. Writes run one after the other.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use adk_session::storage::Call;
use futures_channel::oneshot;

use crate::guarded::{Guarded, Task};
use crate::indexed_db::connection::database::Database;
use crate::indexed_db::connection::transaction::{Mode, Transaction};
use crate::indexed_db::records::failure::Failure;

/// Has no result of its own, so that the wasm holds the code around it once, and not for each type. A read
/// leaves its result in a variable of [`Access::run_with_retries`].
pub(crate) type Attempt<'a> = Task<'a, (), Failure>;

/// A database, the settings of its transactions, and the order of its writes.
pub(crate) struct Access {
    database: Rc<Database>,
    /// Whether a commit completes only once the data is on disk.
    strict: bool,
    /// Milliseconds without any event after which an opening or a transaction is given up.
    timeout: f64,
    running: RefCell<Vec<Weak<Transaction>>>,
    /// Completes when the latest write has ended. A caller that drops its future does not end the write earlier.
    last_write: RefCell<Option<oneshot::Receiver<()>>>,
}

impl Access {
    pub(crate) fn new(database: Rc<Database>, strict: bool, timeout: f64) -> Rc<Self> {
        let (running, last_write) = Default::default();
        Rc::new(Self { database, strict, timeout, running, last_write })
    }

    /// Ends what is under way before the browser freezes the page: there, transactions and upgrades
    /// would block other pages. The verbs try again after [`Self::resume`].
    pub(crate) fn suspend(&self) {
        self.database.suspend();
        for transaction in self.running() {
            transaction.leave();
        }
    }

    pub(crate) fn resume(&self) {
        self.database.resume();
    }

    /// Opens the database, unless it is open.
    pub(crate) async fn open(&self) -> Result<(), Failure> {
        self.database.connection(self.timeout).await.map(drop)
    }

    pub(crate) async fn begin(
        &self,
        mode: Mode,
        stores: &[&str],
    ) -> Result<Rc<Transaction>, Failure> {
        let connection = self.database.connection(self.timeout).await?;
        let Self { strict, timeout, .. } = *self;
        let transaction = Transaction::begin(&connection, mode, stores, strict, timeout)?;
        let mut running = self.running.borrow_mut();
        running.retain(|running| running.strong_count() > 0);
        running.push(Rc::downgrade(&transaction));
        Ok(transaction)
    }

    fn running(&self) -> Vec<Rc<Transaction>> {
        self.running.borrow().iter().filter_map(Weak::upgrade).collect()
    }

    /// Runs a write after all earlier ones, with its retries. So writes keep the order of their
    /// calls, and the time limit of a transaction does not include the writes before it. An
    /// exception ends only this write.
    pub(crate) async fn run_in_turn<T>(&self, write: Task<'_, T, Failure>) -> Result<T, Failure> {
        let (turn, turn_ended) = oneshot::channel();
        let earlier = self.last_write.replace(Some(turn_ended));
        if let Some(earlier) = earlier {
            // The sender is only dropped, it never sends.
            let _ = earlier.await;
        }
        let done = Guarded::new(write, Failure::thrown).await;
        // A write that threw leaves its transaction open, and the browser would commit it.
        for transaction in self.running() {
            transaction.abort_write();
        }
        drop(turn);
        done
    }

    /// Runs an attempt. If the connection broke, closes it: a broken connection stays broken.
    pub(crate) async fn run_once(&self, attempt: Attempt<'_>) -> Result<(), Failure> {
        let done = attempt.await;
        if done.as_ref().is_err_and(Failure::is_loss) {
            self.database.disconnect();
        }
        done
    }

    /// Runs an attempt, with its retries, and returns its result.
    pub(crate) async fn run_with_retries<T>(
        &self,
        call: &dyn Call,
        attempt: impl AsyncFn() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let result = RefCell::new(None);
        self.retry(call, &|| {
            Box::pin(async {
                let done = attempt().await?;
                result.replace(Some(done));
                Ok(())
            })
        })
        .await?;
        result.into_inner().ok_or_else(|| Failure::lost("no answer"))
    }

    /// Runs an attempt. Retries it whenever the page was left, and once if the connection broke.
    ///
    /// It is not retried after its commit was sent. A deletion may then have taken effect, and a
    /// second one would delete what was written since.
    async fn retry<'a>(
        &self,
        call: &dyn Call,
        attempt: &(dyn Fn() -> Attempt<'a> + '_),
    ) -> Result<(), Failure> {
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
