//! What a program knows of a session when it appends.

use crate::core::event::NewEvent;
use crate::core::session::{Revision, SessionHead, SessionKey};
use crate::core::write::{Append, Appended, HandlePosition, StalePolicy};

/// A session as a program knows it, for [`SessionService::append_events`](crate::SessionService::append_events).
/// [`Session::position`](crate::Session::position) makes it.
///
/// An append with it fails with `stale_session` if, since then, a rewind has undone the run of its events, or
/// the run was cancelled. An append that succeeds moves the position on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPosition {
    key: SessionKey,
    /// The revision of the session's creation, and that of the last change that the program knows.
    known: Option<(Revision, Revision)>,
    policy: StalePolicy,
}

impl SessionPosition {
    /// Names a session of which nothing is known: no append is stale.
    pub fn latest(key: SessionKey) -> Self {
        Self { key, known: None, policy: StalePolicy::Append }
    }

    pub(super) fn of(key: SessionKey, head: SessionHead) -> Self {
        Self { known: Some((head.created, head.revision)), ..Self::latest(key) }
    }

    /// Makes appends fail with `stale_session` after any change by others. Without it, they are stored after the
    /// events of others.
    #[must_use]
    pub fn rejecting_stale(self) -> Self {
        Self { policy: StalePolicy::Reject, ..self }
    }

    /// Returns the key of the session.
    pub fn key(&self) -> &SessionKey {
        &self.key
    }

    /// Returns the revision of the last change that the program knows, if it knows one.
    pub fn revision(&self) -> Option<Revision> {
        self.known.map(|(_, revision)| revision)
    }

    pub(super) fn append(&self, events: Vec<NewEvent>) -> Append {
        let position = match self.known {
            Some((created, revision)) => HandlePosition::Revision { created, revision },
            None => HandlePosition::Latest,
        };
        Append::new(self.key.clone(), position, self.policy, events)
    }

    pub(super) fn advance(&mut self, appended: &Appended) {
        if let Some((_, revision)) = &mut self.known {
            *revision = appended.handle_revision().max(*revision);
        }
    }
}
