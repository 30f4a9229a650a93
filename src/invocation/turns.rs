//! A queue that lets one append run at a time, in the order of the calls.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

/// Lets one ticket run at a time, in order, so that events are stored in the order of their
/// appends.
#[derive(Debug, Default)]
pub(super) struct Turns {
    queue: Mutex<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    last_ticket: u64,
    /// The tickets that are still held; the first one may run.
    tickets: VecDeque<(u64, Option<Waker>)>,
}

/// A place in the queue. Dropping it leaves the queue, whether or not its turn came.
pub(super) struct Ticket<'t> {
    turns: &'t Turns,
    number: u64,
}

impl Turns {
    /// Takes the last place in the queue.
    pub(super) fn queue_up(&self) -> Ticket<'_> {
        let mut queue = self.lock();
        queue.last_ticket += 1;
        let number = queue.last_ticket;
        queue.tickets.push_back((number, None));
        Ticket { turns: self, number }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ticket<'_> {
    /// Waits until all tickets before this one are dropped.
    pub(super) async fn turn(&self) {
        poll_fn(|task| {
            let mut queue = self.turns.lock();
            let position = queue.tickets.iter().position(|(number, _)| *number == self.number);
            match position.and_then(|position| queue.tickets.get_mut(position)) {
                Some((_, waker)) if position != Some(0) => {
                    *waker = Some(task.waker().clone());
                    Poll::Pending
                }
                _ => Poll::Ready(()),
            }
        })
        .await;
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        let mut queue = self.turns.lock();
        queue.tickets.retain(|(number, _)| *number != self.number);
        let next = queue.tickets.front_mut().and_then(|(_, waker)| waker.take());
        drop(queue);
        // Outside the lock: a waker may poll the next ticket at once.
        if let Some(waker) = next {
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[tokio::test]
    async fn tickets_have_their_turns_in_the_order_of_the_queue() {
        let turns = Turns::default();
        let done = RefCell::new(Vec::new());
        let work = async |ticket: Ticket<'_>, number: u32| {
            ticket.turn().await;
            tokio::task::yield_now().await;
            done.borrow_mut().push(number);
        };
        let tickets = [turns.queue_up(), turns.queue_up(), turns.queue_up()];
        let [one, two, three] = tickets;
        tokio::join!(work(three, 3), work(one, 1), work(two, 2));
        assert_eq!(done.into_inner(), [1, 2, 3]);
    }

    #[tokio::test]
    async fn a_dropped_ticket_does_not_block_later_ones() {
        let turns = Turns::default();
        let (first, second, third) = (turns.queue_up(), turns.queue_up(), turns.queue_up());
        let give_up = async {
            tokio::task::yield_now().await;
            drop(second);
            tokio::task::yield_now().await;
            drop(first);
        };
        tokio::join!(third.turn(), give_up);
    }
}
