//! Listens to a transaction: whether a round of requests succeeded, and how the transaction ended.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use wasm_bindgen::prelude::*;
use web_sys::IdbTransaction;

use crate::wasm::guarded::guard;
use crate::wasm::indexed_db::connection::one_shot::{Listener, OneShot, listen};
use crate::wasm::indexed_db::connection::timer::Timer;
use crate::wasm::indexed_db::records::failure::Failure;
use crate::wasm::object::Record;

const EVENTS: [&str; 3] = ["oncomplete", "onabort", "onerror"];

/// Listens to one transaction after the other: a new listener and timer for each would cost too
/// much.
pub(crate) struct TransactionListener {
    progress: Rc<Progress>,
    /// Receives the transaction's events.
    listener: Listener,
    /// Receives the success of a request; its event is not read.
    success: Listener,
}

/// The progress of the transaction.
struct Progress {
    /// `None` between two transactions.
    raw: RefCell<Option<IdbTransaction>>,
    is_listening: Cell<bool>,
    ended: RefCell<Option<Result<(), Failure>>>,
    /// Whether the browser reported the end, after which no events follow.
    is_over: Cell<bool>,
    /// The first failure of a request, or the error that making one threw.
    failure: RefCell<Option<Failure>>,
    /// The future that waits for the round or the end.
    waiter: RefCell<OneShot>,
    timer: Timer,
}

impl TransactionListener {
    /// `timeout`: milliseconds without any event after which a transaction is given up.
    pub(crate) fn new(timeout: f64) -> Self {
        let progress = Rc::new_cyclic(|late: &Weak<Progress>| {
            let late = Weak::clone(late);
            let give_up = move || {
                if let Some(late) = late.upgrade() {
                    late.give_up(Failure::lost("no answer"));
                }
            };
            Progress {
                raw: RefCell::default(),
                is_listening: Cell::default(),
                ended: RefCell::default(),
                is_over: Cell::default(),
                failure: RefCell::default(),
                waiter: RefCell::default(),
                timer: Timer::new(timeout, Box::new(give_up)),
            }
        });
        let of_transaction = Rc::clone(&progress);
        let listener = Listener::new(move |event: JsValue| {
            of_transaction.guard(&mut || of_transaction.handle(event.unchecked_ref()));
        });
        let of_request = Rc::clone(&progress);
        let success = Listener::new(move |_| {
            of_request.guard(&mut || {
                of_request.timer.restart();
                of_request.waiter().set(Ok(()));
            });
        });
        Self { progress, listener, success }
    }

    /// Starts over with this transaction.
    pub(crate) fn attach(&self, raw: IdbTransaction) {
        let Progress { is_listening, ended, is_over, failure, .. } = &*self.progress;
        is_listening.set(false);
        ended.take();
        is_over.set(false);
        failure.take();
        self.progress.raw.replace(Some(raw));
    }

    /// Begins to listen, unless it does already. Called only after the first requests are made: no
    /// event can arrive before something is awaited, and the browser works meanwhile.
    pub(crate) fn listen(&self) {
        if let Some(raw) = self.progress.raw()
            && !self.progress.is_listening.replace(true)
        {
            listen(&raw, &EVENTS, self.listener.as_ref());
            self.progress.timer.start();
        }
    }

    /// Returns a future that ends when this request succeeds or the transaction ends.
    pub(crate) fn succeeded(&self, request: &JsValue) -> OneShot {
        listen(request, &["onsuccess"], self.success.as_ref());
        self.next()
    }

    /// Returns a future that ends when the transaction ends, or when a request passed to
    /// `succeeded` succeeds.
    pub(crate) fn next(&self) -> OneShot {
        let waiter = OneShot::default();
        if let Some(end) = self.progress.ended.borrow().as_ref() {
            waiter.set(end.clone());
        }
        self.progress.waiter.replace(waiter.clone());
        waiter
    }

    pub(crate) fn fail(&self, thrown: &JsValue) {
        self.progress.fail(thrown);
    }

    pub(crate) fn refuse(&self, failure: Failure) {
        self.progress.failure.borrow_mut().get_or_insert(failure);
    }

    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.progress.failure.borrow().clone().map_or(Ok(()), Err)
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.progress.ended.borrow().is_some()
    }

    /// Aborts the current transaction, if any, because the page is left. After its commit it can only
    /// be given up.
    pub(crate) fn leave(&self) {
        let Some(raw) = self.progress.raw() else {
            return;
        };
        let is_aborted = raw.abort().is_ok();
        self.progress.end(Err(Failure::page_left(is_aborted)));
    }

    /// Stops listening. Returns whether this listener can be reused: events that the browser has
    /// yet to send would be taken for events of the next transaction.
    pub(crate) fn detach(&self) -> bool {
        self.progress.timer.stop();
        let raw = self.progress.raw.take();
        let is_free = self.progress.is_over.get() || !self.progress.is_listening.get();
        if let Some(raw) = raw.filter(|_| !is_free) {
            listen(&raw, &EVENTS, &JsValue::NULL);
        }
        is_free
    }
}

impl Progress {
    // Clones, because nothing may stay borrowed while JavaScript is called: it may throw.
    fn raw(&self) -> Option<IdbTransaction> {
        self.raw.borrow().clone()
    }

    fn waiter(&self) -> OneShot {
        self.waiter.borrow().clone()
    }

    /// Runs the callback. Ends the transaction if JavaScript throws.
    fn guard(&self, run: &mut dyn FnMut()) {
        if let Err(thrown) = guard(run) {
            self.give_up(Failure::thrown(thrown));
        }
    }

    fn handle(&self, event: &Record) {
        self.timer.restart();
        match event.text("type").as_str() {
            "complete" => {
                self.is_over.set(true);
                self.end(Ok(()));
            }
            "error" => self.handle_error(event),
            _ => {
                self.is_over.set(true);
                let transaction = event.get("target").unchecked_into::<Record>();
                let error = Record::found(transaction.get("error"));
                let reported = || error.map(|error| Failure::of_transaction(&error));
                let failure = self.failure.take().or_else(reported);
                let unreported = || Failure::lost("it was aborted");
                self.end(Err(failure.unwrap_or_else(unreported)));
            }
        }
    }

    /// Handles a failed request. Safari does not always report it as the transaction's error, so it
    /// is kept. It aborts the transaction, so pending requests fail as well, with an `AbortError`
    /// that is ignored.
    fn handle_error(&self, event: &Record) {
        let request = Record::found(event.get("target"));
        let error = request.and_then(|request| Record::found(request.get("error")));
        if let Some(error) = error.filter(|error| error.text("name") != "AbortError") {
            self.fail(&error);
        }
    }

    fn fail(&self, thrown: &JsValue) {
        self.failure.borrow_mut().get_or_insert_with(|| Failure::of_transaction(thrown));
    }

    fn give_up(&self, failure: Failure) {
        self.end(Err(failure));
        if let Some(raw) = self.raw() {
            // Fails if the transaction has ended already.
            let _ = raw.abort();
        }
    }

    fn end(&self, end: Result<(), Failure>) {
        let end = self.ended.borrow_mut().get_or_insert(end).clone();
        self.waiter().set(end);
    }
}
