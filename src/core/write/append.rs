//! Appending events to a session.

use std::rc::Rc;

use crate::core::error::Error;
use crate::core::event::NewEvent;
use crate::core::session::{Description, NEVER, Revision, SessionHead, Timestamp};
use crate::core::state::Delta;
use crate::core::write::changes::{Changes, SessionChange, SharedChange, SharedRevisions};
use crate::core::write::plan::{Plan, ScopeSet};
use crate::core::write::resolved_position::ResolvedPosition;
use crate::core::write::rows::{EventRow, Found, StoredEvent};
use crate::core::write::written_events::WrittenEvents;
use crate::core::write::{never_decided, stored_state};

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

/// The result of an append.
#[derive(Debug, Clone)]
pub struct Appended {
    /// The session's revisions and time after the append.
    pub head: SessionHead,
    /// The events that were stored already with the same content: their indexes and stored
    /// revisions.
    pub unchanged: Vec<(usize, Revision)>,
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

/// Why an append failed.
#[derive(Debug)]
enum AppendFailure {
    /// The session was deleted or never existed.
    Gone,
    Stale {
        expected: Revision,
        actual: Revision,
    },
    /// The decision needs other rows. The write has to be planned again with this knowledge.
    NeedsRows(Progress),
    Failed(Error),
}

impl AppendFailure {
    fn of(self, session_id: String) -> Error {
        match self {
            Self::Gone => Error::NotFound { session_id },
            Self::Stale { expected, actual } => {
                Error::StaleSession { session_id, expected, actual }
            }
            Self::NeedsRows(_) => never_decided(),
            Self::Failed(error) => error,
        }
    }
}

/// The rule that writes events, their deltas, and the session's new revision and time.
#[derive(Debug)]
pub(super) struct Append {
    progress: Progress,
    policy: StalePolicy,
    /// The revision that the session must have; `None` if any will do, and [`NEVER`] unless an event is replaced.
    expected: Option<Revision>,
    /// The title for a session that has none.
    first_title: Option<String>,
    truncation: Option<Truncation>,
    now: Timestamp,
    /// `None` before the first decision.
    outcome: Option<Result<Appended, AppendFailure>>,
}

/// The end of the history that an append removes first.
#[derive(Debug)]
struct Truncation {
    /// Events with a later `seq` are removed.
    after: Revision,
    /// The changes of the state, in place of the events' deltas.
    delta: Delta,
}

/// The knowledge that plans gather until the append can be decided. Most appends need one plan.
#[derive(Debug, Clone, Copy)]
struct Progress {
    /// `None` until the handle's last event was looked up.
    position: Option<ResolvedPosition>,
    /// Whether all states are read, not only the ones that the append changes.
    sees_states: bool,
}

impl Append {
    pub(super) fn new(
        position: Option<ResolvedPosition>,
        policy: StalePolicy,
        events: &[NewEvent],
        now: Timestamp,
    ) -> Self {
        // Without events, the append only tells what the handle lacks.
        let sees_states = events.is_empty() && policy == StalePolicy::Merge;
        let progress = Progress { position, sees_states };
        let (expected, first_title, truncation) = (None, None, None);
        Self { progress, policy, expected, first_title, truncation, now, outcome: None }
    }

    pub(super) fn truncate(&mut self, after: Revision, delta: Delta) {
        self.truncation = Some(Truncation { after, delta });
    }

    pub(super) fn expect(&mut self, revision: Revision) {
        self.expected = Some(revision);
    }

    pub(super) fn title(&mut self, title: String) {
        self.first_title = Some(title);
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
        let truncation = self.truncation.as_ref();
        let any = |scope: fn(&Delta) -> bool| {
            self.progress.sees_states
                || truncation.is_some_and(|truncation| scope(&truncation.delta))
                || events.iter().any(|event| scope(&event.delta))
        };
        ScopeSet {
            session: any(|delta| !delta.session.is_empty()),
            user: any(|delta| !delta.user.is_empty()),
            app: any(|delta| !delta.app.is_empty()),
        }
    }

    /// Returns the revision after which changed events are read. A policy that returns no missed
    /// events needs none, except when only they show whether the handle is stale.
    fn since(&self, position: ResolvedPosition) -> Revision {
        let needs_none = match self.policy {
            StalePolicy::Merge => false,
            StalePolicy::Append => true,
            StalePolicy::Reject => matches!(position, ResolvedPosition::Revision { .. }),
        };
        if needs_none { NEVER } else { position.since() }
    }

    pub(super) fn appended(self, session_id: String) -> Result<Appended, Error> {
        self.outcome.ok_or_else(never_decided)?.map_err(|failure| failure.of(session_id))
    }

    /// Returns whether the append stopped because it needs other rows. From now on its plan names
    /// them.
    pub(super) fn again(&mut self) -> bool {
        let Some(Err(AppendFailure::NeedsRows(progress))) = self.outcome else {
            return false;
        };
        self.progress = progress;
        self.outcome = None;
        true
    }

    pub(super) fn decide(
        &mut self,
        found: Found<'_>,
        stored: &[StoredEvent],
        events: &[NewEvent],
    ) -> Option<Changes> {
        let (outcome, changes) = match self.try_decide(found, stored, events) {
            Ok((appended, changes)) => (Ok(appended), changes),
            Err(failure) => (Err(failure), None),
        };
        self.outcome = Some(outcome);
        changes
    }

    /// Returns the result and the changes, or why the append is refused: [`Self::position_in`] refuses
    /// a session that is gone, [`Self::refuse_conflict`] a change that the caller does not know.
    fn try_decide(
        &self,
        found: Found<'_>,
        stored: &[StoredEvent],
        events: &[NewEvent],
    ) -> Result<(Appended, Option<Changes>), AppendFailure> {
        let before = found.session.ok_or(AppendFailure::Gone)?;
        let position = self.position_in(before, &found, stored)?;
        let written = self.write_events(before, found.floor, stored, events);
        let head = written.head;
        // An event that is stored already is no conflict, so a retry is safe under every policy.
        let is_written = head.revision != before.revision;
        if is_written {
            self.refuse_conflict(position, before, &found, &written)?;
        }
        let state = self.progress.sees_states.then(|| stored_state(&found)).transpose();
        let state = state.map_err(AppendFailure::Failed)?;
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
            user: SharedChange::of(found.user, written.delta.user, found.floor),
            app: SharedChange::of(found.app, written.delta.app, found.floor),
            events: written.changes,
        });
        let mut missed = match self.policy {
            StalePolicy::Merge => found.changed,
            StalePolicy::Append | StalePolicy::Reject => Vec::new(),
        };
        missed.retain(|row| row.seq <= self.end());
        let (unchanged, since) = (written.unchanged, position.since());
        let shared = changes.as_ref().map(Changes::shared_revisions).unwrap_or_default();
        Ok((Appended { head, unchanged, missed, state, since, shared }, changes))
    }

    /// Returns the handle's position, once the rows tell it and are all that the decision needs.
    fn position_in(
        &self,
        before: SessionHead,
        found: &Found<'_>,
        stored: &[StoredEvent],
    ) -> Result<ResolvedPosition, AppendFailure> {
        let Some(position) = self.progress.position else {
            let position = Some(ResolvedPosition::of_event(before, stored.first()));
            return Err(AppendFailure::NeedsRows(Progress { position, ..self.progress }));
        };
        if !self.progress.sees_states && self.missed_replacement(position.since(), found) {
            // Few appends need the states, and reading them costs time in proportion to their size.
            return Err(AppendFailure::NeedsRows(Progress { sees_states: true, ..self.progress }));
        }
        if position.is_of_another(before) { Err(AppendFailure::Gone) } else { Ok(position) }
    }

    /// Whether the handle missed the replacement of an event.
    fn missed_replacement(&self, since: Revision, found: &Found<'_>) -> bool {
        let is_replaced = |row: &EventRow| row.revision > since && row.seq != row.revision;
        self.policy == StalePolicy::Merge && found.changed.iter().any(is_replaced)
    }

    /// Refuses a write if the session has changed since the revision that the caller knows, or if it would
    /// replace an event that the caller does not know.
    fn refuse_conflict(
        &self,
        position: ResolvedPosition,
        before: SessionHead,
        found: &Found<'_>,
        written: &WrittenEvents,
    ) -> Result<(), AppendFailure> {
        let actual = before.revision;
        let is_refused = self.policy == StalePolicy::Reject && position.is_stale(found, before);
        let known = is_refused.then(|| position.since());
        let replaces = || written.changes.iter().any(|change| change.seq != change.revision);
        let expected = self.expected.filter(|expected| *expected != actual);
        match expected.filter(|expected| *expected != NEVER || replaces()).or(known) {
            Some(expected) => Err(AppendFailure::Stale { expected, actual }),
            None => Ok(()),
        }
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
        written.write_all(events, remaining, floor, self.now);
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
