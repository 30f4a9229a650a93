//! Runs several futures on one thread, without a runtime.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

/// A future within the suite.
pub(super) type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

enum Slot<'a, T> {
    Running(Pending<'a, T>),
    Done(T),
}

/// Runs all futures at once, and returns their results in order. If one waits for another, it needs
/// no waker: whenever one ends, all others are polled again.
pub(super) async fn together<T>(futures: Vec<Pending<'_, T>>) -> Vec<T> {
    let mut slots: Vec<Slot<'_, T>> = futures.into_iter().map(Slot::Running).collect();
    poll_fn(|context| {
        loop {
            let (mut progress, mut running) = (false, false);
            for slot in &mut slots {
                let Slot::Running(future) = slot else { continue };
                match future.as_mut().poll(context) {
                    Poll::Ready(answer) => {
                        *slot = Slot::Done(answer);
                        progress = true;
                    }
                    Poll::Pending => running = true,
                }
            }
            if !running {
                return Poll::Ready(());
            }
            if !progress {
                return Poll::Pending;
            }
        }
    })
    .await;
    let answers = slots.into_iter().filter_map(|slot| match slot {
        Slot::Done(answer) => Some(answer),
        Slot::Running(_) => None,
    });
    answers.collect()
}
