//! Creating a session.

use crate::service::merged;
use crate::session::SessionHead;
use crate::state::{Changes as StateChanges, Delta, ScopedState};
use crate::storage::{Changes, Decide, Found, ScopeChange, ScopeRow, SessionChange};

/// Writes a session if its key is free.
pub(super) struct CreateDecision {
    state: Delta,
    now: f64,
    created: Option<(SessionHead, String)>,
}

impl CreateDecision {
    pub(super) fn new(state: Delta, now: f64) -> Self {
        Self { state, now, created: None }
    }

    /// The new session's head and merged state; `None` if the key was taken.
    pub(super) fn created(self) -> Option<(SessionHead, String)> {
        self.created
    }
}

impl<T> Decide<T> for CreateDecision {
    fn decide(&mut self, found: Found<'_, T>) -> Option<Changes<T>> {
        self.created = None;
        if found.session.is_some() {
            return None;
        }
        let revision = found.floor + 1;
        let head = SessionHead { created: revision, revision, last_update_time: self.now };
        let (user_state, user) = change_scope(found.user, &self.state.user, found.floor);
        let (app_state, app) = change_scope(found.app, &self.state.app, found.floor);
        let mut session_state = ScopedState::default();
        session_state.apply(self.state.session.clone());
        let state = merged(&session_state, Some(&user_state), Some(&app_state));
        self.created = Some((head, state));
        let session = Some(SessionChange { head, state: self.state.session.clone() });
        Some(Changes { session, user, app, events: Vec::new() })
    }
}

/// The state that a scope will have, and what to write for it, if anything.
fn change_scope(
    row: Option<&ScopeRow>,
    changes: &StateChanges,
    floor: u64,
) -> (ScopedState, Option<ScopeChange>) {
    let mut state = row.map(|row| row.state.clone()).unwrap_or_default();
    state.apply(changes.clone());
    (state, ScopeChange::of(row, changes.clone(), floor))
}
