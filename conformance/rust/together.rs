//! Runs several futures on one thread, without a runtime.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

/// A future within the suite.
pub(super) type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Runs all futures at once, and returns their results in order. If one waits for another, it needs
/// no waker: whenever one ends, all others are polled again.
pub(super) async fn together<T>(mut futures: Vec<Pending<'_, T>>) -> Vec<T> {
    let mut results: Vec<Option<T>> = futures.iter().map(|_| None).collect();
    poll_fn(|context| {
        loop {
            let mut has_progress = false;
            for (future, result) in futures.iter_mut().zip(&mut results) {
                if result.is_none()
                    && let Poll::Ready(answer) = future.as_mut().poll(context)
                {
                    *result = Some(answer);
                    has_progress = true;
                }
            }
            if results.iter().all(Option::is_some) {
                return Poll::Ready(());
            }
            if !has_progress {
                return Poll::Pending;
            }
        }
    })
    .await;
    results.into_iter().flatten().collect()
}
