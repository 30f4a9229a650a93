//! The connection to a database, one for each name and realm. It is opened when it is first needed,
//! closed as soon as another tab wants to upgrade or delete the database, and reopened when needed.

use std::cell::{Cell, RefCell};
use std::convert;
use std::rc::{Rc, Weak};

use adk_session::error::StorageProblem;
use futures_channel::oneshot;
use js_sys::{Function, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Event, IdbDatabase, IdbFactory};

use crate::guarded::{Guarded, guard};
use crate::indexed_db::connection::listener::{Listener, listen};
use crate::indexed_db::connection::opening::{MakeRequest, Opening};
use crate::indexed_db::connection::timer::Timer;
use crate::indexed_db::records::failure::Failure;
use crate::indexed_db::records::schema;
use crate::object::Record;

/// A database and its connection, if open.
pub(crate) struct Database {
    name: String,
    make_request: MakeRequest,
    /// Milliseconds without any event after which an opening or a deletion fails.
    timeout: Cell<f64>,
    connection: RefCell<Option<Connection>>,
    opening: RefCell<Option<Opening>>,
    /// The timer that fails the waiting callers.
    time_limit: RefCell<Option<Timer>>,
    waiting: RefCell<Vec<oneshot::Sender<Result<(), Failure>>>>,
    /// Called with each new connection before it is used. If it returns a promise, the opening
    /// waits for it.
    on_open: Option<Function>,
    /// Whether the page is in the back/forward cache, or about to enter it.
    is_suspended: Cell<bool>,
}

/// Another tab wants to upgrade or delete the database, or the browser closed the connection.
const ENDS: [&str; 2] = ["onversionchange", "onclose"];

struct Connection {
    raw: IdbDatabase,
    _listener: Listener,
}

impl Drop for Connection {
    fn drop(&mut self) {
        listen(&self.raw, &ENDS, &JsValue::NULL);
        // Transactions under way still finish.
        self.raw.close();
    }
}

thread_local! {
    static DATABASES: RefCell<Vec<Weak<Database>>> = const { RefCell::new(Vec::new()) };
}

impl Database {
    /// Returns the database of that name, shared by all callers with the same `on_open`.
    pub(crate) fn named(name: &str, on_open: Option<Function>, timeout: f64) -> Rc<Self> {
        DATABASES.with_borrow_mut(|databases| {
            databases.retain(|database| database.strong_count() > 0);
            let mut known = databases.iter().filter_map(Weak::upgrade);
            let is_same = |other: &Rc<Self>| other.name == name && other.on_open == on_open;
            if let Some(database) = known.find(is_same) {
                database.timeout.set(timeout);
                return database;
            }
            let open: MakeRequest = |factory, name| factory.open_with_u32(name, schema::VERSION);
            let database = Self::new(name, open, on_open, timeout);
            databases.push(Rc::downgrade(&database));
            database
        })
    }

    fn new(
        name: &str,
        make_request: MakeRequest,
        on_open: Option<Function>,
        timeout: f64,
    ) -> Rc<Self> {
        Rc::new(Self {
            name: name.to_owned(),
            make_request,
            timeout: Cell::new(timeout),
            connection: RefCell::default(),
            opening: RefCell::default(),
            time_limit: RefCell::default(),
            waiting: RefCell::default(),
            on_open,
            is_suspended: Cell::default(),
        })
    }

    /// Returns the connection and opens it if there is none. An opening without any event for too
    /// long fails with `connection_lost`, or `storage_blocked` if another tab blocks it.
    pub(crate) async fn connection(self: &Rc<Self>) -> Result<IdbDatabase, Failure> {
        loop {
            let raw = self.connection.borrow().as_ref().map(|connection| connection.raw.clone());
            if let Some(raw) = raw {
                return Ok(raw);
            }
            self.requested().await?;
        }
    }

    /// Makes the request, unless it is under way, and waits for its answer.
    async fn requested(self: &Rc<Self>) -> Result<(), Failure> {
        let (waiter, answer) = oneshot::channel();
        self.waiting.borrow_mut().push(waiter);
        if !self.is_suspended.get() {
            self.request();
        }
        answer.await.unwrap_or_else(|_| Err(Failure::lost("no answer")))
    }

    fn request(self: &Rc<Self>) {
        let request = self.opening.borrow().as_ref().map(|opening| opening.request.clone());
        match request {
            None => {
                self.limit();
                self.open(true);
            }
            // The earlier callers may have timed out already, and their timer with them. Once the
            // browser has answered, `on_open` limits its time itself.
            Some(request)
                if self.time_limit.borrow().is_none() && request.text("readyState") != "done" =>
            {
                self.limit();
            }
            Some(_) => {}
        }
    }

    /// Closes the connection; the next call opens another one.
    pub(crate) fn disconnect(&self) {
        let connection = self.connection.borrow_mut().take();
        drop(connection);
    }

    /// Closes the connection and abandons a pending opening. No other begins before
    /// [`Self::resume`].
    pub(crate) fn suspend(&self) {
        self.is_suspended.set(true);
        self.time_limit.take();
        self.disconnect();
        self.abandon();
    }

    /// Opens the database if callers wait for it.
    pub(crate) fn resume(self: &Rc<Self>) {
        let was_suspended = self.is_suspended.replace(false);
        if was_suspended && !self.waiting.borrow().is_empty() {
            self.limit();
            self.open(true);
        }
    }

    fn open(self: &Rc<Self>, may_try_again: bool) {
        let database = Rc::clone(self);
        let opening = Opening::begin(&self.name, self.make_request, may_try_again, move |event| {
            if let Err(thrown) = guard(&mut || database.handle(event)) {
                // Answering the waiting callers may throw as well.
                drop(guard(&mut || database.fail(Failure::thrown(thrown.clone()))));
            }
        });
        match opening {
            Ok(opening) => {
                let earlier = self.opening.replace(Some(opening));
                drop(earlier);
            }
            Err(failure) => self.settle(Err(failure)),
        }
    }

    fn handle(self: &Rc<Self>, event: &Record) {
        // Otherwise Firefox reports an uncaught error.
        event.unchecked_ref::<Event>().prevent_default();
        let request: Record = event.get("target").unchecked_into();
        match event.text("type").as_str() {
            "upgradeneeded" => {
                if let Err(failure) = schema::create(&request, event) {
                    self.fail(failure);
                }
            }
            "blocked" => {
                if let Some(opening) = self.opening.borrow().as_ref() {
                    opening.is_blocked.set(true);
                }
                self.limit();
            }
            "success" => match Record::found(request.get("result")) {
                Some(raw) => self.connect(request, raw.unchecked_into()),
                // The request of a deletion has no result.
                None => self.settle(Ok(())),
            },
            _ => {
                let thrown = request.get("error");
                let opening = self.opening.borrow();
                let may_try_again = opening.as_ref().is_some_and(|opening| opening.may_try_again);
                drop(opening);
                if may_try_again && Failure::may_be_loss(&thrown) {
                    self.open(false);
                } else {
                    self.settle(Err(Failure::of_opening(&thrown)));
                }
            }
        }
    }

    /// Fails the waiting callers after [`Self::timeout`]. The opening itself continues, since it
    /// cannot be cancelled: it succeeds once nothing blocks it.
    fn limit(self: &Rc<Self>) {
        let database = Rc::downgrade(self);
        let timer = Timer::start(self.timeout.get(), move || {
            if let Some(database) = database.upgrade() {
                database.answer(&Err(database.too_long()));
                database.time_limit.take();
            }
        });
        let earlier = self.time_limit.replace(Some(timer));
        drop(earlier);
    }

    fn too_long(&self) -> Failure {
        if self.opening.borrow().as_ref().is_some_and(|opening| opening.is_blocked.get()) {
            return Failure::of(StorageProblem::Blocked, "it is open");
        }
        Failure::lost("no answer")
    }

    /// Uses the new connection, once `on_open` has prepared it.
    fn connect(self: &Rc<Self>, request: Record, raw: IdbDatabase) {
        let (database, closing) = (Rc::downgrade(self), raw.clone());
        let listener = Listener::new(move |_| {
            // Closes a connection that no caller has yet as well. No caller waits for this, so
            // exceptions are dropped.
            drop(guard(&mut || closing.close()));
            if let Some(database) = database.upgrade() {
                drop(guard(&mut || database.disconnect()));
            }
        });
        listen(&raw, &ENDS, listener.as_ref());
        let connection = Connection { raw, _listener: listener };
        let Some(on_open) = self.on_open.clone() else {
            return self.succeed(connection);
        };
        self.time_limit.take();
        let database = Rc::clone(self);
        spawn_local(async move {
            let prepared = Rc::clone(&database).prepared(on_open, connection, request.clone());
            let prepared = Guarded::new(Box::pin(prepared), convert::identity).await;
            if let Err(thrown) = prepared
                && database.is_opening(&request)
            {
                drop(guard(&mut || database.fail(Failure::thrown(thrown.clone()))));
            }
        });
    }

    /// Calls [`Database::on_open`], and then uses the connection, unless the opening was abandoned
    /// meanwhile.
    async fn prepared(
        self: Rc<Self>,
        on_open: Function,
        connection: Connection,
        request: Record,
    ) -> Result<(), JsValue> {
        let prepared = on_open.call0(&JsValue::UNDEFINED)?;
        JsFuture::from(Promise::resolve(&prepared)).await?;
        if self.is_opening(&request) {
            self.succeed(connection);
        }
        Ok(())
    }

    /// Whether this request is still under way, or its connection is being prepared.
    fn is_opening(&self, request: &Record) -> bool {
        self.opening.borrow().as_ref().is_some_and(|opening| opening.request == *request)
    }

    fn succeed(&self, connection: Connection) {
        let earlier = self.connection.replace(Some(connection));
        self.settle(Ok(()));
        drop(earlier);
    }

    /// Ends an opening that the browser still carries out, and fails the waiting callers.
    fn fail(&self, failure: Failure) {
        self.abandon();
        self.settle(Err(failure));
    }

    fn abandon(&self) {
        let opening = self.opening.take();
        if let Some(opening) = opening {
            opening.abandon();
        }
    }

    fn settle(&self, done: Result<(), Failure>) {
        let opening = self.opening.take();
        self.answer(&done);
        self.time_limit.take();
        drop(opening);
    }

    fn answer(&self, done: &Result<(), Failure>) {
        let waiting = self.waiting.take();
        for waiter in waiting {
            drop(waiter.send(done.clone()));
        }
    }
}

/// Deletes a database with everything in it. Connections of this package close, here and in other
/// tabs. Fails with `storage_blocked` if others stay open for `timeout` milliseconds.
pub(crate) async fn delete(name: &str, timeout: f64) -> Result<(), Failure> {
    Database::new(name, IdbFactory::delete_database, None, timeout).requested().await
}
