//! What the verbs must do that no case can see.
use crate::storage::Storage;
use crate::storage::conformance::Report;
pub(super) async fn run<S: Storage>(_open: &impl AsyncFn() -> S, _report: &mut Report) {}
