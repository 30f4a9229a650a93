//! Appending events to a session.

use std::mem;
use std::rc::Rc;

use crate::core::error::Error;
use crate::core::event::NewEvent;
use crate::core::session::{Description, NEVER, Revision, SessionHead};
use crate::core::state::Delta;
use crate::core::write::changes::{Changes, SessionChange, SharedChange};
use crate::core::write::merged::stored_state;
use crate::core::write::outcome::{Appended, Decision, Outcome};
use crate::core::write::plan::{Plan, ScopeSet};
use crate::core::write::resolved_position::{Progress, ResolvedPosition};
use crate::core::write::rows::{EventRow, Found, StoredEvent};
use crate::core::write::written_events::WrittenEvents;

/// How an append treats a stale handle, that is, one that has missed events of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StalePolicy {
    /// The append succeeds, and the handle receives the events that it missed.
    Merge,
    /// The append succeeds, and the handle receives only its own events.
    Append,
    /// The append fails with `stale_session`.
    Reject,
}

/// The position of a handle, as its caller knows it.
#[derive(Debug, Clone, PartialEq)]
pub enum HandlePosition {
    /// This package made the handle, so its revisions are known.
    Revision {
        /// The revision at which the session was created.
        created: Revision,
        /// The revision of the last change that the handle has.
        revision: Revision,
    },
    /// The handle came from elsewhere: the id of its last event, if it has events.
    LastEvent(Option<String>),
    /// There is no handle, so nothing can be stale.
    Latest,
}

/// The rule that writes events, their deltas, and the session's new revision and time.
#[derive(Debug)]
pub(super) struct Append {
    pub(super) progress: Progress,
    policy: StalePolicy,
    /// The revision that the session must have; `None` if any will do.
    pub(super) expected: Option<Revision>,
    /// The title for a session that has none.
    pub(super) first_title: Option<String>,
    pub(super) truncation: Option<Truncation>,
}

/// The end of the history that an append removes first.
#[derive(Debug)]
pub(super) struct Truncation {
    /// Events with a later `seq` are removed.
    pub(super) after: Revision,
    /// The changes of the state, in place of the events' deltas.
    pub(super) delta: Delta,
}

impl Append {
    pub(super) fn new(
        position: Option<ResolvedPosition>,
        policy: StalePolicy,
        events: &[NewEvent],
    ) -> Self {
        // Without events, the append only tells what the handle lacks.
        let sees_states = events.is_empty() && policy == StalePolicy::Merge;
        let progress = Progress { position, sees_states };
        let (expected, first_title, truncation) = (None, None, None);
        Self { progress, policy, expected, first_title, truncation }
    }

    /// Sets which rows the append needs. Until the handle's position is known, the plan keeps the
    /// id of its last event.
    pub(super) fn plan(&self, events: &[NewEvent], plan: &mut Plan) {
        let Some(position) = self.progress.position else {
            return;
        };
        plan.event_ids = events.iter().map(|event| Rc::clone(&event.id)).collect();
        plan.ids_are_new = !events.is_empty();
        plan.truncate_after = self.truncation.as_ref().map(|truncation| truncation.after);
        plan.scopes = self.scopes(events);
        plan.since = self.since(position);
    }

    fn scopes(&self, events: &[NewEvent]) -> ScopeSet {
        if self.progress.sees_states {
            return ScopeSet::ALL;
        }
        let truncation = self.truncation.as_ref().map(|truncation| &truncation.delta);
        let deltas = events.iter().map(|event| &event.delta).chain(truncation);
        deltas.map(ScopeSet::of).fold(ScopeSet::default(), ScopeSet::union)
    }

    /// Returns the revision after which changed events are read. A policy that returns no missed
    /// events needs none, except when only they show whether the handle is stale.
    fn since(&self, position: ResolvedPosition) -> Revision {
        let needs_none = match self.policy {
            StalePolicy::Merge => false,
            StalePolicy::Append => true,
            StalePolicy::Reject => !position.is_of_event,
        };
        if needs_none { NEVER } else { position.since }
    }

    /// Refuses a session that is gone, and a change that the caller does not know.
    pub(super) fn decide(
        &self,
        found: &mut Found,
        stored: &[StoredEvent],
        events: &[NewEvent],
        session_id: &str,
    ) -> Result<Decision, Error> {
        let gone = || Error::NotFound { session_id: session_id.to_owned() };
        let before = found.session.ok_or_else(gone)?;
        let position = match self.position_in(before, found, stored) {
            Ok(position) => position,
            Err(progress) => return Ok((Outcome::NeedsRows(progress), None)),
        };
        if position.is_of_another(before) {
            return Err(gone());
        }
        let written = self.write_events(before, found.floor, stored, events);
        let head = written.head;
        // An event that is stored already is no conflict, so a retry is safe under every policy.
        let is_written = head.revision != before.revision;
        if is_written && let Some(expected) = self.conflict(position, before, found) {
            let (session_id, actual) = (session_id.to_owned(), before.revision);
            return Err(Error::StaleSession { session_id, expected, actual });
        }
        if !written.conflicts.is_empty() {
            let conflicts = written.conflicts.iter();
            let actual = conflicts.filter_map(|(index, actual)| {
                Some((events.get(*index)?.id.to_string(), Some(*actual).filter(|it| *it > 0)))
            });
            let session_id = session_id.to_owned();
            return Err(Error::EventConflict { session_id, actual: actual.collect() });
        }
        let state = self.progress.sees_states.then(|| stored_state(found)).transpose()?;
        let changes = is_written.then(|| Changes {
            session: Some(SessionChange {
                head,
                state: written.delta.session,
                description: Description {
                    first_title: self.first_title.clone(),
                    // Another history may begin with another state.
                    initial_state: (self.end() < before.created).then(String::new),
                    ..Description::default()
                },
            }),
            user: SharedChange::of(found.user.as_ref(), written.delta.user, found.floor),
            app: SharedChange::of(found.app.as_ref(), written.delta.app, found.floor),
            events: written.changes,
        });
        let mut missed = match self.policy {
            StalePolicy::Merge => mem::take(&mut found.changed),
            StalePolicy::Append | StalePolicy::Reject => Vec::new(),
        };
        missed.retain(|row| row.seq <= self.end());
        let (unchanged, placed, since) = (written.unchanged, written.placed, position.since);
        let shared = changes.as_ref().map(Changes::shared_revisions).unwrap_or_default();
        let appended = Appended { head, unchanged, placed, missed, state, since, shared };
        Ok((Outcome::Appended(appended), changes))
    }

    /// Returns the handle's position, once the rows tell it and are all that the decision needs.
    /// Fails with the knowledge for another plan.
    fn position_in(
        &self,
        before: SessionHead,
        found: &Found,
        stored: &[StoredEvent],
    ) -> Result<ResolvedPosition, Progress> {
        let Some(position) = self.progress.position else {
            let position = Some(ResolvedPosition::of_event(before, stored.first()));
            return Err(Progress { position, ..self.progress });
        };
        if !self.progress.sees_states && self.missed_replacement(position.since, found) {
            // Few appends need the states, and reading them costs time in proportion to their size.
            return Err(Progress { sees_states: true, ..self.progress });
        }
        Ok(position)
    }

    /// Whether the handle missed the replacement of an event.
    fn missed_replacement(&self, since: Revision, found: &Found) -> bool {
        let is_replaced = |row: &EventRow| row.revision > since && row.seq != row.revision;
        self.policy == StalePolicy::Merge && found.changed.iter().any(is_replaced)
    }

    /// Returns the revision that the caller knows, if the session has changed since.
    fn conflict(
        &self,
        position: ResolvedPosition,
        before: SessionHead,
        found: &Found,
    ) -> Option<Revision> {
        let is_refused = self.policy == StalePolicy::Reject && position.is_stale(found, before);
        let known = is_refused.then_some(position.since);
        self.expected.filter(|expected| *expected != before.revision).or(known)
    }

    /// Writes the events to the history that the truncation leaves.
    fn write_events(
        &self,
        before: SessionHead,
        floor: Revision,
        stored: &[StoredEvent],
        events: &[NewEvent],
    ) -> WrittenEvents {
        let end = self.end();
        let delta = self.truncation.as_ref().map(|truncation| truncation.delta.clone());
        let mut written = WrittenEvents::new(before, delta.unwrap_or_default());
        let remaining = stored.iter().filter(|row| row.seq <= end);
        written.write_all(events, remaining, floor);
        // A change of the state or a removal alone gets a revision too.
        let actual = before.revision;
        if written.changes.is_empty() && (actual > end || !written.delta.is_empty()) {
            written.head.revision = actual.max(floor) + 1;
        }
        written
    }

    /// The last `seq` of the history that the append leaves.
    fn end(&self) -> Revision {
        self.truncation.as_ref().map_or(NEVER, |truncation| truncation.after)
    }
}
