//! One transaction: opened, read by rounds of requests, written to, committed, and ended for sure.
//!
//! A transaction commits by itself as soon as it has no request under way and nobody may make one.
//! So nothing is awaited within but its own requests: the browser calls back, that wakes the future,
//! and the microtask which polls it still runs within the callback.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use js_sys::{Array, Object, Reflect};
use wasm_bindgen::prelude::*;
use web_sys::{Event, IdbDatabase, IdbIndex, IdbObjectStore, IdbRequest, IdbTransaction};

use crate::storage::indexed_db::failure::Failure;
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
        stores: &Array,
        mode: &str,
        options: &Object,
    ) -> Result<IdbTransaction, JsValue>;
}

/// How far it has come.
#[derive(Default)]
struct Progress {
    /// Whether the last request of the round has its result, and so have those before it.
    answered: Cell<bool>,
    ended: RefCell<Option<Result<(), Failure>>>,
    /// What a request failed with.
    failure: RefCell<Option<Failure>>,
    waker: RefCell<Option<Waker>>,
}

impl Progress {
    fn wake(&self) {
        let waker = self.waker.borrow_mut().take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn end(&self, end: Result<(), Failure>) {
        self.ended.borrow_mut().get_or_insert(end);
        self.wake();
    }

    /// A request failed. That ends the transaction, whose own error Safari does not always tell; the
    /// requests that are under way then fail as well, because it ends.
    fn fail(&self, event: &Event) {
        let request = event.target().and_then(|target| target.dyn_into::<IdbRequest>().ok());
        let error = request.and_then(|request| request.error().ok().flatten());
        if let Some(error) = error.filter(|error| error.name() != "AbortError") {
            self.failure.borrow_mut().get_or_insert(Failure::of_transaction(&error));
        }
    }

    fn wait(&self, context: &Context<'_>) {
        *self.waker.borrow_mut() = Some(context.waker().clone());
    }
}

type Listener = Closure<dyn FnMut()>;

/// Aborts when it is dropped before [`Transaction::commit`], if it may have written.
pub(super) struct Transaction {
    raw: IdbTransaction,
    mode: Mode,
    progress: Rc<Progress>,
    timer: Timer,
    /// The request that was made last.
    last: RefCell<Option<IdbRequest>>,
    on_answer: Listener,
    // Live as long as the browser may call them.
    _on_end: [Listener; 2],
    _on_error: Closure<dyn FnMut(Event)>,
}

impl Transaction {
    /// `timeout` in milliseconds: without any event for so long it is given up.
    pub(super) fn begin(
        database: &IdbDatabase,
        stores: &[&str],
        mode: Mode,
        timeout: f64,
    ) -> Result<Self, Failure> {
        let names = stores.iter().map(|name| JsValue::from_str(name)).collect::<Array>();
        let options = Object::new();
        let (kind, durability) = match mode {
            Mode::Read => ("readonly", None),
            Mode::Write { strict: true } => ("readwrite", Some("strict")),
            Mode::Write { strict: false } => ("readwrite", Some("relaxed")),
        };
        if let Some(durability) = durability {
            let set = Reflect::set(&options, &"durability".into(), &durability.into());
            set.map_err(|thrown| Failure::of_transaction(&thrown))?;
        }
        let raw = database
            .unchecked_ref::<WithOptions>()
            .transaction(&names, kind, &options)
            .map_err(|thrown| Failure::of_transaction(&thrown))?;
        Ok(Self::over(raw, mode, timeout))
    }

    fn over(raw: IdbTransaction, mode: Mode, timeout: f64) -> Self {
        let progress = Rc::new(Progress::default());
        let (seen, given_up) = (Rc::clone(&progress), raw.clone());
        let timer = Timer::start(timeout, move || {
            seen.end(Err(Failure::lost("nothing was heard of a transaction for too long")));
            // It may be beyond that, too.
            let _ = given_up.abort();
        });
        let seen = Rc::clone(&progress);
        let heard = timer.clone();
        let on_answer = Listener::new(move || {
            heard.restart();
            seen.answered.set(true);
            seen.wake();
        });
        let seen = Rc::clone(&progress);
        let on_complete = Listener::new(move || seen.end(Ok(())));
        let seen = Rc::clone(&progress);
        let on_error = Closure::new(move |event: Event| seen.fail(&event));
        let (seen, aborted) = (Rc::clone(&progress), raw.clone());
        let on_abort = Listener::new(move || {
            let failure = seen
                .failure
                .take()
                .or_else(|| aborted.error().map(|error| Failure::of_transaction(&error)));
            let failure = failure.unwrap_or_else(|| Failure::lost("the transaction was aborted"));
            seen.end(Err(failure));
        });
        raw.set_oncomplete(Some(on_complete.as_ref().unchecked_ref()));
        raw.set_onabort(Some(on_abort.as_ref().unchecked_ref()));
        raw.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        let _on_end = [on_complete, on_abort];
        let last = RefCell::default();
        Self { raw, mode, progress, timer, last, on_answer, _on_end, _on_error: on_error }
    }

    pub(super) fn store(&self, name: &str) -> Result<IdbObjectStore, Failure> {
        self.raw.object_store(name).map_err(|thrown| Failure::of_transaction(&thrown))
    }

    pub(super) fn index(&self, store: &str, name: &str) -> Result<IdbIndex, Failure> {
        self.store(store)?.index(name).map_err(|thrown| Failure::of_transaction(&thrown))
    }

    /// A request, where making it did not throw.
    pub(super) fn asked(
        &self,
        request: Result<IdbRequest, JsValue>,
    ) -> Result<IdbRequest, Failure> {
        let request = request.map_err(|thrown| Failure::of_transaction(&thrown))?;
        *self.last.borrow_mut() = Some(request.clone());
        Ok(request)
    }

    /// Waits until all requests that were made have their results. They are carried out in their
    /// order, so it is the last one that tells.
    pub(super) async fn answered(&self) -> Result<(), Failure> {
        let Some(last) = self.last.borrow_mut().take() else {
            return Ok(());
        };
        self.progress.answered.set(false);
        last.set_onsuccess(Some(self.on_answer.as_ref().unchecked_ref()));
        poll_fn(|context| {
            if self.progress.answered.get() {
                return Poll::Ready(Ok(()));
            }
            if let Some(Err(failure)) = self.progress.ended.borrow().as_ref() {
                return Poll::Ready(Err(failure.clone()));
            }
            self.progress.wait(context);
            Poll::Pending
        })
        .await
    }

    /// Commits, and waits until it is done: only then has anything been written.
    pub(super) async fn commit(self) -> Result<(), Failure> {
        if commits_in_spite_of_errors() {
            self.answered().await?;
        }
        // Without it, the transaction would wait for whether another request comes.
        if let Err(thrown) = self.raw.unchecked_ref::<Committable>().commit() {
            return Err(Failure::of_transaction(&thrown));
        }
        poll_fn(|context| {
            if let Some(end) = self.progress.ended.borrow().as_ref() {
                return Poll::Ready(end.clone());
            }
            self.progress.wait(context);
            Poll::Pending
        })
        .await
    }
}

/// Whether a request that fails after `commit()` was called does not abort the transaction, against
/// the standard: Firefox 153 then completes it, with whatever else it wrote. Nothing but
/// an experiment in the user's data would show it, so the engine is told by a global of its own.
fn commits_in_spite_of_errors() -> bool {
    thread_local! {
        static IS_FIREFOX: bool =
            Reflect::has(&js_sys::global(), &"InternalError".into()).unwrap_or(true);
    }
    IS_FIREFOX.with(|is_firefox| *is_firefox)
}

impl Drop for Transaction {
    fn drop(&mut self) {
        self.timer.stop();
        self.raw.set_oncomplete(None);
        self.raw.set_onabort(None);
        self.raw.set_onerror(None);
        if self.mode != Mode::Read && self.progress.ended.borrow().is_none() {
            // Refused where it is over already.
            let _ = self.raw.abort();
        }
    }
}

/// The result of a request of a round that is answered.
pub(super) fn result(request: &IdbRequest) -> Result<JsValue, Failure> {
    request.result().map_err(|thrown| Failure::of_transaction(&thrown))
}
