//! Creating a session.

use crate::core::error::Error;
use crate::core::session::SessionHead;
use crate::core::state::{Delta, ScopedState, Shared, StateChanges};
use crate::core::write::changes::{Changes, SessionChange, SharedChange, SharedRevisions};
use crate::core::write::rows::{Found, SharedRow};
use crate::core::write::{merged, never_decided};

/// The rule that creates a session if its key is free.
#[derive(Debug)]
pub(super) struct Create {
    state: Delta,
    now: f64,
    /// `None` until the storage calls `decide`.
    created: Option<Result<Option<Created>, Error>>,
}

/// A created session: its head, its merged state, and the new revisions of the shared states.
pub(crate) type Created = (SessionHead, String, SharedRevisions);

impl Create {
    pub(super) fn new(state: Delta, now: f64) -> Self {
        Self { state, now, created: None }
    }

    /// Returns the new session; `None` if the key was taken.
    pub(super) fn created(self) -> Result<Option<Created>, Error> {
        self.created.ok_or_else(never_decided)?
    }
}

impl Create {
    pub(super) fn decide(&mut self, found: &Found<'_>) -> Option<Changes> {
        self.created = Some(Ok(None));
        if found.session.is_some() {
            return None;
        }
        let revision = found.floor + 1;
        let head = SessionHead { created: revision, revision, last_update_time: self.now };
        let (user_state, user) = change_shared(found.user, &self.state.user, found.floor);
        let (app_state, app) = change_shared(found.app, &self.state.app, found.floor);
        let mut session_state = ScopedState::default();
        session_state.apply(self.state.session.clone());
        let shared = Shared { user: Some(&user_state), app: Some(&app_state) };
        let state = match merged(&session_state, shared) {
            Ok(state) => state,
            Err(error) => {
                self.created = Some(Err(error));
                return None;
            }
        };
        let session = Some(SessionChange { head, state: self.state.session.clone() });
        let changes = Changes { session, user, app, events: Vec::new() };
        self.created = Some(Ok(Some((head, state, changes.shared_revisions()))));
        Some(changes)
    }
}

/// Returns the new state of a scope, and the change to write, if any.
fn change_shared(
    row: Option<&SharedRow>,
    changes: &StateChanges,
    floor: u64,
) -> (ScopedState, Option<SharedChange>) {
    let mut state = row.map(|row| row.state.clone()).unwrap_or_default();
    state.apply(changes.clone());
    (state, SharedChange::of(row, changes.clone(), floor))
}
