//! One transaction: opened, read by rounds of requests, written to, committed, and ended for sure.
//!
//! A transaction commits by itself as soon as it has no request under way and nobody may make one.
//! So nothing is awaited within but its own requests: the browser calls back, that wakes the future,
//! and the microtask which polls it still runs within the callback.
//!
//! What making a request throws is told by the round that it belongs to, or by the commit: whoever
//! makes requests has nothing to check.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use js_sys::{Array, Object, Reflect};
use wasm_bindgen::prelude::*;
use web_sys::{IdbDatabase, IdbIndex, IdbObjectStore, IdbRequest, IdbTransaction};

use crate::storage::indexed_db::failure::Failure;
use crate::storage::indexed_db::record::Record;
use crate::storage::indexed_db::signal::{Done, Listener, Signal, listen};
use crate::storage::indexed_db::timer::Timer;

/// What is done in a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Read,
    /// `strict`: it counts as complete only once the disk has it.
    Write {
        strict: bool,
    },
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
        options: &Object,
    ) -> Result<IdbTransaction, JsValue>;

    /// A store or an index. web-sys has a method each, and each once more with a limit.
    pub(super) type Source;

    /// `range` may be options as well, where the engine knows them.
    #[wasm_bindgen(method, catch, js_name = getAll)]
    pub(super) fn get_all(
        this: &Source,
        range: &JsValue,
        limit: Option<u32>,
    ) -> Result<IdbRequest, JsValue>;
}

const EVENTS: [&str; 3] = ["oncomplete", "onabort", "onerror"];

/// How far it has come.
struct Progress {
    raw: IdbTransaction,
    ended: RefCell<Option<Done>>,
    /// What making a request threw, or what one failed with.
    failure: RefCell<Option<Failure>>,
    /// Of whoever waits for the round or the end.
    signal: RefCell<Signal>,
}

impl Progress {
    fn hear(&self, event: &Record) {
        match event.text("type").as_str() {
            "success" => self.signal.borrow().set(Ok(())),
            "complete" => self.end(Ok(())),
            "error" => self.hear_error(event),
            _ => {
                let error = Record::found(self.raw.unchecked_ref::<Record>().get("error"));
                let told = || error.map(|error| Failure::of_transaction(&error));
                let failure = self.failure.take().or_else(told);
                let nobody_told = || Failure::lost("it was aborted");
                self.end(Err(failure.unwrap_or_else(nobody_told)));
            }
        }
    }

    /// A request failed. That ends the transaction, whose own error Safari does not always tell; the
    /// requests that are under way then fail as well, because it ends.
    fn hear_error(&self, event: &Record) {
        let request = Record::found(event.get("target"));
        let error = request.and_then(|request| Record::found(request.get("error")));
        if let Some(error) = error.filter(|error| error.text("name") != "AbortError") {
            self.fail(&error);
        }
    }

    fn fail(&self, thrown: &JsValue) {
        self.failure.borrow_mut().get_or_insert_with(|| Failure::of_transaction(thrown));
    }

    fn end(&self, end: Done) {
        let end = self.ended.borrow_mut().get_or_insert(end).clone();
        self.signal.borrow().set(end);
    }

    /// Set when the round is answered or the transaction ends.
    fn next(&self) -> Signal {
        let signal = Signal::default();
        if let Some(end) = self.ended.borrow().as_ref() {
            signal.set(end.clone());
        }
        *self.signal.borrow_mut() = signal.clone();
        signal
    }
}

/// Aborts when it is dropped before [`Transaction::commit`], if it may have written.
pub(super) struct Transaction {
    raw: IdbTransaction,
    mode: Mode,
    progress: Rc<Progress>,
    /// Milliseconds.
    timeout: f64,
    /// Set once the transaction is listened to.
    timer: Rc<OnceCell<Timer>>,
    /// The requests of this round.
    round: RefCell<Array>,
    listener: Listener,
}

impl Transaction {
    /// `timeout` in milliseconds: without any event for so long it is given up.
    pub(super) fn begin(
        database: &IdbDatabase,
        stores: &JsValue,
        mode: Mode,
        timeout: f64,
    ) -> Result<Self, Failure> {
        let options = Object::new();
        let (kind, durability) = match mode {
            Mode::Read => ("readonly", None),
            Mode::Write { strict: true } => ("readwrite", Some("strict")),
            Mode::Write { strict: false } => ("readwrite", Some("relaxed")),
        };
        if let Some(durability) = durability {
            options.unchecked_ref::<Record>().set_text("durability", durability);
        }
        let raw = database
            .unchecked_ref::<WithOptions>()
            .transaction(stores, kind, &options)
            .map_err(|thrown| Failure::of_transaction(&thrown))?;
        Ok(Self::over(raw, mode, timeout))
    }

    fn over(raw: IdbTransaction, mode: Mode, timeout: f64) -> Self {
        let progress = Rc::new(Progress {
            raw: raw.clone(),
            ended: RefCell::default(),
            failure: RefCell::default(),
            signal: RefCell::default(),
        });
        let timer = Rc::<OnceCell<Timer>>::default();
        let (heard, hearing) = (Rc::clone(&timer), Rc::clone(&progress));
        let listener = Listener::new(move |event: JsValue| {
            if let Some(heard) = heard.get() {
                heard.restart();
            }
            hearing.hear(event.unchecked_ref());
        });
        Self { raw, mode, progress, timeout, timer, round: RefCell::default(), listener }
    }

    /// Begins to listen, if that was not done yet. Not before the first requests are made: nothing can
    /// be heard as long as nothing is awaited, and the browser is at work meanwhile.
    fn attend(&self) {
        self.timer.get_or_init(|| {
            listen(&self.raw, &EVENTS, self.listener.as_ref());
            let late = Rc::clone(&self.progress);
            let give_up = move || {
                late.end(Err(Failure::lost("no answer")));
                // It may be beyond that, too.
                let _ = late.raw.abort();
            };
            Timer::start(self.timeout, Box::new(give_up))
        });
    }

    pub(super) fn get(&self, store: &str, key: &JsValue) {
        self.ask_store(store, IdbObjectStore::get, key);
    }

    /// Asks for a list of what lies in a range, or of so much of it.
    pub(super) fn get_all(&self, store: &str, range: &JsValue, limit: Option<u32>) {
        let store = self.raw.object_store(store);
        self.ask(store.and_then(|store| store.unchecked_ref::<Source>().get_all(range, limit)));
    }

    /// Asks for a list of all that an index has in a range.
    pub(super) fn find(&self, store: &str, index: &str, range: &JsValue) {
        let index = self.index(store, index);
        self.ask(index.and_then(|index| index.unchecked_ref::<Source>().get_all(range, None)));
    }

    pub(super) fn put(&self, store: &str, record: &JsValue) {
        self.ask_store(store, IdbObjectStore::put, record);
    }

    /// Puts what must not be there yet.
    pub(super) fn add(&self, store: &str, record: &JsValue) {
        self.ask_store(store, IdbObjectStore::add, record);
    }

    /// Deletes what has that key, or lies in that range.
    pub(super) fn delete(&self, store: &str, key: &JsValue) {
        self.ask_store(store, IdbObjectStore::delete, key);
    }

    fn ask_store(
        &self,
        store: &str,
        verb: fn(&IdbObjectStore, &JsValue) -> Result<IdbRequest, JsValue>,
        argument: &JsValue,
    ) {
        self.ask(self.raw.object_store(store).and_then(|store| verb(&store, argument)));
    }

    pub(super) fn index(&self, store: &str, name: &str) -> Result<IdbIndex, JsValue> {
        self.raw.object_store(store)?.index(name)
    }

    /// Takes a request into the round.
    pub(super) fn ask(&self, request: Result<IdbRequest, JsValue>) {
        match request {
            Ok(request) => {
                self.round.borrow().push(&request);
            }
            Err(thrown) => self.progress.fail(&thrown),
        }
    }

    /// Waits until all requests that were made have their results, and returns these.
    pub(super) async fn answered(&self) -> Result<Array, Failure> {
        self.results_of(self.end_round()).await
    }

    /// Ends a round, so that others can follow before its results are there.
    pub(super) fn end_round(&self) -> Array {
        self.round.take()
    }

    /// Waits for the results of a round that was ended. Nothing may be awaited in between: they
    /// would go unheard. Requests are carried out in their order, so it is the last one that tells.
    pub(super) async fn results_of(&self, round: Array) -> Result<Array, Failure> {
        self.attend();
        self.check()?;
        let last = round.get(round.length().wrapping_sub(1));
        if last.is_object() {
            listen(&last, &["onsuccess"], self.listener.as_ref());
            self.progress.next().await?;
        }
        results(&round).map_err(|thrown| Failure::of_transaction(&thrown))
    }

    fn check(&self) -> Done {
        self.progress.failure.borrow().clone().map_or(Ok(()), Err)
    }

    /// Commits, and waits until it is done: only then has anything been written.
    pub(super) async fn commit(self) -> Done {
        if commits_in_spite_of_errors() {
            self.answered().await?;
        }
        self.attend();
        self.check()?;
        // Without it, the transaction would wait for whether another request comes.
        if let Err(thrown) = self.raw.unchecked_ref::<Committable>().commit() {
            return Err(Failure::of_transaction(&thrown));
        }
        self.progress.next().await
    }
}

fn results(round: &Array) -> Result<Array, JsValue> {
    let results = Array::new();
    for request in round.iter() {
        results.push(&request.unchecked_ref::<IdbRequest>().result()?);
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
        if let Some(timer) = self.timer.get() {
            timer.stop();
        }
        listen(&self.raw, &EVENTS, &JsValue::NULL);
        if self.mode != Mode::Read && self.progress.ended.borrow().is_none() {
            // Refused where it is over already.
            let _ = self.raw.abort();
        }
    }
}
