//! One transaction: its requests in rounds, its commit, and an end in every case.
//!
//! A transaction commits by itself once it has no pending request and no code that may make one. So
//! only the transaction's own requests are awaited. The browser's callback wakes the future, and
//! the microtask that polls it still runs within that callback.
//!
//! An exception from making a request is reported by the request's round, or by the commit. Code
//! that makes requests has nothing to check.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use js_sys::{Array, Reflect};
use wasm_bindgen::prelude::*;
use web_sys::{IdbDatabase, IdbIndex, IdbObjectStore, IdbRequest, IdbTransaction};

use crate::wasm::indexed_db::connection::one_shot::{Listener, listen};
use crate::wasm::indexed_db::connection::transaction_events::TransactionEvents;
use crate::wasm::indexed_db::records::failure::{Failure, LARGEST_RECORD};
use crate::wasm::indexed_db::records::keys;
use crate::wasm::object::Record;

/// Whether a transaction reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Read,
    Write,
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(extends = IdbTransaction)]
    type Committable;

    /// web-sys declares it for Firefox alone; by now it is in the standard.
    #[wasm_bindgen(method, catch)]
    fn commit(this: &Committable) -> Result<(), JsValue>;

    /// web-sys has the options only behind a compiler flag that every user would have to set.
    #[wasm_bindgen(extends = IdbDatabase)]
    type WithOptions;

    #[wasm_bindgen(method, catch)]
    fn transaction(
        this: &WithOptions,
        stores: &JsValue,
        mode: &str,
        options: &JsValue,
    ) -> Result<IdbTransaction, JsValue>;

    /// A store or an index. web-sys has separate methods for each of them, with and without a
    /// limit.
    pub(crate) type Source;

    /// `range` may also hold options, if the browser knows them.
    #[wasm_bindgen(method, catch, js_name = getAll)]
    pub(crate) fn get_all(
        this: &Source,
        range: &JsValue,
        limit: Option<u32>,
    ) -> Result<IdbRequest, JsValue>;
}

/// If a transaction writes more UTF-16 code units of text than this, its commit first waits for
/// each request.
const LARGE: u32 = 1024 * 1024;

/// Settings and state that all transactions of a connection share.
pub(crate) struct Transactions {
    /// Milliseconds.
    timeout: f64,
    /// Options of transactions that write.
    options: Record,
    commits_in_spite_of_errors: bool,
    running: RefCell<Vec<Weak<TransactionEvents>>>,
    /// The current transaction that writes, until it is dropped.
    writing: RefCell<Option<IdbTransaction>>,
}

impl Transactions {
    /// `strict`: a commit completes only once the data is on disk. A transaction without any event
    /// for `timeout` milliseconds is given up.
    pub(crate) fn new(strict: bool, timeout: f64) -> Rc<Self> {
        let options = Record::empty();
        options.set_text("durability", if strict { "strict" } else { "relaxed" });
        let commits_in_spite_of_errors = commits_in_spite_of_errors();
        let (running, writing) = Default::default();
        Rc::new(Self { timeout, options, commits_in_spite_of_errors, running, writing })
    }

    /// Aborts all transactions under way. Those after their commit may still complete.
    pub(crate) fn leave(&self) {
        let running = self.running.borrow().clone();
        for events in running.iter().filter_map(Weak::upgrade) {
            events.leave();
        }
    }

    /// Aborts the transaction that an exception left open. Otherwise the browser would commit its
    /// writes.
    pub(crate) fn abort_unfinished_write(&self) {
        if let Some(raw) = self.writing.take() {
            // Fails if the transaction has ended already.
            let _ = raw.abort();
        }
    }

    pub(crate) fn begin(
        self: &Rc<Self>,
        database: &IdbDatabase,
        mode: Mode,
        stores: &[&str],
    ) -> Result<Transaction, Failure> {
        let (kind, options): (_, &JsValue) = match mode {
            Mode::Read => ("readonly", &JsValue::UNDEFINED),
            Mode::Write => ("readwrite", &self.options),
        };
        let raw = database
            .unchecked_ref::<WithOptions>()
            .transaction(&keys::list(stores), kind, options)
            .map_err(|thrown| Failure::of_transaction(&thrown))?;
        let (events, listener) = TransactionEvents::of(raw.clone(), self.timeout);
        let mut running = self.running.borrow_mut();
        running.retain(|events| events.strong_count() > 0);
        running.push(Rc::downgrade(&events));
        drop(running);
        if mode == Mode::Write {
            self.writing.replace(Some(raw.clone()));
        }
        let (round, written) = (RefCell::default(), Cell::default());
        Ok(Transaction { raw, mode, events, listener, round, written, all: Rc::clone(self) })
    }
}

/// A transaction that may write aborts if it is dropped before [`Transaction::commit`].
pub(crate) struct Transaction {
    raw: IdbTransaction,
    mode: Mode,
    events: Rc<TransactionEvents>,
    listener: Listener,
    /// The requests of the current round.
    round: RefCell<Vec<IdbRequest>>,
    /// UTF-16 code units of the texts that it writes.
    written: Cell<u32>,
    all: Rc<Transactions>,
}

type Verb = fn(&IdbObjectStore, &JsValue) -> Result<IdbRequest, JsValue>;

impl Transaction {
    pub(crate) fn get(&self, store: &str, key: &JsValue) {
        self.ask_store(store, IdbObjectStore::get, key);
    }

    /// Requests the list of all records in a range, up to a limit.
    pub(crate) fn get_all(&self, store: &str, range: &JsValue, limit: Option<u32>) {
        let store = self.raw.object_store(store);
        self.ask(store.and_then(|store| store.unchecked_ref::<Source>().get_all(range, limit)));
    }

    /// Requests the list of all records that an index has in a range.
    pub(crate) fn find(&self, store: &str, index: &str, range: &JsValue) {
        let index = self.index(store, index);
        self.ask(index.and_then(|index| index.unchecked_ref::<Source>().get_all(range, None)));
    }

    pub(crate) fn put(&self, store: &str, record: &Record) {
        self.write(store, IdbObjectStore::put, record);
    }

    /// Adds a record whose key must be free.
    pub(crate) fn add(&self, store: &str, record: &Record) {
        self.write(store, IdbObjectStore::add, record);
    }

    fn write(&self, store: &str, verb: Verb, record: &Record) {
        let length = record.length();
        self.written.set(self.written.get().saturating_add(length));
        if length > LARGEST_RECORD {
            self.events.refuse(Failure::too_large(&record.name(), length));
        } else {
            self.ask_store(store, verb, record);
        }
    }

    /// Deletes the record with this key, or all records in this range.
    pub(crate) fn delete(&self, store: &str, key: &JsValue) {
        self.ask_store(store, IdbObjectStore::delete, key);
    }

    fn ask_store(&self, store: &str, verb: Verb, argument: &JsValue) {
        self.ask(self.raw.object_store(store).and_then(|store| verb(&store, argument)));
    }

    pub(crate) fn index(&self, store: &str, name: &str) -> Result<IdbIndex, JsValue> {
        self.raw.object_store(store)?.index(name)
    }

    /// Adds a request to the round.
    pub(crate) fn ask(&self, request: Result<IdbRequest, JsValue>) {
        match request {
            Ok(request) => self.round.borrow_mut().push(request),
            Err(thrown) => self.events.fail(&thrown),
        }
    }

    /// Waits until all requests of the round have succeeded, and returns their results. Requests run
    /// in order, so the last one shows that all are done.
    pub(crate) async fn results(&self) -> Result<Array, Failure> {
        let round = self.round.take();
        self.events.check()?;
        if let Some(last) = round.last() {
            listen(last, &["onsuccess"], self.listener.as_ref());
            self.events.next().await?;
        }
        results(&round).map_err(|thrown| Failure::of_transaction(&thrown))
    }

    /// Commits, and waits until the commit is complete: before that, nothing is stored.
    pub(crate) async fn commit(self) -> Result<(), Failure> {
        if self.all.commits_in_spite_of_errors || self.written.get() > LARGE {
            self.results().await?;
        }
        self.events.check()?;
        // Without this call, the transaction would first wait for further requests.
        if let Err(thrown) = self.raw.unchecked_ref::<Committable>().commit() {
            return Err(Failure::of_transaction(&thrown));
        }
        self.events.next().await.map_err(Failure::in_commit)
    }
}

fn results(round: &[IdbRequest]) -> Result<Array, JsValue> {
    let results = Array::new();
    for request in round {
        results.push(&request.result()?);
    }
    Ok(results)
}

/// Whether a request that fails after `commit()` does not abort the transaction. This violates the
/// standard: Firefox 153 completes the transaction with all other writes. Only an experiment in the
/// user's data would show it, so Firefox is recognised by a global that it alone has.
fn commits_in_spite_of_errors() -> bool {
    Reflect::has(&js_sys::global(), &"InternalError".into()).unwrap_or(true)
}

impl Drop for Transaction {
    fn drop(&mut self) {
        self.events.forget();
        if self.mode == Mode::Read {
            return;
        }
        self.all.writing.take();
        if !self.events.has_ended() {
            // Fails if the transaction has ended already.
            let _ = self.raw.abort();
        }
    }
}
