//! The events of a transaction: whether a round of requests succeeded, and how the transaction ended.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use wasm_bindgen::prelude::*;
use web_sys::IdbTransaction;

use crate::wasm::guarded::guard;
use crate::wasm::indexed_db::connection::one_shot::{Listener, OneShot, listen};
use crate::wasm::indexed_db::connection::timer::Timer;
use crate::wasm::indexed_db::records::failure::Failure;
use crate::wasm::object::Record;

const EVENTS: [&str; 3] = ["oncomplete", "onabort", "onerror"];

/// What the events of a transaction and of its requests have told so far.
pub(crate) struct TransactionEvents {
    raw: IdbTransaction,
    ended: RefCell<Option<Result<(), Failure>>>,
    /// The first failure of a request, or the error that making one threw.
    failure: RefCell<Option<Failure>>,
    /// The future that waits for the round or the end.
    waiter: RefCell<OneShot>,
    timer: Timer,
}

impl TransactionEvents {
    /// Listens to a transaction for as long as the listener is kept. `timeout`: milliseconds without any event
    /// after which the transaction is given up.
    pub(crate) fn of(raw: IdbTransaction, timeout: f64) -> (Rc<Self>, Listener) {
        let events = Rc::new_cyclic(|late: &Weak<Self>| {
            let late = Weak::clone(late);
            let timer = Timer::start(timeout, move || {
                if let Some(late) = late.upgrade() {
                    late.give_up(Failure::lost("no answer"));
                }
            });
            let (ended, failure, waiter) = Default::default();
            Self { raw, ended, failure, waiter, timer }
        });
        let late = Rc::clone(&events);
        let listener = Listener::new(move |event: JsValue| {
            if let Err(thrown) = guard(&mut || late.handle(event.unchecked_ref())) {
                late.give_up(Failure::thrown(thrown));
            }
        });
        listen(&events.raw, &EVENTS, listener.as_ref());
        (events, listener)
    }

    /// Stops to listen.
    pub(crate) fn forget(&self) {
        listen(&self.raw, &EVENTS, &JsValue::NULL);
    }

    /// Returns a future that ends when the transaction ends, or when a request with the listener succeeds.
    pub(crate) fn next(&self) -> OneShot {
        let waiter = OneShot::default();
        if let Some(end) = self.ended.borrow().as_ref() {
            waiter.set(end.clone());
        }
        self.waiter.replace(waiter.clone());
        waiter
    }

    pub(crate) fn fail(&self, thrown: &JsValue) {
        self.failure.borrow_mut().get_or_insert_with(|| Failure::of_transaction(thrown));
    }

    pub(crate) fn refuse(&self, failure: Failure) {
        self.failure.borrow_mut().get_or_insert(failure);
    }

    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.failure.borrow().clone().map_or(Ok(()), Err)
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.borrow().is_some()
    }

    /// Aborts the transaction because the page is left. After its commit it can only be given up.
    pub(crate) fn leave(&self) {
        let is_aborted = self.raw.abort().is_ok();
        self.end(Err(Failure::page_left(is_aborted)));
    }

    // Clones, because nothing may stay borrowed while JavaScript is called: it may throw.
    fn waiter(&self) -> OneShot {
        self.waiter.borrow().clone()
    }

    fn handle(&self, event: &Record) {
        self.timer.restart();
        match event.text("type").as_str() {
            "success" => self.waiter().set(Ok(())),
            "complete" => self.end(Ok(())),
            "error" => self.handle_error(event),
            _ => {
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

    fn give_up(&self, failure: Failure) {
        self.end(Err(failure));
        // Fails if the transaction has ended already.
        let _ = self.raw.abort();
    }

    fn end(&self, end: Result<(), Failure>) {
        let end = self.ended.borrow_mut().get_or_insert(end).clone();
        self.waiter().set(end);
    }
}
