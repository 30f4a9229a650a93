//! The connection to a database: one a name and realm, opened when it is needed, given up as soon
//! as another tab wants the database for itself, and opened again when it is needed again.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use js_sys::{Function, Reflect};
use wasm_bindgen::prelude::*;
use web_sys::{IdbDatabase, IdbFactory, IdbOpenDbRequest, IdbVersionChangeEvent};

use crate::error::StorageProblem;
use crate::storage::indexed_db::failure::Failure;
use crate::storage::indexed_db::schema::{STEPS, Step};
use crate::storage::indexed_db::signal::Signal;
use crate::storage::indexed_db::timer::Timer;

type Opened = Result<IdbDatabase, Failure>;

/// See the module.
pub(super) struct Database {
    name: String,
    steps: Rc<[Step]>,
    /// Milliseconds to wait for other tabs that hold an older version open.
    blocked_timeout: Cell<f64>,
    connection: RefCell<Option<Connection>>,
    is_opening: Cell<bool>,
    /// Runs while other tabs are in the way.
    blocked: RefCell<Option<Timer>>,
    waiting: RefCell<Vec<Signal<Opened>>>,
    was_open: Cell<bool>,
    /// Called when a connection was made anew: what others did meanwhile may have been missed.
    on_reopen: RefCell<Vec<Function>>,
}

struct Connection {
    raw: IdbDatabase,
    _listeners: [Closure<dyn FnMut()>; 2],
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.raw.set_onversionchange(None);
        self.raw.set_onclose(None);
        // Transactions under way still end.
        self.raw.close();
    }
}

thread_local! {
    static DATABASES: RefCell<Vec<Weak<Database>>> = const { RefCell::new(Vec::new()) };
}

impl Database {
    /// The one of that name, whoever else uses it.
    pub(super) fn named(name: &str, blocked_timeout: f64) -> Rc<Self> {
        DATABASES.with_borrow_mut(|databases| {
            databases.retain(|database| database.strong_count() > 0);
            let mut known = databases.iter().filter_map(Weak::upgrade);
            if let Some(database) = known.find(|database| database.name == name) {
                database.blocked_timeout.set(blocked_timeout);
                return database;
            }
            let database = Self::new(name, STEPS.into(), blocked_timeout);
            databases.push(Rc::downgrade(&database));
            database
        })
    }

    /// One that shares its connection with nobody.
    pub(super) fn new(name: &str, steps: Rc<[Step]>, blocked_timeout: f64) -> Rc<Self> {
        Rc::new(Self {
            name: name.to_owned(),
            steps,
            blocked_timeout: Cell::new(blocked_timeout),
            connection: RefCell::default(),
            is_opening: Cell::default(),
            blocked: RefCell::default(),
            waiting: RefCell::default(),
            was_open: Cell::default(),
            on_reopen: RefCell::default(),
        })
    }

    pub(super) fn on_reopen(&self, callback: Function) {
        self.on_reopen.borrow_mut().push(callback);
    }

    pub(super) fn forget_listener(&self, callback: &Function) {
        self.on_reopen.borrow_mut().retain(|known| known != callback);
    }

    /// The connection, opened if there is none.
    pub(super) async fn connection(self: &Rc<Self>) -> Opened {
        if let Some(connection) = self.connection.borrow().as_ref() {
            return Ok(connection.raw.clone());
        }
        let signal = Signal::new();
        self.waiting.borrow_mut().push(signal.clone());
        if !self.is_opening.replace(true) {
            self.open(true);
        } else if self.blocked.borrow().is_some() {
            // Whoever waited from the beginning may have been told already.
            self.wait_for_others();
        }
        signal.await
    }

    /// Gives the connection up; the next call makes another one.
    pub(super) fn disconnect(&self) {
        let connection = self.connection.borrow_mut().take();
        drop(connection);
    }

    fn open(self: &Rc<Self>, may_try_again: bool) {
        if let Err(failure) = self.request(may_try_again) {
            self.settle(Err(failure));
        }
    }

    fn request(self: &Rc<Self>, may_try_again: bool) -> Result<(), Failure> {
        let version = self.steps.len() as u32;
        let request = factory()?
            .open_with_u32(&self.name, version)
            .map_err(|thrown| Failure::of_opening(&thrown))?;
        let broken_step = Rc::new(RefCell::new(None));

        let (database, opened) = (Rc::clone(self), request.clone());
        let on_success = Closure::once_into_js(move || match opened.result() {
            Ok(raw) => database.adopt(raw.unchecked_into()),
            Err(thrown) => database.settle(Err(Failure::of_opening(&thrown))),
        });
        request.set_onsuccess(Some(on_success.unchecked_ref()));

        let (database, failed, step) = (Rc::clone(self), request.clone(), Rc::clone(&broken_step));
        let on_error = Closure::once_into_js(move |event: web_sys::Event| {
            // Else Firefox reports it as nobody's.
            event.prevent_default();
            let thrown = failed.error().ok().flatten().map_or(JsValue::UNDEFINED, JsValue::from);
            let failure = step.borrow_mut().take().unwrap_or_else(|| Failure::of_opening(&thrown));
            if failure.is_loss() && may_try_again {
                database.open(false);
            } else {
                database.settle(Err(failure));
            }
        });
        request.set_onerror(Some(on_error.unchecked_ref()));

        let (steps, upgraded) = (Rc::clone(&self.steps), request.clone());
        let on_upgrade = Closure::once_into_js(move |event: IdbVersionChangeEvent| {
            let Some(transaction) = upgraded.transaction() else {
                return;
            };
            let done = steps.iter().enumerate().skip(event.old_version() as usize);
            for (number, step) in done {
                if let Err(thrown) = step(&transaction.db(), &transaction) {
                    *broken_step.borrow_mut() = Some(Failure::of_step(number + 1, &thrown));
                    // The database stays as it was.
                    let _ = transaction.abort();
                    return;
                }
            }
        });
        request.set_onupgradeneeded(Some(on_upgrade.unchecked_ref()));

        let database = Rc::clone(self);
        let on_blocked = Closure::once_into_js(move || database.wait_for_others());
        request.set_onblocked(Some(on_blocked.unchecked_ref()));
        Ok(())
    }

    /// Tells those who wait that they are blocked, after some time. The opening goes on: it
    /// succeeds when the other tabs let go.
    fn wait_for_others(self: &Rc<Self>) {
        let database = Rc::downgrade(self);
        let timer = Timer::start(self.blocked_timeout.get(), move || {
            if let Some(database) = database.upgrade() {
                database.tell(&Err(blocked()));
            }
        });
        if let Some(earlier) = self.blocked.replace(Some(timer)) {
            earlier.stop();
        }
    }

    fn adopt(self: &Rc<Self>, raw: IdbDatabase) {
        let listener = || {
            let database = Rc::downgrade(self);
            Closure::new(move || {
                if let Some(database) = database.upgrade() {
                    database.disconnect();
                }
            })
        };
        // Another tab wants to upgrade or delete it, or the browser closed it.
        let listeners: [Closure<dyn FnMut()>; 2] = [listener(), listener()];
        let [on_version_change, on_close] = &listeners;
        raw.set_onversionchange(Some(on_version_change.as_ref().unchecked_ref()));
        raw.set_onclose(Some(on_close.as_ref().unchecked_ref()));
        *self.connection.borrow_mut() =
            Some(Connection { raw: raw.clone(), _listeners: listeners });
        self.settle(Ok(raw));
        if self.was_open.replace(true) {
            let callbacks = self.on_reopen.borrow().clone();
            for callback in callbacks {
                // What a listener throws is its own affair.
                let _ = callback.call0(&JsValue::UNDEFINED);
            }
        }
    }

    fn settle(&self, opened: Opened) {
        self.is_opening.set(false);
        if let Some(timer) = self.blocked.take() {
            timer.stop();
        }
        self.tell(&opened);
    }

    fn tell(&self, opened: &Opened) {
        for signal in self.waiting.take() {
            signal.set(opened.clone());
        }
    }
}

/// Deletes a database with everything in it. Connections of ours give way, here and in other tabs;
/// for those of others it waits, in milliseconds.
pub(super) async fn delete(name: &str, blocked_timeout: f64) -> Result<(), Failure> {
    let request: IdbOpenDbRequest =
        factory()?.delete_database(name).map_err(|thrown| Failure::of_opening(&thrown))?;
    let deleted = Signal::new();
    let settle = |outcome: Result<(), Failure>| {
        let deleted = deleted.clone();
        Closure::once_into_js(move || deleted.set(outcome))
    };
    request.set_onsuccess(Some(settle(Ok(())).unchecked_ref()));
    let (failed, told) = (request.clone(), deleted.clone());
    let on_error = Closure::once_into_js(move |event: web_sys::Event| {
        event.prevent_default();
        let thrown = failed.error().ok().flatten().map_or(JsValue::UNDEFINED, JsValue::from);
        told.set(Err(Failure::of_opening(&thrown)));
    });
    request.set_onerror(Some(on_error.unchecked_ref()));
    let told = deleted.clone();
    let timer = Rc::new(RefCell::new(None));
    let started = Rc::clone(&timer);
    let on_blocked = Closure::once_into_js(move || {
        let late = Timer::start(blocked_timeout, move || told.set(Err(blocked())));
        *started.borrow_mut() = Some(late);
    });
    request.set_onblocked(Some(on_blocked.unchecked_ref()));
    let outcome = deleted.await;
    if let Some(timer) = timer.take() {
        timer.stop();
    }
    outcome
}

fn blocked() -> Failure {
    Failure::of(StorageProblem::Blocked, "another tab holds it open")
}

/// The host's IndexedDB. Where it is forbidden, even looking at it may throw.
fn factory() -> Result<IdbFactory, Failure> {
    let factory = Reflect::get(&js_sys::global(), &"indexedDB".into())
        .map_err(|thrown| Failure::of_opening(&thrown))?;
    if factory.is_object() {
        return Ok(factory.unchecked_into());
    }
    Err(Failure::of(StorageProblem::Unavailable, "this host has no indexedDB"))
}
