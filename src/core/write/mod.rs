//! Writes: the rows that a write reads, the changes that it makes, and the result for its caller.
//!
//! Each kind of write is a type: [`Create`], [`Append`], [`Update`], [`Describe`]. A storage sees them
//! as [`Decide`]. In one transaction it reads the rows named by [`Decide::plan`], calls
//! [`Decide::decide`] and writes the returned [`Changes`]. A transaction that is retried calls `decide`
//! again: the last decision counts. After the commit, `finish` of the type returns what its caller
//! gets, or the reason of a refusal.

mod append;
mod changes;
mod compute;
mod create;
mod describe;
mod marker_seqs;
mod outcome;
mod plan;
pub(crate) mod rows;
mod undone;
mod update;
mod written_events;

pub use append::{Append, HandlePosition, StalePolicy};
pub use changes::{Changes, SessionChange, SharedChange, SharedRevisions};
pub use compute::{ComputeDelta, Computed};
pub use create::{Create, NewSession};
pub use describe::Describe;
pub use marker_seqs::MarkerSeqs;
pub use outcome::{Appended, CreatedSession};
pub use plan::{Plan, Repetition, ScopeSet, Target};
pub(crate) use rows::merge_scopes;
pub use rows::{EventChange, EventRow, Found, SessionRow, SharedRow};
pub use update::Update;

use crate::host::SendOutsideWasm;

/// A write, as a storage sees it.
pub trait Decide: SendOutsideWasm {
    /// Returns which rows the storage has to read.
    fn plan(&self) -> &Plan;

    /// Decides on the rows that were found. May be called again; the last decision counts.
    fn decide(&mut self, found: Found) -> Decision;

    /// Changes the plan if the last decision needs more rows, and returns whether it did.
    /// [`Storage::carry_out`](crate::core::storage::Storage::carry_out) then calls `write` again.
    fn replan(&mut self) -> bool {
        false
    }
}

/// What a storage has to do after a decision.
#[derive(Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "nearly all decisions have changes; nothing is stored"
)]
pub enum Decision {
    /// Write these changes, and commit. `None`: there is nothing to write, or the write is refused.
    Done(Option<Changes>),
    /// Write nothing. The decision needs other rows: the write is repeated with another plan.
    NeedsRows,
}
