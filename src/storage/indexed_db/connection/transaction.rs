//! One transaction: opened, read by rounds of requests, written to, committed, and ended for sure.
//!
//! A transaction commits by itself as soon as it has no request under way and nobody may make one.
//! So nothing is awaited within but its own requests: the browser calls back, that wakes the future,
//! and the microtask which polls it still runs within the callback.
//!
//! What making a request throws is told by the round that it belongs to, or by the commit: whoever
//! makes requests has nothing to check.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::{Array, Reflect};
use wasm_bindgen::prelude::*;
use web_sys::{IdbDatabase, IdbIndex, IdbObjectStore, IdbRequest, IdbTransaction};

use crate::storage::indexed_db::connection::hearing::Hearing;
use crate::storage::indexed_db::connection::signal::Done;
use crate::storage::indexed_db::records::failure::{Failure, LARGEST_RECORD};
use crate::storage::indexed_db::records::object::Record;

/// What is done in a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Read,
    Write,
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(extends = IdbTransaction)]
    type Committable;

    /// web-sys takes it for a thing of Firefox alone; by now it is in the standard.
    #[wasm_bindgen(method, catch)]
    fn commit(this: &Committable) -> Result<(), JsValue>;

    /// web-sys has the options behind a flag of the compiler, which every user would have to set.
    #[wasm_bindgen(extends = IdbDatabase)]
    type WithOptions;

    #[wasm_bindgen(method, catch)]
    fn transaction(
        this: &WithOptions,
        stores: &JsValue,
        mode: &str,
        options: &JsValue,
    ) -> Result<IdbTransaction, JsValue>;

    /// A store or an index. web-sys has a method each, and each once more with a limit.
    pub(crate) type Source;

    /// `range` may be options as well, where the engine knows them.
    #[wasm_bindgen(method, catch, js_name = getAll)]
    pub(crate) fn get_all(
        this: &Source,
        range: &JsValue,
        limit: Option<u32>,
    ) -> Result<IdbRequest, JsValue>;
}

/// UTF-16 code units of texts that a transaction writes before its commit waits for each answer.
const LARGE: u32 = 1024 * 1024;

/// What all transactions through a connection have in common.
pub(crate) struct Transactions {
    /// Milliseconds.
    timeout: f64,
    /// Of those that write.
    options: Record,
    commits_in_spite_of_errors: bool,
    /// Of an earlier transaction, for the next one.
    spare: RefCell<Option<Rc<Hearing>>>,
    /// The last one that writes, until it is dropped.
    writing: RefCell<Option<IdbTransaction>>,
}

impl Transactions {
    /// `strict`: what is written counts as complete only once the disk has it. `timeout` in milliseconds:
    /// a transaction without any event for so long is given up.
    pub(crate) fn new(strict: bool, timeout: f64) -> Rc<Self> {
        let options = Record::empty();
        options.set_text("durability", if strict { "strict" } else { "relaxed" });
        let commits_in_spite_of_errors = commits_in_spite_of_errors();
        let (spare, writing) = (RefCell::default(), RefCell::default());
        Rc::new(Self { timeout, options, commits_in_spite_of_errors, spare, writing })
    }

    /// Aborts the transaction that an exception left behind: it would commit what it wrote before.
    pub(crate) fn abort_left_behind(&self) {
        if let Some(raw) = self.writing.take() {
            // Refused where it is over already.
            let _ = raw.abort();
        }
    }

    pub(crate) fn begin(
        self: &Rc<Self>,
        database: &IdbDatabase,
        stores: &JsValue,
        mode: Mode,
    ) -> Result<Transaction, Failure> {
        let (kind, options): (_, &JsValue) = match mode {
            Mode::Read => ("readonly", &JsValue::UNDEFINED),
            Mode::Write => ("readwrite", &self.options),
        };
        let raw = database
            .unchecked_ref::<WithOptions>()
            .transaction(stores, kind, options)
            .map_err(|thrown| Failure::of_transaction(&thrown))?;
        let spare = self.spare.take();
        let hearing = spare.unwrap_or_else(|| Rc::new(Hearing::new(self.timeout)));
        hearing.turn_to(raw.clone());
        if mode == Mode::Write {
            self.writing.replace(Some(raw.clone()));
        }
        let (round, written) = (RefCell::default(), Cell::default());
        Ok(Transaction { raw, mode, hearing, round, written, all: Rc::clone(self) })
    }
}

/// Aborts when it is dropped before [`Transaction::commit`], if it may have written.
pub(crate) struct Transaction {
    raw: IdbTransaction,
    mode: Mode,
    hearing: Rc<Hearing>,
    /// The requests of this round.
    round: RefCell<Vec<IdbRequest>>,
    /// UTF-16 code units of the texts that it writes.
    written: Cell<u32>,
    all: Rc<Transactions>,
}

type Verb = fn(&IdbObjectStore, &JsValue) -> Result<IdbRequest, JsValue>;

/// Requests under way.
pub(crate) type Round = Vec<IdbRequest>;

impl Transaction {
    pub(crate) fn get(&self, store: &str, key: &JsValue) {
        self.ask_store(store, IdbObjectStore::get, key);
    }

    /// Asks for a list of what lies in a range, or of so much of it.
    pub(crate) fn get_all(&self, store: &str, range: &JsValue, limit: Option<u32>) {
        let store = self.raw.object_store(store);
        self.ask(store.and_then(|store| store.unchecked_ref::<Source>().get_all(range, limit)));
    }

    /// Asks for a list of all that an index has in a range.
    pub(crate) fn find(&self, store: &str, index: &str, range: &JsValue) {
        let index = self.index(store, index);
        self.ask(index.and_then(|index| index.unchecked_ref::<Source>().get_all(range, None)));
    }

    pub(crate) fn put(&self, store: &str, record: &Record) {
        self.write(store, IdbObjectStore::put, record);
    }

    /// Puts what must not be there yet.
    pub(crate) fn add(&self, store: &str, record: &Record) {
        self.write(store, IdbObjectStore::add, record);
    }

    fn write(&self, store: &str, verb: Verb, record: &Record) {
        let length = record.length();
        self.written.set(self.written.get().saturating_add(length));
        if length > LARGEST_RECORD {
            self.hearing.refuse(Failure::too_large(&record.name(), length));
        } else {
            self.ask_store(store, verb, record);
        }
    }

    /// Deletes what has that key, or lies in that range.
    pub(crate) fn delete(&self, store: &str, key: &JsValue) {
        self.ask_store(store, IdbObjectStore::delete, key);
    }

    fn ask_store(&self, store: &str, verb: Verb, argument: &JsValue) {
        self.ask(self.raw.object_store(store).and_then(|store| verb(&store, argument)));
    }

    pub(crate) fn index(&self, store: &str, name: &str) -> Result<IdbIndex, JsValue> {
        self.raw.object_store(store)?.index(name)
    }

    /// Takes a request into the round.
    pub(crate) fn ask(&self, request: Result<IdbRequest, JsValue>) {
        match request {
            Ok(request) => self.round.borrow_mut().push(request),
            Err(thrown) => self.hearing.fail(&thrown),
        }
    }

    /// Waits until all requests that were made have their results, and returns these.
    pub(crate) async fn answered(&self) -> Result<Array, Failure> {
        self.results_of(self.end_round()).await
    }

    /// Ends a round, so that others can follow before its results are there.
    pub(crate) fn end_round(&self) -> Round {
        self.round.take()
    }

    /// Waits for the results of a round that was ended. Nothing may be awaited in between: they
    /// would go unheard. Requests are carried out in their order, so it is the last one that tells.
    pub(crate) async fn results_of(&self, round: Round) -> Result<Array, Failure> {
        self.hearing.listen();
        self.hearing.check()?;
        if let Some(last) = round.last() {
            self.hearing.answered(last).await?;
        }
        results(&round).map_err(|thrown| Failure::of_transaction(&thrown))
    }

    /// Commits, and waits until it is done: only then has anything been written.
    pub(crate) async fn commit(self) -> Done {
        if self.all.commits_in_spite_of_errors || self.written.get() > LARGE {
            self.answered().await?;
        }
        self.hearing.listen();
        self.hearing.check()?;
        // Without it, the transaction would wait for whether another request comes.
        if let Err(thrown) = self.raw.unchecked_ref::<Committable>().commit() {
            return Err(Failure::of_transaction(&thrown));
        }
        self.hearing.next().await
    }
}

fn results(round: &[IdbRequest]) -> Result<Array, JsValue> {
    let results = Array::new();
    for request in round {
        results.push(&request.result()?);
    }
    Ok(results)
}

/// Whether a request that fails after `commit()` was called does not abort the transaction, against
/// the standard: Firefox 153 then completes it, with whatever else it wrote. Nothing but
/// an experiment in the user's data would show it, so the engine is told by a global of its own.
fn commits_in_spite_of_errors() -> bool {
    Reflect::has(&js_sys::global(), &"InternalError".into()).unwrap_or(true)
}

impl Drop for Transaction {
    fn drop(&mut self) {
        let is_under_way = self.mode != Mode::Read && !self.hearing.has_ended();
        if self.mode == Mode::Write {
            self.all.writing.take();
        }
        if self.hearing.turn_away() {
            self.all.spare.replace(Some(Rc::clone(&self.hearing)));
        }
        if is_under_way {
            // Refused where it is over already.
            let _ = self.raw.abort();
        }
    }
}
