//! The results of writes.

use crate::core::error::Error;
use crate::core::error::reason::broken_storage;
use crate::core::session::{Revision, SessionHead};
use crate::core::write::Decision;
use crate::core::write::changes::{Changes, SharedRevisions};
use crate::core::write::rows::EventRow;

/// What a write does if it is committed.
pub(super) struct Effect<T> {
    pub(super) result: T,
    /// `None` if there is nothing to write.
    pub(super) changes: Option<Changes>,
}

/// The outcome of the last decision.
#[derive(Debug)]
pub(super) struct Outcome<T>(Option<Result<T, Error>>);

impl<T> Outcome<T> {
    /// Before the first decision, and while the decision needs more rows.
    pub(super) const NONE: Self = Self(None);

    /// Keeps the result or the reason of the refusal, and returns what the storage has to do.
    pub(super) fn set(&mut self, effect: Result<Effect<T>, Error>) -> Decision {
        let (outcome, changes) = match effect {
            Ok(Effect { result, changes }) => (Ok(result), changes),
            Err(refusal) => (Err(refusal), None),
        };
        self.0 = Some(outcome);
        Decision::Done(changes)
    }

    pub(super) fn finish(self) -> Result<T, Error> {
        self.0.unwrap_or_else(|| Err(broken_storage("it never called decide")))
    }
}

/// The result of a creation.
#[derive(Debug, Clone)]
pub struct CreatedSession {
    /// The session's revisions and times.
    pub head: SessionHead,
    /// The JSON object of the state, with the keys of all scopes.
    pub state: String,
    /// Whether `state` lacks the keys that the caller gave, see [`Create::returning_rest`].
    ///
    /// [`Create::returning_rest`]: crate::core::write::Create::returning_rest
    pub has_rest: bool,
    /// The new revisions of the shared states.
    pub shared: SharedRevisions,
}

/// The result of an append.
#[derive(Debug, Clone)]
pub struct Appended {
    /// The session's revisions and time after the append.
    pub head: SessionHead,
    /// The index and the revision of each event that was stored before with the same content.
    pub unchanged: Vec<(usize, Revision)>,
    /// The `seq` and the revision of each event of the append, in its order.
    pub stored_at: Vec<(Revision, Revision)>,
    /// The events that the handle had missed, in any order. Empty unless the policy is `Merge`.
    pub missed: Vec<EventRow>,
    /// The JSON object of the stored state before the append. Present if the handle missed a replacement
    /// or a rewind: then the stored deltas do not give the state.
    pub state: Option<String>,
    /// The revision of the handle before the append: events with a greater `seq` are new to it.
    /// `None` without a handle.
    pub since: Option<Revision>,
    /// The new revisions of the shared states.
    pub shared: SharedRevisions,
}

impl Appended {
    /// Returns the revision that the handle has after the append, for its next
    /// [`HandlePosition`](crate::core::write::HandlePosition). A handle with a later revision keeps that one.
    ///
    /// It is not always that of the session. A retry that wrote nothing, and brought the handle nothing that it had
    /// missed, does not go past events of others: a rewind or an end event may be among them.
    pub fn handle_revision(&self) -> Revision {
        let Some(since) = self.since else { return self.head.revision };
        if self.unchanged.len() < self.stored_at.len() {
            return self.head.revision;
        }
        if self.missed.is_empty() {
            let follow = |last, (_, revision): &(usize, Revision)| {
                last + Revision::from(*revision == last + 1)
            };
            return self.unchanged.iter().fold(since, follow);
        }
        let unchanged = self.unchanged.iter().map(|(_, revision)| *revision);
        let missed = self.missed.iter().map(|row| row.revision);
        unchanged.chain(missed).fold(since, Revision::max)
    }
}
