//! Which rows a write needs.

use std::sync::Arc;

use crate::core::session::{NEVER, Revision, SessionKey};
use crate::core::state::{ByOwner, Delta};

/// Which states a write needs to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ScopeSet {
    /// The session's own state, which the write changes or merges for its caller.
    pub session: bool,
    /// The states of the user and of the app.
    pub shared: ByOwner<bool>,
}

impl ScopeSet {
    /// All three states.
    pub(super) const ALL: Self = Self { session: true, shared: ByOwner { user: true, app: true } };

    /// Returns the states that a delta changes.
    pub(super) fn of(Delta { session, shared }: &Delta) -> Self {
        let shared = shared.as_ref().map(|changes| !changes.is_empty());
        Self { session: !session.is_empty(), shared }
    }

    pub(super) fn union(self, other: Self) -> Self {
        let shared = self.shared.zip(other.shared).map(|(one, other)| one || other);
        Self { session: self.session || other.session, shared }
    }
}

/// Names a session, a user or an app. The user is `None` for an app; the session is `None` for a
/// user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The app.
    pub app_name: String,
    /// The user of the app.
    pub user_id: Option<String>,
    /// The session of the user.
    pub session_id: Option<String>,
}

impl From<SessionKey> for Target {
    fn from(key: SessionKey) -> Self {
        Self {
            app_name: key.app_name,
            user_id: Some(key.user_id),
            session_id: Some(key.session_id),
        }
    }
}

/// The rows that a write reads before it is decided.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Whether the write creates a session, which must not exist yet.
    pub creates: bool,
    /// The session, user or app that is written to.
    pub target: Target,
    /// The states that the write changes or returns.
    pub scopes: ScopeSet,
    /// Ids to look up among the stored events.
    pub event_ids: Vec<Arc<str>>,
    /// Whether `event_ids` are the ids of new events, which are hardly ever stored already. A
    /// storage with unique ids may first decide as if none were stored. It looks them up only if
    /// the write fails. May be ignored.
    pub ids_are_new: bool,
    /// The write needs the events written after this revision.
    pub since: Revision,
    /// The effect of running the write again, after a commit whose result was lost.
    pub repetition: Repetition,
}

/// The effect of a write that runs again after it was committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repetition {
    /// None: it finds what was stored before, by an event's id or by the session's.
    Recognized,
    /// It sets the same values again. That loses what others have written since.
    SetsAgain,
    /// It changes more than the first time: its changes are computed from the stored state.
    CountsTwice,
}

impl Plan {
    /// The plan of a write that needs only the head of what it writes to.
    pub(super) fn of(target: impl Into<Target>) -> Self {
        Self {
            creates: false,
            target: target.into(),
            scopes: ScopeSet::default(),
            event_ids: Vec::new(),
            ids_are_new: false,
            since: NEVER,
            repetition: Repetition::SetsAgain,
        }
    }
}
