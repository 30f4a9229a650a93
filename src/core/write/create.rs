//! Creating a session, empty or with its events.

use crate::core::error::{Error, Field};
use crate::core::event::NewEvent;
use crate::core::names::NameMap;
use crate::core::session::{DescriptionRow, SessionHead, SessionKey, Timestamp};
use crate::core::state::{ByOwner, Change, Delta};
use crate::core::write::changes::{Changes, SessionChange, SharedChange};
use crate::core::write::marker_seqs::MarkerSeqs;
use crate::core::write::outcome::{CreatedSession, Effect, Outcome};
use crate::core::write::plan::{Plan, Repetition, ScopeSet, Target};
use crate::core::write::rows::{EventChange, EventRow, Found, merge_changed, rest_after};
use crate::core::write::undone::active_new_events;
use crate::core::write::{Decide, Decision};

/// A session to create.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// The initial state.
    pub state: Delta,
    /// The events that the session begins with. Their deltas change the initial state, in order. Those of
    /// rewinds and of undone events change only the shared states.
    pub events: Vec<NewEvent>,
    /// Changes of the state that follow the events' deltas. They are stored in all scopes, whatever
    /// `shares_state` is.
    pub delta: Delta,
    /// When a session from elsewhere was last updated; `None` for `now`. A later event wins.
    pub last_update_time: Option<Timestamp>,
    /// The time of the call.
    pub now: Timestamp,
    /// Whether the `user:` and `app:` keys of the state and of the events are stored.
    pub shares_state: bool,
    /// Its title, labels and initial state.
    pub description: DescriptionRow,
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
            description: DescriptionRow::default(),
        }
    }
}

/// Creates a session with its events, if its key is free.
#[derive(Debug)]
pub struct Create {
    plan: Plan,
    /// The initial state with the deltas of the events and the last changes.
    state: Delta,
    last_update_time: Timestamp,
    create_time: Timestamp,
    events: Vec<NewEvent>,
    description: DescriptionRow,
    /// Whether each key of the initial state has the value that its caller gave.
    is_as_given: bool,
    /// Whether the result leaves out the state that the caller gave.
    returns_rest: bool,
    outcome: Outcome<CreatedSession>,
}

impl Create {
    /// Creates the session with that key.
    ///
    /// # Errors
    /// Fails with `invalid_argument` if two events have one id.
    pub fn new(key: SessionKey, new: NewSession) -> Result<Self, Error> {
        let NewSession { mut state, events, delta, now, shares_state, description, .. } = new;
        check_ids(&events)?;
        let is_as_given = events.is_empty()
            && delta.is_empty()
            && (shares_state || state.shared == ByOwner::default())
            && state.changes().all(|(_, change)| *change != Change::Remove);
        let mut last_update_time = new.last_update_time.unwrap_or(now);
        for (event, is_active) in events.iter().zip(active_new_events(&events)) {
            let Delta { session, shared } = event.delta.clone();
            let session = if is_active { session } else { Vec::new() };
            state.extend(Delta { session, shared });
            last_update_time = last_update_time.max(event.timestamp);
        }
        if !shares_state {
            state.shared = ByOwner::default();
        }
        state.extend(delta);
        let (scopes, repetition) = (ScopeSet::ALL, Repetition::Recognized);
        let plan = Plan { creates: true, scopes, repetition, ..Plan::of(key) };
        Ok(Self {
            plan,
            state,
            last_update_time,
            create_time: last_update_time.min(now),
            events,
            description,
            is_as_given,
            returns_rest: false,
            outcome: Outcome::NONE,
        })
    }

    /// Leaves the state that the caller gave out of the result, if the session has it as it was given, before other
    /// keys. Its text must have the keys in the order of reads: the session's own, the user's, and the app's.
    #[must_use]
    pub fn returning_rest(self) -> Self {
        Self { returns_rest: true, ..self }
    }

    /// Returns the new session.
    ///
    /// # Errors
    /// Fails with `already_exists` if the key was taken, or with another reason of the refusal.
    pub fn finish(self) -> Result<CreatedSession, Error> {
        self.outcome.finish()
    }

    fn decide_on(&self, found: &Found) -> Result<Effect<CreatedSession>, Error> {
        found.check_revisions(self.events.len())?;
        if found.session.is_some() {
            let Target { app_name, user_id, session_id } = self.plan.target.clone();
            let (user_id, session_id) = user_id.zip(session_id).unwrap_or_default();
            return Err(Error::AlreadyExists { app_name, user_id, session_id });
        }
        let created = found.floor + 1;
        let events: Vec<_> = (created + 1..)
            .zip(self.events.iter().enumerate())
            .map(|(revision, (index, event))| EventChange {
                index,
                row: EventRow::of(event, revision, revision),
            })
            .collect();
        let revision = events.last().map_or(created, |last| last.row.revision);
        let Self { last_update_time, create_time, .. } = *self;
        let head = SessionHead { created, revision, last_update_time, create_time };
        let shared = SharedChange::of(found, self.state.shared.clone());
        let may_leave_out = self.returns_rest && self.is_as_given;
        let rest = if may_leave_out { rest_after(found, &self.state)? } else { None };
        let has_rest = rest.is_some();
        let state = rest.map_or_else(|| merge_changed(found, &self.state), Ok)?;
        let session = Some(SessionChange {
            head,
            state: self.state.session.clone(),
            description: self.description.clone().into(),
            markers: MarkerSeqs::of(&self.events, &events, &[]),
        });
        let changes = Changes { session, shared, events };
        changes.check_sizes(found)?;
        let result = CreatedSession { head, state, has_rest, shared: changes.shared_revisions() };
        Ok(Effect { result, changes: Some(changes) })
    }
}

impl Decide for Create {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn decide(&mut self, found: Found) -> Decision {
        let effect = self.decide_on(&found);
        self.outcome.set(effect)
    }
}

/// Refuses two events with one id: a new session has no event that the second one could replace.
fn check_ids(events: &[NewEvent]) -> Result<(), Error> {
    let mut indexes = NameMap::<Option<usize>>::default();
    for (index, event) in events.iter().enumerate() {
        let Some(earlier) = indexes.get_or_default(&event.id) else { continue };
        if let Some(earlier) = earlier.replace(index) {
            return Err(Error::invalid(
                Field::Events,
                format!("has the id \"{}\" twice: at {earlier} and at {index}", event.id),
            ));
        }
    }
    Ok(())
}
