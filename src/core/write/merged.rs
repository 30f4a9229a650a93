//! The state that an agent sees: the states of all scopes in one object.

use crate::core::error::Error;
use crate::core::room::require_room;
use crate::core::state::{ByOwner, Scope, ScopedState, merge_to_json};
use crate::core::write::rows::{Found, SharedRow};

/// Returns all scopes merged into one JSON object. Fails if that object would be too large.
pub(crate) fn merged(
    session: &ScopedState,
    shared: ByOwner<Option<&SharedRow>>,
) -> Result<String, Error> {
    let ByOwner { user, app } = shared.map(|row| row.map(|row| &row.state));
    let scopes = [(Scope::Session, Some(session)), (Scope::User, user), (Scope::App, app)];
    let states = scopes.iter().filter_map(|(_, state)| *state);
    require_room(states.map(ScopedState::size).sum())?;
    Ok(merge_to_json(&scopes))
}

/// Returns the stored state as readers see it.
pub(super) fn stored_state(found: &Found) -> Result<String, Error> {
    let state = found.state.clone().unwrap_or_default();
    merged(&state, found.shared.as_ref().map(Option::as_ref))
}
