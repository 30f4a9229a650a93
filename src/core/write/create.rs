//! Creating a session, empty or with its events.

use std::mem;

use crate::core::error::Error;
use crate::core::event::NewEvent;
use crate::core::names::Names;
use crate::core::session::{Description, Revision, SessionHead, Timestamp};
use crate::core::state::{Delta, ScopedState, StateChanges};
use crate::core::write::changes::{
    Changes, EventChange, SessionChange, SharedChange, SharedRevisions,
};
use crate::core::write::rows::{Found, SharedRow};
use crate::core::write::{merged, never_decided};

/// A session to create.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// The initial state.
    pub state: Delta,
    /// The events that the session begins with. Their deltas change the initial state, in order.
    pub events: Vec<NewEvent>,
    /// Changes that no event carries. They follow the events' deltas, and are stored in all scopes.
    pub delta: Delta,
    /// When a session from elsewhere was last updated; `None` for `now`. A later event wins.
    pub last_update_time: Option<Timestamp>,
    /// The time of the call.
    pub now: Timestamp,
    /// Whether the `user:` and `app:` keys of the state and of the events are stored.
    pub shares_state: bool,
    /// Its title, labels and initial state.
    pub description: Description,
}

impl NewSession {
    /// A session without events, created at the time `now`.
    pub fn new(state: Delta, now: Timestamp) -> Self {
        Self {
            state,
            events: Vec::new(),
            delta: Delta::default(),
            last_update_time: None,
            now,
            shares_state: true,
            description: Description::default(),
        }
    }
}

/// The rule that creates a session if its key is free.
#[derive(Debug)]
pub(super) struct Create {
    /// The initial state with the deltas of all events and the last changes.
    state: Delta,
    last_update_time: Timestamp,
    event_count: usize,
    description: Description,
    /// `None` until the storage calls `decide`, then `Ok(None)` if the key is taken.
    created: Option<Result<Option<Created>, Error>>,
}

/// A created session: its head, its merged state, and the new revisions of the shared states.
pub(crate) type Created = (SessionHead, String, SharedRevisions);

impl Create {
    /// # Errors
    /// Fails with `invalid_argument` if two events have one id.
    pub(super) fn new(new: &mut NewSession) -> Result<Self, Error> {
        let NewSession { state, events, delta, last_update_time, now, shares_state, description } =
            new;
        check_ids(events)?;
        let mut state = mem::take(state);
        let mut last_update_time = last_update_time.unwrap_or(*now);
        for event in events.iter() {
            state.extend(event.delta.clone());
            last_update_time = last_update_time.max(event.timestamp.min(*now));
        }
        if !*shares_state {
            state.user.clear();
            state.app.clear();
        }
        state.extend(mem::take(delta));
        let (event_count, description) = (events.len(), mem::take(description));
        Ok(Self { state, last_update_time, event_count, description, created: None })
    }

    /// Returns the new session; `None` if the key was taken.
    pub(super) fn created(self) -> Result<Option<Created>, Error> {
        self.created.ok_or_else(never_decided)?
    }

    pub(super) fn decide(&mut self, found: &Found<'_>) -> Option<Changes> {
        self.created = Some(Ok(None));
        if found.session.is_some() {
            return None;
        }
        let created = found.floor + 1;
        let events: Vec<_> = (created + 1..)
            .take(self.event_count)
            .enumerate()
            .map(|(index, revision)| EventChange { index, seq: revision, revision })
            .collect();
        let revision = events.last().map_or(created, |last| last.revision);
        let (last_update_time, create_time) = (self.last_update_time, self.last_update_time);
        let head = SessionHead { created, revision, last_update_time, create_time };
        let (user_row, user) = change_shared(found.user, &self.state.user, found.floor);
        let (app_row, app) = change_shared(found.app, &self.state.app, found.floor);
        let mut session_state = ScopedState::default();
        session_state.apply(self.state.session.clone());
        let state = match merged(&session_state, Some(&user_row), Some(&app_row)) {
            Ok(state) => state,
            Err(error) => {
                self.created = Some(Err(error));
                return None;
            }
        };
        let session = Some(SessionChange {
            head,
            state: self.state.session.clone(),
            description: self.description.clone(),
        });
        let changes = Changes { session, user, app, events };
        self.created = Some(Ok(Some((head, state, changes.shared_revisions()))));
        Some(changes)
    }
}

/// Two events with one id cannot both be stored, and a new session has none to replace.
fn check_ids(events: &[NewEvent]) -> Result<(), Error> {
    let mut indexes = Names::<Option<usize>>::default();
    for (index, event) in events.iter().enumerate() {
        let Some(earlier) = indexes.get_or_default(&event.id) else { continue };
        if let Some(earlier) = earlier.replace(index) {
            return Err(Error::invalid(
                "events",
                format!("has the id \"{}\" twice: at {earlier} and at {index}", event.id),
            ));
        }
    }
    Ok(())
}

/// Returns the row of a scope with its new state, and the change to write, if any.
fn change_shared(
    row: Option<&SharedRow>,
    changes: &StateChanges,
    floor: Revision,
) -> (SharedRow, Option<SharedChange>) {
    let mut changed = row.cloned().unwrap_or_default();
    changed.state.apply(changes.clone());
    (changed, SharedChange::of(row, changes.clone(), floor))
}
