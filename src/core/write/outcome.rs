//! The outcome of a decision, from which a write makes the result for its caller.

use crate::core::session::{Revision, SessionHead};
use crate::core::write::changes::{Changes, SharedRevisions};
use crate::core::write::resolved_position::Progress;
use crate::core::write::rows::EventRow;

/// The outcome of a decision, and the changes to write, if there are any.
pub(super) type Decision = (Outcome, Option<Changes>);

/// The outcome of a decision that refuses nothing.
#[derive(Debug)]
pub(super) enum Outcome {
    Created(Created),
    Appended(Appended),
    /// The decision needs other rows. The write has to be planned again with this knowledge.
    NeedsRows(Progress),
    Updated(SharedRevisions),
    /// Whether the session exists.
    Described(bool),
}

/// A created session: its head, its merged state, and the new revisions of the shared states.
pub type Created = (SessionHead, String, SharedRevisions);

/// The result of an append.
#[derive(Debug, Clone)]
pub struct Appended {
    /// The session's revisions and time after the append.
    pub head: SessionHead,
    /// The events that were stored already with the same content: their indexes and stored
    /// revisions.
    pub unchanged: Vec<(usize, Revision)>,
    /// The `seq` and the revision of each event of the append, in its order.
    pub placed: Vec<(Revision, Revision)>,
    /// The events that the handle had missed, in any order. Empty unless the policy is `Merge`.
    pub missed: Vec<EventRow>,
    /// The JSON object of the stored state before the append. Present if the append has no events, or if
    /// the handle missed a replacement: the stored deltas no longer hold the changes of the replaced event.
    pub state: Option<String>,
    /// The revision of the handle before the append: events with a greater `seq` are new to it.
    pub since: Revision,
    /// The new revisions of the shared states.
    pub shared: SharedRevisions,
}
