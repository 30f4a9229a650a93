//! The connection to a database, one for each name and realm. It is opened when it is first needed,
//! closed as soon as another tab wants to upgrade or delete the database, and reopened when needed.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use js_sys::{Function, Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Event, IdbDatabase, IdbFactory, IdbOpenDbRequest, IdbTransaction};

use crate::core::error::StorageProblem;
use crate::wasm::guarded::guard;
use crate::wasm::indexed_db::connection::one_shot::{Done, Listener, OneShot, listen};
use crate::wasm::indexed_db::connection::timer::Timer;
use crate::wasm::indexed_db::records::failure::Failure;
use crate::wasm::indexed_db::records::object::Record;
use crate::wasm::indexed_db::records::schema::{STEPS, Step, note_creation};

/// A database and its connection, if open.
pub(crate) struct Database {
    name: String,
    /// `None` if the database is to be deleted.
    steps: Option<Rc<[Step]>>,
    /// Milliseconds to wait for other tabs that hold an older version open.
    blocked_timeout: Cell<f64>,
    connection: RefCell<Option<Connection>>,
    opening: RefCell<Option<Opening>>,
    /// Whether connections in other tabs block the opening.
    is_blocked: Cell<bool>,
    /// Fails the waiting callers when it goes off.
    patience: RefCell<Option<Timer>>,
    waiting: RefCell<Vec<OneShot>>,
    /// Called with each new connection before it is used. If it returns a promise, the opening
    /// waits for it.
    on_open: Option<Function>,
    /// The connection whose promise is pending. The time limit for the browser does not cover it.
    preparing: RefCell<Option<IdbDatabase>>,
    /// Whether the page is in the back/forward cache, or about to enter it.
    is_suspended: Cell<bool>,
}

const OPENING_EVENTS: [&str; 4] = ["onsuccess", "onerror", "onupgradeneeded", "onblocked"];

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

/// A request to open or delete the database. It keeps its listener as long as the browser may call
/// it.
struct Opening {
    request: Record,
    may_try_again: bool,
    broken_step: Option<Failure>,
    _listener: Listener,
}

thread_local! {
    static DATABASES: RefCell<Vec<Weak<Database>>> = const { RefCell::new(Vec::new()) };
}

impl Database {
    /// Returns the database of that name, shared by all callers with the same `on_open`.
    pub(crate) fn named(name: &str, on_open: Option<Function>, blocked_timeout: f64) -> Rc<Self> {
        DATABASES.with_borrow_mut(|databases| {
            databases.retain(|database| database.strong_count() > 0);
            let mut known = databases.iter().filter_map(Weak::upgrade);
            let is_same = |other: &Rc<Self>| other.name == name && other.on_open == on_open;
            if let Some(database) = known.find(is_same) {
                database.blocked_timeout.set(blocked_timeout);
                return database;
            }
            let database = Self::new(name, Some(STEPS.into()), on_open, blocked_timeout);
            databases.push(Rc::downgrade(&database));
            database
        })
    }

    /// Returns a database with a connection of its own.
    pub(crate) fn new(
        name: &str,
        steps: Option<Rc<[Step]>>,
        on_open: Option<Function>,
        blocked_timeout: f64,
    ) -> Rc<Self> {
        Rc::new(Self {
            name: name.to_owned(),
            steps,
            blocked_timeout: Cell::new(blocked_timeout),
            connection: RefCell::default(),
            opening: RefCell::default(),
            is_blocked: Cell::default(),
            patience: RefCell::default(),
            waiting: RefCell::default(),
            on_open,
            preparing: RefCell::default(),
            is_suspended: Cell::default(),
        })
    }

    /// Returns the connection and opens it if there is none. An opening without any event for
    /// `timeout` milliseconds fails with `connection_lost`.
    pub(crate) async fn connection(self: &Rc<Self>, timeout: f64) -> Result<IdbDatabase, Failure> {
        loop {
            let raw = self.connection.borrow().as_ref().map(|connection| connection.raw.clone());
            if let Some(raw) = raw {
                return Ok(raw);
            }
            self.opened(timeout).await?;
        }
    }

    /// Opens or deletes the database, unless that is under way. Returns a future of that.
    fn opened(self: &Rc<Self>, timeout: f64) -> OneShot {
        let opened = OneShot::default();
        self.waiting.borrow_mut().push(opened.clone());
        let is_opening = self.opening.borrow().is_some();
        // The earlier callers may have timed out already, and their timer with them.
        let is_waiting = self.patience.borrow().is_some() || self.preparing.borrow().is_some();
        if self.is_suspended.get() {
            return opened;
        }
        if !is_opening || !is_waiting {
            let is_blocked = self.is_blocked.get();
            self.wait(if is_blocked { self.blocked_timeout.get() } else { timeout });
        }
        if !is_opening {
            self.open(true);
        }
        opened
    }

    /// Closes the connection; the next call opens another one.
    pub(crate) fn disconnect(&self) {
        let connection = self.connection.borrow_mut().take();
        drop(connection);
    }

    /// Closes the connection and abandons a pending opening, also one whose connection is prepared.
    /// No other begins before [`Self::resume`].
    pub(crate) fn suspend(&self) {
        self.is_suspended.set(true);
        self.is_blocked.set(false);
        self.patience.take();
        self.disconnect();
        let preparing = self.preparing.take();
        if let Some(raw) = preparing {
            raw.close();
        }
        if let Some(opening) = self.opening.take() {
            abort_upgrade(&opening.request);
            // The browser may still send events for this request, or none. A listener that kept this
            // database alive would keep its connection open.
            let end = Listener::new(|event: JsValue| {
                drop(guard(&mut || end_abandoned(event.unchecked_ref())));
            });
            listen(&opening.request, &OPENING_EVENTS, &end.into_js_value());
        }
    }

    /// Opens the database if callers wait for it, each for `timeout` milliseconds.
    pub(crate) fn resume(self: &Rc<Self>, timeout: f64) {
        let was_suspended = self.is_suspended.replace(false);
        if was_suspended && !self.waiting.borrow().is_empty() {
            self.wait(timeout);
            self.open(true);
        }
    }

    fn open(self: &Rc<Self>, may_try_again: bool) {
        let request = match self.request() {
            Ok(request) => request,
            Err(failure) => return self.settle(Err(failure)),
        };
        let (database, asked) = (Rc::clone(self), request.clone());
        let listener = Listener::new(move |event: JsValue| {
            if let Err(thrown) = guard(&mut || database.handle(event.unchecked_ref())) {
                // Settling the waiting callers may throw as well.
                drop(guard(&mut || database.break_off(asked.unchecked_ref(), thrown.clone())));
            }
        });
        listen(&request, &OPENING_EVENTS, listener.as_ref());
        let request = request.unchecked_into();
        let opening = Opening { request, may_try_again, broken_step: None, _listener: listener };
        let earlier = self.opening.replace(Some(opening));
        drop(earlier);
    }

    /// Fails all waiting callers with an exception: nothing else would settle them.
    fn break_off(&self, request: &Record, thrown: JsValue) {
        let failure = Failure::thrown(thrown);
        if let Some(upgrade) = Record::found(request.get("transaction")) {
            // Otherwise the upgrade would be committed without its steps. Now the request fails.
            if let Some(opening) = self.opening.borrow_mut().as_mut() {
                opening.broken_step = Some(failure);
            }
            let _ = upgrade.unchecked_ref::<IdbTransaction>().abort();
        } else if request.text("readyState") == "pending" {
            self.tell(&Err(failure));
        } else {
            self.settle(Err(failure));
            // No caller received the connection, if one was opened.
            if self.connection.borrow().is_none()
                && let Some(raw) = Record::found(request.get("result"))
            {
                raw.unchecked_ref::<IdbDatabase>().close();
            }
        }
    }

    fn request(&self) -> Result<IdbOpenDbRequest, Failure> {
        let factory = factory()?;
        let request = match &self.steps {
            Some(steps) => factory.open_with_u32(&self.name, steps.len() as u32),
            None => factory.delete_database(&self.name),
        };
        request.map_err(|thrown| Failure::of_opening(&thrown))
    }

    fn handle(self: &Rc<Self>, event: &Record) {
        // Otherwise Firefox reports an uncaught error.
        event.unchecked_ref::<Event>().prevent_default();
        let request: Record = event.get("target").unchecked_into();
        match event.text("type").as_str() {
            "upgradeneeded" => {
                if let Err(failure) = self.upgrade(&request, event) {
                    if let Some(opening) = self.opening.borrow_mut().as_mut() {
                        opening.broken_step = Some(failure);
                    }
                    // Leaves the database as it was.
                    let upgrade = request.get("transaction").unchecked_into::<IdbTransaction>();
                    let _ = upgrade.abort();
                }
            }
            "blocked" => {
                self.is_blocked.set(true);
                self.wait(self.blocked_timeout.get());
            }
            "success" if self.steps.is_none() => self.settle(Ok(())),
            "success" => self.adopt(request.get("result").unchecked_into()),
            _ => self.fail(&request.get("error")),
        }
    }

    fn fail(self: &Rc<Self>, thrown: &JsValue) {
        let (may_try_again, broken_step) = match self.opening.borrow_mut().as_mut() {
            Some(opening) => (opening.may_try_again, opening.broken_step.take()),
            None => (false, None),
        };
        match broken_step {
            Some(failure) => self.settle(Err(failure)),
            None if may_try_again && Failure::may_be_loss(thrown) => self.open(false),
            None => self.settle(Err(Failure::of_opening(thrown))),
        }
    }

    /// Runs the missing steps.
    fn upgrade(&self, request: &Record, event: &Record) -> Done {
        let transaction: IdbTransaction = request.get("transaction").unchecked_into();
        let database: IdbDatabase = request.get("result").unchecked_into();
        let version = event.count("oldVersion") as usize;
        let steps = self.steps.as_deref().unwrap_or_default();
        for (number, step) in steps.iter().enumerate().skip(version) {
            step(&database, &transaction)
                .map_err(|thrown| Failure::of_step(number + 1, &thrown))?;
        }
        if version == 0 {
            // Only Chromium has this member; elsewhere it is undefined.
            note_creation(&transaction, &event.get("dataLossMessage"))
                .map_err(|thrown| Failure::of_step(0, &thrown))?;
        }
        Ok(())
    }

    /// Fails the waiting callers after `timeout` milliseconds. The opening itself continues, since
    /// it cannot be cancelled: it succeeds once nothing blocks it.
    fn wait(self: &Rc<Self>, timeout: f64) {
        let database = Rc::downgrade(self);
        let tell = move || {
            if let Some(database) = database.upgrade() {
                database.tell(&Err(database.too_long()));
                database.patience.take();
            }
        };
        let timer = Timer::new(timeout, Box::new(tell));
        timer.start();
        let earlier = self.patience.replace(Some(timer));
        drop(earlier);
    }

    fn too_long(&self) -> Failure {
        if self.is_blocked.get() {
            return Failure::of(StorageProblem::Blocked, "it is open");
        }
        Failure::lost("no answer")
    }

    fn adopt(self: &Rc<Self>, raw: IdbDatabase) {
        let database = Rc::downgrade(self);
        let closing = raw.clone();
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
        match self.prepare(&connection) {
            Ok(None) => self.give(connection, Ok(())),
            Ok(Some(prepared)) => {
                let prepared = JsFuture::from(prepared);
                self.preparing.replace(Some(connection.raw.clone()));
                self.patience.take();
                let database = Rc::clone(self);
                spawn_local(async move {
                    let prepared = prepared.await;
                    let is_this = |preparing: &mut IdbDatabase| *preparing == connection.raw;
                    if database.preparing.borrow_mut().take_if(is_this).is_none() {
                        // Closes a mirror that was opened after the connection was abandoned.
                        return;
                    }
                    let done = prepared.map(drop).map_err(Failure::thrown);
                    let mut given = Some((connection, done));
                    let given = guard(&mut || {
                        if let Some((connection, done)) = given.take() {
                            database.give(connection, done);
                        }
                    });
                    if let Err(thrown) = given {
                        database.settle(Err(Failure::thrown(thrown)));
                    }
                });
            }
            Err(thrown) => self.give(connection, Err(Failure::thrown(thrown))),
        }
    }

    /// Calls [`Database::on_open`].
    fn prepare(&self, connection: &Connection) -> Result<Option<Promise>, JsValue> {
        let Some(on_open) = &self.on_open else {
            return Ok(None);
        };
        let prepared = on_open.call1(&JsValue::UNDEFINED, &connection.raw)?;
        Ok(prepared.dyn_into().ok())
    }

    fn give(&self, connection: Connection, done: Done) {
        if done.is_ok() {
            let earlier = self.connection.replace(Some(connection));
            self.settle(done);
            drop(earlier);
        } else {
            self.settle(done);
        }
    }

    fn settle(&self, done: Done) {
        let opening = self.opening.take();
        self.is_blocked.set(false);
        self.tell(&done);
        self.patience.take();
        drop(opening);
    }

    fn tell(&self, done: &Done) {
        let waiting = self.waiting.take();
        for waiter in waiting {
            waiter.set(done.clone());
        }
    }
}

/// Closes the connection of an abandoned opening, or aborts its upgrade.
fn end_abandoned(event: &Record) {
    event.unchecked_ref::<Event>().prevent_default();
    let request: Record = event.get("target").unchecked_into();
    if event.text("type") == "success" {
        request.get("result").unchecked_into::<IdbDatabase>().close();
    }
    abort_upgrade(&request);
}

fn abort_upgrade(request: &Record) {
    if let Some(upgrade) = Record::found(request.get("transaction")) {
        // Fails if the upgrade has ended already.
        let _ = upgrade.unchecked_ref::<IdbTransaction>().abort();
    }
}

/// Milliseconds after which a deletion fails if no event arrives and nothing blocks it.
const DELETION_TIMEOUT: f64 = 30_000.0;

/// Deletes a database with everything in it. Connections of this package close, here and in other
/// tabs. Fails with `storage_blocked` if others stay open for `blocked_timeout` milliseconds.
pub(crate) async fn delete(name: &str, blocked_timeout: f64) -> Done {
    Database::new(name, None, None, blocked_timeout).opened(DELETION_TIMEOUT).await
}

/// Returns the host's IndexedDB. If it is forbidden, even reading the property may throw.
fn factory() -> Result<IdbFactory, Failure> {
    let factory = Reflect::get(&js_sys::global(), &"indexedDB".into())
        .map_err(|thrown| Failure::of_opening(&thrown))?;
    if factory.is_object() {
        return Ok(factory.unchecked_into());
    }
    Err(Failure::of(StorageProblem::Unavailable, "no indexedDB"))
}
