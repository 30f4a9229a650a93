//! The queue of writes, in the order of their calls. All writes that wait when a transaction begins
//! share it.
//!
//! A group is not atomic: each write succeeds or fails by itself. If the shared transaction fails,
//! its writes run again one by one.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::{mem, slice};

use wasm_bindgen::JsValue;
use wasm_bindgen_futures::spawn_local;

use crate::error::Error;
use crate::platform;
use crate::session::{Revision, SessionKey};
use crate::storage::Deletion;
use crate::storage::guarded::Guarded;
use crate::storage::indexed_db::connection::access::Access;
use crate::storage::indexed_db::connection::signal::{Done, Signal};
use crate::storage::indexed_db::records::failure::Failure;
use crate::storage::indexed_db::writing::group::write;
use crate::storage::indexed_db::writing::group_rows::{Checks, Member, RowCache};
use crate::storage::indexed_db::writing::{deleting, sealing};
use crate::storage::shared_write::SharedWrite;

/// The most members of a group, so that no transaction keeps others waiting for long.
const LARGEST: usize = 256;

enum Work {
    Write(Member),
    /// Writes the floor of revisions into the cell.
    Delete(Deletion, Rc<Cell<Revision>>, Signal),
    Seal(SessionKey),
}

impl Work {
    /// Returns the signal that settles the caller, if a caller waits.
    fn signal(&self) -> Option<Signal> {
        match self {
            Self::Write(Member { settled, .. }) | Self::Delete(_, _, settled) => {
                Some(settled.clone())
            }
            Self::Seal(_) => None,
        }
    }
}

/// The queue of one storage. At most one task works through it.
pub(crate) struct Queue {
    access: Rc<Access>,
    work: RefCell<Vec<Work>>,
    is_running: Cell<bool>,
    /// The signals of the work in progress.
    waiting: RefCell<Vec<Signal>>,
    cache: RefCell<RowCache>,
}

impl Queue {
    pub(crate) fn new(access: Rc<Access>) -> Rc<Self> {
        Rc::new(Self {
            access,
            work: RefCell::default(),
            is_running: Cell::default(),
            waiting: RefCell::default(),
            cache: RefCell::default(),
        })
    }

    pub(crate) fn write(self: &Rc<Self>, write: SharedWrite) -> Result<Signal, Error> {
        let plan = write.with(|write| write.plan().clone())?;
        let token = if plan.creates { f64::from(platform::random_seed() as u32) } else { 0.0 };
        let settled = Signal::default();
        let waiting = settled.clone();
        self.push(Work::Write(Member { plan, token, write, done: Ok(()), settled }));
        Ok(waiting)
    }

    pub(crate) fn delete(self: &Rc<Self>, deletion: Deletion, floor: Rc<Cell<Revision>>) -> Signal {
        let settled = Signal::default();
        self.push(Work::Delete(deletion, floor, settled.clone()));
        settled
    }

    fn push(self: &Rc<Self>, work: Work) {
        self.work.borrow_mut().push(work);
        if !self.is_running.replace(true) {
            // Begins in a microtask, so that calls made together form one group.
            let queue = Rc::clone(self);
            spawn_local(async move { queue.run().await });
        }
    }

    /// Works until the queue is empty. An exception ends only the current work: each step takes its
    /// work out of the queue before it begins.
    async fn run(self: Rc<Self>) {
        loop {
            let queue = Rc::clone(&self);
            let work = async move {
                queue.work().await;
                Ok(JsValue::UNDEFINED)
            };
            match Guarded::new(Box::pin(work)).await {
                Ok(_) => break,
                Err(thrown) => self.fail(thrown),
            }
        }
        self.is_running.set(false);
    }

    /// Fails the work that an exception ended.
    fn fail(&self, thrown: JsValue) {
        self.access.abort_left_behind();
        let failure = Failure::thrown(thrown);
        for signal in self.waiting.take() {
            signal.set(Err(failure.clone()));
        }
    }

    async fn work(&self) {
        loop {
            let next = self.next();
            if next.is_empty() {
                break;
            }
            let mut waiting = Vec::new();
            for work in &next {
                waiting.extend(work.signal());
            }
            self.waiting.replace(waiting);
            let mut members = Vec::new();
            for work in next {
                // Deleting and sealing change the rows, so the cached ones are dropped.
                if !matches!(work, Work::Write(_)) {
                    self.cache.take();
                }
                match work {
                    Work::Write(member) => members.push(member),
                    Work::Delete(deletion, floor, settled) => {
                        let deleted = deleting::delete(&self.access, &deletion).await;
                        settled.set(deleted.map(|deleted| {
                            floor.set(deleted.as_f64().unwrap_or_default() as Revision);
                        }));
                    }
                    // No caller waits for it, and the next append requests it again.
                    Work::Seal(key) => drop(sealing::seal(&self.access, &key).await),
                }
            }
            self.commit(members).await;
        }
    }

    /// Takes the next work from the queue: all writes before the first other work, or that other
    /// work.
    fn next(&self) -> Vec<Work> {
        let mut work = self.work.borrow_mut();
        let is_write = |work: &&Work| matches!(work, Work::Write(_));
        let writes = work.iter().take(LARGEST).take_while(is_write).count();
        let next = writes.max(1).min(work.len());
        let rest = work.split_off(next);
        mem::replace(&mut *work, rest)
    }

    async fn commit(&self, mut members: Vec<Member>) {
        if members.is_empty() {
            return;
        }
        let is_alone = members.len() == 1;
        let attempt = self.attempt(&mut members, Checks::default()).await;
        for mut member in members {
            let done = match &attempt {
                Ok(()) => mem::replace(&mut member.done, Ok(())),
                Err(failure) => self.commit_alone(&mut member, failure.clone(), is_alone).await,
            };
            member.settled.set(done);
        }
    }

    /// Commits one write by itself after its transaction failed. `was_alone`: the write was the
    /// only one in it.
    async fn commit_alone(&self, member: &mut Member, group: Failure, was_alone: bool) -> Done {
        let mut checks = Checks::default();
        let (mut was_lost, mut was_refused) = (false, false);
        let mut last = group;
        let mut is_own = was_alone;
        loop {
            // An id may be stored already, and only a lookup shows it.
            let may_be_stored = last.is_constraint() && !checks.ids;
            let may_be_restored = last.is_loss() && !was_lost;
            // The cached rows may differ from the stored ones.
            let may_be_smaller = last.is_too_large() && !was_refused;
            if is_own && !may_be_stored && !may_be_restored && !may_be_smaller {
                return Err(last.of_session(&member.plan.target));
            }
            was_lost |= is_own && last.is_loss();
            was_refused |= is_own && last.is_too_large();
            checks.is_retry |= last.is_loss();
            checks.ids |= is_own || last.is_loss() || last.is_constraint();
            is_own = true;
            match self.attempt(slice::from_mut(member), checks).await {
                Ok(()) => return mem::replace(&mut member.done, Ok(())),
                Err(failure) => last = failure,
            }
        }
    }

    async fn attempt(&self, members: &mut [Member], checks: Checks) -> Done {
        let mut full = Vec::new();
        let mut cache = self.cache.take();
        let written = write(&self.access, members, checks, &mut cache, &mut full);
        self.access.once(Box::pin(written)).await?;
        self.cache.replace(cache);
        let mut work = self.work.borrow_mut();
        for key in full {
            let is_asked = |work: &Work| matches!(work, Work::Seal(known) if *known == key);
            if !work.iter().any(is_asked) {
                work.push(Work::Seal(key));
            }
        }
        Ok(())
    }
}
