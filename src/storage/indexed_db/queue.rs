//! Writes in the order in which they were asked for, as many in one transaction as have come
//! together by the time it begins.
//!
//! A group is not a batch: when its transaction fails, its members run again one by one, so that the
//! failure of one stays its own.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use wasm_bindgen_futures::spawn_local;

use crate::platform;
use crate::session::{Revision, SessionKey};
use crate::storage::indexed_db::access::Access;
use crate::storage::indexed_db::failure::Failure;
use crate::storage::indexed_db::group::{Care, Group, Member, Outcome, stores};
use crate::storage::indexed_db::signal::Signal;
use crate::storage::indexed_db::{deleting, sealing};
use crate::storage::javascript_text::JavaScriptText;
use crate::storage::{Decide, Deletion, WriteRequest};

/// Members of a group at the most: a transaction should not keep others waiting for long.
const LARGEST: usize = 256;

type Settled = Signal<Result<(), Failure>>;
/// With the floor.
type Deleted = Signal<Result<Revision, Failure>>;

enum Work {
    Write(Member, Settled),
    Delete(Deletion, Deleted),
    Seal(SessionKey),
}

/// See the module.
pub(super) struct Queue {
    access: Rc<Access>,
    work: RefCell<VecDeque<Work>>,
    is_running: Cell<bool>,
}

impl Queue {
    pub(super) fn new(access: Rc<Access>) -> Rc<Self> {
        Rc::new(Self { access, work: RefCell::default(), is_running: Cell::default() })
    }

    pub(super) fn write(
        self: &Rc<Self>,
        creates: bool,
        request: WriteRequest,
        decision: Rc<RefCell<dyn Decide<JavaScriptText>>>,
    ) -> Settled {
        let token = platform::random_seed() as u32;
        let member = Member { request, creates, token: f64::from(token), decision, failure: None };
        let settled = Signal::new();
        self.push(Work::Write(member, settled.clone()));
        settled
    }

    pub(super) fn delete(self: &Rc<Self>, deletion: Deletion) -> Deleted {
        let settled = Signal::new();
        self.push(Work::Delete(deletion, settled.clone()));
        settled
    }

    fn push(self: &Rc<Self>, work: Work) {
        self.work.borrow_mut().push_back(work);
        if !self.is_running.replace(true) {
            // Begins in a microtask, so that what is asked for in one go comes together.
            let queue = Rc::clone(self);
            spawn_local(async move { queue.run().await });
        }
    }

    async fn run(&self) {
        loop {
            let next = self.work.borrow_mut().pop_front();
            match next {
                None => break,
                Some(Work::Write(member, settled)) => {
                    let (mut members, mut signals) = (vec![member], vec![settled]);
                    self.take_writes(&mut members, &mut signals);
                    self.commit(members, &signals).await;
                }
                Some(Work::Delete(deletion, settled)) => {
                    settled.set(deleting::delete(&self.access, &deletion).await);
                }
                // Nobody waits for it, and the next append asks for it again.
                Some(Work::Seal(key)) => drop(sealing::seal(&self.access, &key).await),
            }
        }
        self.is_running.set(false);
    }

    /// Takes all writes that come next in the queue.
    fn take_writes(&self, members: &mut Vec<Member>, signals: &mut Vec<Settled>) {
        let mut work = self.work.borrow_mut();
        while members.len() < LARGEST {
            match work.pop_front() {
                Some(Work::Write(member, settled)) => {
                    members.push(member);
                    signals.push(settled);
                }
                Some(other) => {
                    work.push_front(other);
                    break;
                }
                None => break,
            }
        }
    }

    async fn commit(&self, mut members: Vec<Member>, signals: &[Settled]) {
        let attempt = self.attempt(&mut members, Care::default()).await;
        let Err(failure) = attempt else {
            for (member, settled) in members.iter_mut().zip(signals) {
                settled.set(member.failure.take().map_or(Ok(()), Err));
            }
            return;
        };
        let is_alone = members.len() == 1;
        for (member, settled) in members.into_iter().zip(signals) {
            let alone = &mut [member];
            let first = if is_alone { Err(failure.clone()) } else { Ok(care_after(&failure)) };
            settled.set(self.commit_alone(alone, first).await);
        }
    }

    /// Commits one write; `first` is how its first attempt failed, or how to make it.
    async fn commit_alone(
        &self,
        member: &mut [Member],
        first: Result<Care, Failure>,
    ) -> Result<(), Failure> {
        let (mut care, mut attempt) = match first {
            Ok(care) => (care, self.attempt(member, care).await),
            Err(failure) => (Care::default(), Err(failure)),
        };
        let mut was_lost = false;
        while let Err(failure) = attempt {
            // An id may be there already, which only a look can tell.
            let may_be_stored = failure.is_constraint() && !care.ids;
            let may_be_restored = failure.is_loss() && !was_lost;
            if !may_be_stored && !may_be_restored {
                return Err(failure);
            }
            was_lost |= failure.is_loss();
            let after = care_after(&failure);
            care = Care { ids: true, again: care.again || after.again, floor: false };
            attempt = self.attempt(member, care).await;
        }
        member.iter_mut().find_map(|member| member.failure.take()).map_or(Ok(()), Err)
    }

    async fn attempt(&self, members: &mut [Member], care: Care) -> Result<(), Failure> {
        for member in members.iter_mut() {
            member.failure = None;
        }
        let full = self.access.once(Box::pin(write(&self.access, members, care))).await?;
        for key in full {
            let mut work = self.work.borrow_mut();
            let is_asked = |work: &Work| matches!(work, Work::Seal(known) if *known == key);
            if !work.iter().any(is_asked) {
                work.push_back(Work::Seal(key));
            }
        }
        Ok(())
    }
}

/// Writes and commits; returns the sessions that have enough events for a page.
async fn write(
    access: &Access,
    members: &mut [Member],
    mut care: Care,
) -> Result<Vec<SessionKey>, Failure> {
    loop {
        let transaction = access.begin(&stores(members, care), access.writing()).await?;
        match Group::write(&transaction, members, care).await? {
            Outcome::Written(full) => {
                transaction.commit().await?;
                return Ok(full);
            }
            Outcome::Needs(more) => care = more,
        }
    }
}

/// How carefully to write after that.
fn care_after(failure: &Failure) -> Care {
    let again = failure.is_loss();
    Care { ids: again || failure.is_constraint(), floor: false, again }
}
