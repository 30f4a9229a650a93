//! The connection to a database, one for each name and realm. It is opened when it is first needed,
//! closed as soon as another tab wants to upgrade or delete the database, and reopened when needed.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::{convert, mem};

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
use crate::object::JsObject;

/// A database and its connection, if open.
pub(crate) struct Database {
    name: String,
    make_request: MakeRequest,
    state: RefCell<State>,
    waiting: RefCell<Vec<Waiter>>,
    last_waiter: Cell<u32>,
    /// Called with each new connection before it is used. If it returns a promise, the opening
    /// waits for it.
    on_open: Option<Function>,
}

enum State {
    Closed,
    /// The browser carries out a request, or `on_open` prepares its connection.
    Opening(Rc<Opening>),
    Open(Connection),
    /// The page is in the back/forward cache, or about to enter it. Callers wait for
    /// [`Database::resume`].
    Suspended,
}

/// A caller that waits for the end of an opening.
struct Waiter {
    number: u32,
    answer: oneshot::Sender<Result<(), Failure>>,
    /// Milliseconds without any event after which the caller gives up.
    timeout: f64,
    /// Present while the time is limited.
    timer: Option<Timer>,
}

/// `on_open` has so many times the limit of a request. It may make several requests, each with a
/// limit of its own.
const PREPARATION: f64 = 10.0;

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
    pub(crate) fn named(name: &str, on_open: Option<Function>) -> Rc<Self> {
        DATABASES.with_borrow_mut(|databases| {
            databases.retain(|database| database.strong_count() > 0);
            let mut known = databases.iter().filter_map(Weak::upgrade);
            let is_same = |other: &Rc<Self>| other.name == name && other.on_open == on_open;
            if let Some(database) = known.find(is_same) {
                return database;
            }
            let open: MakeRequest = |factory, name| factory.open_with_u32(name, schema::VERSION);
            let database = Self::new(name, open, on_open);
            databases.push(Rc::downgrade(&database));
            database
        })
    }

    fn new(name: &str, make_request: MakeRequest, on_open: Option<Function>) -> Rc<Self> {
        Rc::new(Self {
            name: name.to_owned(),
            make_request,
            state: RefCell::new(State::Closed),
            waiting: RefCell::default(),
            last_waiter: Cell::default(),
            on_open,
        })
    }

    /// Returns the connection and opens it if there is none. Without any event for `timeout`
    /// milliseconds it fails with `connection_lost`, or `storage_blocked` if another tab blocks the
    /// opening.
    pub(crate) async fn connection(self: &Rc<Self>, timeout: f64) -> Result<IdbDatabase, Failure> {
        loop {
            if let State::Open(connection) = &*self.state.borrow() {
                return Ok(connection.raw.clone());
            }
            self.requested(timeout).await?;
        }
    }

    /// Makes the request, unless it is under way, and waits for its answer.
    async fn requested(self: &Rc<Self>, timeout: f64) -> Result<(), Failure> {
        let (answer, answered) = oneshot::channel();
        let number = self.last_waiter.get().wrapping_add(1);
        self.last_waiter.set(number);
        self.waiting.borrow_mut().push(Waiter { number, answer, timeout, timer: None });
        match self.opening() {
            Some(opening) if opening.request.text("readyState") == "done" => {
                self.limit(number, PREPARATION * timeout);
            }
            Some(_) => self.limit(number, timeout),
            None if self.is_suspended() => {}
            None => {
                self.limit(number, timeout);
                self.open(true);
            }
        }
        answered.await.unwrap_or_else(|_| Err(Failure::lost("no answer")))
    }

    fn is_suspended(&self) -> bool {
        matches!(*self.state.borrow(), State::Suspended)
    }

    /// Closes the connection; the next call opens another one.
    pub(crate) fn disconnect(&self) {
        let connection = self.replace_if(|state| matches!(state, State::Open(_)));
        drop(connection);
    }

    /// Closes the connection and abandons a pending opening. No other begins before
    /// [`Self::resume`].
    pub(crate) fn suspend(&self) {
        let earlier = self.state.replace(State::Suspended);
        self.lift_limits();
        if let State::Opening(opening) = earlier {
            opening.abandon();
        }
    }

    /// Opens the database if callers wait for it.
    pub(crate) fn resume(self: &Rc<Self>) {
        let was_suspended = self.replace_if(|state| matches!(state, State::Suspended)).is_some();
        if was_suspended && !self.waiting.borrow().is_empty() {
            self.limit_all(1.0);
            self.open(true);
        }
    }

    /// Ends a state of that kind, and returns it.
    fn replace_if(&self, is_kind: fn(&State) -> bool) -> Option<State> {
        let mut state = self.state.borrow_mut();
        is_kind(&state).then(|| mem::replace(&mut *state, State::Closed))
    }

    fn opening(&self) -> Option<Rc<Opening>> {
        match &*self.state.borrow() {
            State::Opening(opening) => Some(Rc::clone(opening)),
            _ => None,
        }
    }

    fn take_opening(&self) -> Option<Rc<Opening>> {
        let opening = self.opening()?;
        self.state.replace(State::Closed);
        Some(opening)
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
                let earlier = self.state.replace(State::Opening(Rc::new(opening)));
                drop(earlier);
            }
            Err(failure) => self.settle(Err(failure)),
        }
    }

    fn handle(self: &Rc<Self>, event: &JsObject) {
        // Otherwise Firefox reports an uncaught error.
        event.unchecked_ref::<Event>().prevent_default();
        let request: JsObject = event.get("target").unchecked_into();
        match event.text("type").as_str() {
            "upgradeneeded" => {
                if let Err(failure) = schema::create(&request, event) {
                    self.fail(failure);
                }
            }
            "blocked" => {
                if let Some(opening) = self.opening() {
                    opening.is_blocked.set(true);
                }
                self.limit_all(1.0);
            }
            "success" => match JsObject::found(request.get("result")) {
                Some(raw) => self.connect(request, raw.unchecked_into()),
                // The request of a deletion has no result.
                None => self.settle(Ok(())),
            },
            _ => {
                let thrown = request.get("error");
                let may_try_again = self.opening().is_some_and(|opening| opening.may_try_again);
                if may_try_again && Failure::may_be_loss(&thrown) {
                    self.open(false);
                } else {
                    self.settle(Err(Failure::of_opening(&thrown)));
                }
            }
        }
    }

    /// Starts the time of a waiting caller, or starts it again. The opening itself continues when the time
    /// is up, since it cannot be cancelled: it succeeds once nothing blocks it.
    fn limit(self: &Rc<Self>, number: u32, timeout: f64) {
        let database = Rc::downgrade(self);
        let timer = Timer::start(timeout, move || {
            if let Some(database) = database.upgrade() {
                database.time_out(number);
            }
        });
        let mut waiting = self.waiting.borrow_mut();
        let waiter = waiting.iter_mut().find(|waiter| waiter.number == number);
        let earlier = waiter.and_then(|waiter| waiter.timer.replace(timer));
        drop(waiting);
        drop(earlier);
    }

    /// Starts the times of all waiting callers again: so many times their timeouts.
    fn limit_all(self: &Rc<Self>, times: f64) {
        let mut index = 0;
        loop {
            let waiting = self.waiting.borrow();
            let limit = waiting.get(index).map(|waiter| (waiter.number, waiter.timeout));
            drop(waiting);
            let Some((number, timeout)) = limit else { return };
            self.limit(number, times * timeout);
            index += 1;
        }
    }

    fn lift_limits(&self) {
        loop {
            let mut waiting = self.waiting.borrow_mut();
            let timer = waiting.iter_mut().find_map(|waiter| waiter.timer.take());
            drop(waiting);
            if timer.is_none() {
                return;
            }
        }
    }

    fn time_out(&self, number: u32) {
        let mut waiting = self.waiting.borrow_mut();
        let index = waiting.iter().position(|waiter| waiter.number == number);
        let waiter = index.map(|index| waiting.remove(index));
        drop(waiting);
        let failure = if self.opening().is_some_and(|opening| opening.is_blocked.get()) {
            Failure::of(StorageProblem::Blocked, "it is open")
        } else {
            Failure::lost("no answer")
        };
        drop(waiter.map(|waiter| waiter.answer.send(Err(failure))));
    }

    /// Uses the new connection, once `on_open` has prepared it.
    fn connect(self: &Rc<Self>, request: JsObject, raw: IdbDatabase) {
        let (database, closing) = (Rc::downgrade(self), raw.clone());
        let listener = Listener::new(move |_| {
            // Closes a connection that no caller has yet as well. No caller waits for this, so
            // exceptions are dropped.
            drop(guard(&mut || closing.close()));
            if let Some(database) = database.upgrade() {
                drop(guard(&mut || database.disconnect()));
            }
        });
        close_without_code(&raw);
        listen(&raw, &ENDS, listener.as_ref());
        let connection = Connection { raw, _listener: listener };
        let Some(on_open) = self.on_open.clone() else {
            return self.succeed(connection);
        };
        self.limit_all(PREPARATION);
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
        request: JsObject,
    ) -> Result<(), JsValue> {
        let prepared = on_open.call0(&JsValue::UNDEFINED)?;
        JsFuture::from(Promise::resolve(&prepared)).await?;
        if self.is_opening(&request) {
            self.succeed(connection);
        }
        Ok(())
    }

    /// Whether this request is still under way, or its connection is being prepared.
    fn is_opening(&self, request: &JsObject) -> bool {
        self.opening().is_some_and(|opening| opening.request == *request)
    }

    fn succeed(&self, connection: Connection) {
        let earlier = self.state.replace(State::Open(connection));
        self.answer(&Ok(()));
        drop(earlier);
    }

    /// Ends an opening that the browser still carries out, and fails the waiting callers.
    fn fail(&self, failure: Failure) {
        if let Some(opening) = self.take_opening() {
            opening.abandon();
        }
        self.answer(&Err(failure));
    }

    fn settle(&self, done: Result<(), Failure>) {
        let opening = self.take_opening();
        self.answer(&done);
        drop(opening);
    }

    fn answer(&self, done: &Result<(), Failure>) {
        let waiting = self.waiting.take();
        for waiter in waiting {
            drop(waiter.answer.send(done.clone()));
        }
    }
}

/// Lets the browser close the connection by itself when another tab wants to upgrade or delete the database. Firefox sends
/// the event to a frozen worker too, but runs none of its code: the deletion would wait until the page is shown.
fn close_without_code(raw: &IdbDatabase) {
    let close: Function = raw.unchecked_ref::<JsObject>().get("close").unchecked_into();
    // Fails in no browser. Without it, the listener closes the connection.
    let _ = raw.add_event_listener_with_callback("versionchange", &close.bind0(raw));
}

/// Deletes a database with everything in it. Connections of this package close, here and in other
/// tabs. Fails with `storage_blocked` if others stay open for `timeout` milliseconds.
pub(crate) async fn delete(name: &str, timeout: f64) -> Result<(), Failure> {
    Database::new(name, IdbFactory::delete_database, None).requested(timeout).await
}
