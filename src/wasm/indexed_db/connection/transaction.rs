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

use futures_channel::oneshot;
use js_sys::{Array, Reflect};
use wasm_bindgen::prelude::*;
use web_sys::{IdbDatabase, IdbIndex, IdbObjectStore, IdbRequest, IdbTransaction};

use crate::guarded::guard;
use crate::indexed_db::connection::listener::{Listener, listen};
use crate::indexed_db::connection::timer::Timer;
use crate::indexed_db::records::failure::{Failure, LARGEST_RECORD};
use crate::indexed_db::records::keys;
use crate::object::JsObject;

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

const ENDS: [&str; 3] = ["oncomplete", "onabort", "onerror"];

/// A transaction that may write aborts if it is dropped before [`Transaction::commit`].
pub(crate) struct Transaction {
    raw: IdbTransaction,
    mode: Mode,
    /// The requests of the current round.
    round: RefCell<Vec<IdbRequest>>,
    /// UTF-16 code units of the texts that it writes.
    written: Cell<u32>,
    /// The first failure: of a request, or of an attempt to make one.
    failure: RefCell<Option<Failure>>,
    ended: RefCell<Option<Result<(), Failure>>>,
    /// Wakes the future that holds the receiver. Dropping the sender wakes it: when the round has
    /// succeeded, or when the transaction has ended.
    waiter: RefCell<Option<oneshot::Sender<()>>>,
    timer: Timer,
    listener: Listener,
}

type Verb = fn(&IdbObjectStore, &JsValue) -> Result<IdbRequest, JsValue>;

impl Transaction {
    /// `strict`: a commit completes only once the data is on disk. A transaction without any event
    /// for `timeout` milliseconds is given up.
    pub(crate) fn begin(
        database: &IdbDatabase,
        mode: Mode,
        stores: &[&str],
        strict: bool,
        timeout: f64,
    ) -> Result<Rc<Self>, Failure> {
        let options = JsObject::empty();
        options.set_text("durability", if strict { "strict" } else { "relaxed" });
        let kind = if mode == Mode::Read { "readonly" } else { "readwrite" };
        let raw = database
            .unchecked_ref::<WithOptions>()
            .transaction(&keys::list(stores), kind, &options)
            .map_err(|thrown| Failure::of_transaction(&thrown))?;
        let transaction = Rc::new_cyclic(|late: &Weak<Self>| {
            let (timed, late) = (Weak::clone(late), Weak::clone(late));
            let timer = Timer::start(timeout, move || {
                if let Some(transaction) = timed.upgrade() {
                    transaction.give_up(Failure::lost("no answer"));
                }
            });
            let listener = Listener::new(move |event: JsValue| {
                let Some(transaction) = late.upgrade() else {
                    return;
                };
                if let Err(thrown) = guard(&mut || transaction.handle(event.unchecked_ref())) {
                    transaction.give_up(Failure::thrown(thrown));
                }
            });
            let (round, written, failure, ended, waiter) = Default::default();
            Self { raw, mode, round, written, failure, ended, waiter, timer, listener }
        });
        listen(&transaction.raw, &ENDS, transaction.listener.as_ref());
        Ok(transaction)
    }

    pub(crate) fn get(&self, store: &str, key: &JsValue) {
        self.ask_store(store, IdbObjectStore::get, key);
    }

    /// Requests the list of all keys of a store.
    pub(crate) fn get_all_keys(&self, store: &str) {
        let store = self.raw.object_store(store);
        self.ask(store.and_then(|store| store.get_all_keys()));
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

    pub(crate) fn put(&self, store: &str, record: &JsObject) {
        self.write(store, IdbObjectStore::put, record);
    }

    /// Adds a record whose key must be free.
    pub(crate) fn add(&self, store: &str, record: &JsObject) {
        self.write(store, IdbObjectStore::add, record);
    }

    fn write(&self, store: &str, verb: Verb, record: &JsObject) {
        let length = record.length();
        self.written.set(self.written.get().saturating_add(length));
        if length > LARGEST_RECORD {
            self.fail(Failure::too_large(&record.name(), length));
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
            Err(thrown) => self.fail(Failure::of_transaction(&thrown)),
        }
    }

    /// Waits until all requests of the round have succeeded, and returns their results. Requests run
    /// in order, so the last one shows that all are done.
    pub(crate) async fn results(&self) -> Result<Array, Failure> {
        let round = self.round.take();
        self.check()?;
        if let Some(last) = round.last() {
            listen(last, &["onsuccess"], self.listener.as_ref());
            self.next().await?;
        }
        results(&round).map_err(|thrown| Failure::of_transaction(&thrown))
    }

    /// Commits, and waits until the commit is complete: before that, nothing is stored.
    pub(crate) async fn commit(&self) -> Result<(), Failure> {
        if self.written.get() > LARGE || commits_in_spite_of_errors() {
            self.results().await?;
        }
        self.check()?;
        // Without this call, the transaction would first wait for further requests.
        if let Err(thrown) = self.raw.unchecked_ref::<Committable>().commit() {
            return Err(Failure::of_transaction(&thrown));
        }
        self.next().await.map_err(Failure::in_commit)
    }

    /// Waits until the transaction ends, or a request with the listener succeeds.
    async fn next(&self) -> Result<(), Failure> {
        if !self.has_ended() {
            let (waiter, woken) = oneshot::channel();
            self.waiter.replace(Some(waiter));
            let _ = woken.await;
        }
        self.ended.borrow().clone().unwrap_or(Ok(()))
    }

    fn check(&self) -> Result<(), Failure> {
        self.failure.borrow().clone().map_or(Ok(()), Err)
    }

    /// Notes a failure, unless there was one before.
    fn fail(&self, failure: Failure) {
        self.failure.borrow_mut().get_or_insert(failure);
    }

    fn handle(&self, event: &JsObject) {
        self.timer.restart();
        match event.text("type").as_str() {
            "success" => drop(self.waiter.take()),
            "complete" => self.end(Ok(())),
            "error" => self.handle_error(event),
            _ => {
                let transaction = event.get("target").unchecked_into::<JsObject>();
                let error = JsObject::found(transaction.get("error"));
                let reported = || error.map(|error| Failure::of_transaction(&error));
                let failure = self.failure.take().or_else(reported);
                let unreported = || Failure::lost("it was aborted");
                self.end(Err(failure.unwrap_or_else(unreported)));
            }
        }
    }

    /// Handles a failed request. Its error is kept, because Safari does not always report it as the
    /// transaction's error. The failed request aborts the transaction. Pending requests then fail with
    /// an `AbortError`, which is ignored.
    fn handle_error(&self, event: &JsObject) {
        let request = JsObject::found(event.get("target"));
        let error = request.and_then(|request| JsObject::found(request.get("error")));
        if let Some(error) = error.filter(|error| error.text("name") != "AbortError") {
            self.fail(Failure::of_transaction(&error));
        }
    }

    /// Aborts the transaction because the page is left. After its commit it can only be given up.
    pub(crate) fn leave(&self) {
        let is_aborted = self.raw.abort().is_ok();
        self.end(Err(Failure::page_left(is_aborted)));
    }

    /// Aborts the transaction if it writes and has not ended.
    pub(crate) fn abort_write(&self) {
        if self.mode == Mode::Write && !self.has_ended() {
            // Fails if the browser has ended it already.
            let _ = self.raw.abort();
        }
    }

    fn give_up(&self, failure: Failure) {
        self.end(Err(failure));
        // Fails if the browser has ended it already.
        let _ = self.raw.abort();
    }

    fn end(&self, end: Result<(), Failure>) {
        self.ended.borrow_mut().get_or_insert(end);
        // The waiter is taken out first: nothing may stay borrowed while JavaScript is called, which
        // may throw.
        drop(self.waiter.take());
    }

    fn has_ended(&self) -> bool {
        self.ended.borrow().is_some()
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
        listen(&self.raw, &ENDS, &JsValue::NULL);
        self.abort_write();
    }
}
