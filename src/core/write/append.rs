//! Appending events to a session.

use std::rc::Rc;

use crate::core::error::Error;
use crate::core::event::NewEvent;
use crate::core::names::Names;
use crate::core::session::{Description, NEVER, Revision, SessionHead};
use crate::core::state::Delta;
use crate::core::write::changes::{
    Changes, EventChange, SessionChange, SharedChange, SharedRevisions,
};
use crate::core::write::plan::{Plan, ScopeSet};
use crate::core::write::resolved_position::ResolvedPosition;
use crate::core::write::rows::{EventRow, Found, StoredEvent};
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
    /// The revision that the session must have; `None` if any will do.
    expected: Option<Revision>,
    /// The title for a session that has none.
    first_title: Option<String>,
    truncation: Option<Truncation>,
    /// For each event the last event before it in the same append that has its id. Empty if there
    /// is only one event.
    earlier: Vec<Option<Earlier>>,
    now: f64,
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

#[derive(Debug, Clone, Copy)]
struct Earlier {
    index: usize,
    /// Whether both are equal as JSON values.
    is_same: bool,
}

/// The row of an event that is stored already, or that was written earlier in the same append.
#[derive(Clone, Copy)]
struct KnownRow {
    seq: Revision,
    revision: Revision,
    is_same: bool,
}

impl Append {
    pub(super) fn new(
        position: Option<ResolvedPosition>,
        policy: StalePolicy,
        events: &[NewEvent],
        now: f64,
    ) -> Self {
        // Without events, the append only tells what the handle lacks.
        let sees_states = events.is_empty() && policy == StalePolicy::Merge;
        let progress = Progress { position, sees_states };
        let earlier = earlier_events(events);
        let (expected, first_title, truncation) = (None, None, None);
        Self { progress, policy, expected, first_title, truncation, earlier, now, outcome: None }
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
        let is_blind = match self.policy {
            StalePolicy::Merge => false,
            StalePolicy::Append => true,
            StalePolicy::Reject => matches!(position, ResolvedPosition::Revision { .. }),
        };
        if is_blind { NEVER } else { position.since() }
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

    /// Whether the handle missed the replacement of an event.
    fn missed_replacement(&self, since: Revision, found: &Found<'_>) -> bool {
        let is_replaced = |row: &EventRow| row.revision > since && row.seq != row.revision;
        self.policy == StalePolicy::Merge && found.changed.iter().any(is_replaced)
    }

    pub(super) fn decide(
        &mut self,
        found: Found<'_>,
        stored: &[StoredEvent],
        events: &[NewEvent],
    ) -> Option<Changes> {
        let (outcome, changes) = match self.judge(found, stored, events) {
            Ok((appended, changes)) => (Ok(appended), changes),
            Err(failure) => (Err(failure), None),
        };
        self.outcome = Some(outcome);
        changes
    }

    fn judge(
        &self,
        found: Found<'_>,
        stored: &[StoredEvent],
        events: &[NewEvent],
    ) -> Result<(Appended, Option<Changes>), AppendFailure> {
        let before = found.session.ok_or(AppendFailure::Gone)?;
        let Some(position) = self.progress.position else {
            let position = Some(ResolvedPosition::of_event(before, stored.first()));
            return Err(AppendFailure::NeedsRows(Progress { position, ..self.progress }));
        };
        let since = position.since();
        let missed_replacement = self.missed_replacement(since, &found);
        if missed_replacement && !self.progress.sees_states {
            // Few appends need the states, and reading them costs time in proportion to their size.
            return Err(AppendFailure::NeedsRows(Progress { sees_states: true, ..self.progress }));
        }
        if position.is_of_another(before) {
            return Err(AppendFailure::Gone);
        }
        let is_stale = position.is_stale(&found, before);
        let truncation = self.truncation.as_ref();
        let end = truncation.map_or(NEVER, |truncation| truncation.after);
        let mut head = before;
        let mut unchanged = Vec::new();
        let mut delta = truncation.map(|truncation| truncation.delta.clone()).unwrap_or_default();
        let mut written = Vec::with_capacity(events.len());
        let mut rows: Vec<KnownRow> = Vec::new();
        let mut stored = stored.iter().peekable();
        for (index, event) in events.iter().enumerate() {
            let row = stored.next_if(|row| row.index == index).filter(|row| row.seq <= end);
            let earlier = match self.earlier.get(index).copied().flatten() {
                Some(Earlier { index, is_same }) => {
                    rows.get(index).map(|row| KnownRow { is_same, ..*row })
                }
                None => row.map(|row| KnownRow {
                    seq: row.seq,
                    revision: row.revision,
                    is_same: row.is_same,
                }),
            };
            let known = match earlier {
                Some(row) if row.is_same => {
                    unchanged.push((index, row.revision));
                    row
                }
                _ => {
                    head.revision = head.revision.max(found.floor) + 1;
                    let time = event.timestamp.min(self.now);
                    head.last_update_time = head.last_update_time.max(time);
                    let revision = head.revision;
                    let seq = earlier.map_or(revision, |row| row.seq);
                    written.push(EventChange { index, seq, revision });
                    delta.extend(event.delta.clone());
                    KnownRow { seq, revision, is_same: false }
                }
            };
            // Only later events of the same append ask for it.
            if !self.earlier.is_empty() {
                rows.push(known);
            }
        }
        let actual = before.revision;
        // A change of the state or a removal alone gets a revision too.
        if written.is_empty() && (actual > end || !delta.is_empty()) {
            head.revision = actual.max(found.floor) + 1;
        }
        // An event that is stored already is no conflict, so a retry is safe under every policy.
        let is_written = head.revision != actual;
        if let Some(expected) = self.expected.filter(|expected| is_written && *expected != actual) {
            return Err(AppendFailure::Stale { expected, actual });
        }
        if self.policy == StalePolicy::Reject && is_stale && is_written {
            return Err(AppendFailure::Stale { expected: since, actual });
        }
        let state = self.progress.sees_states.then(|| stored_state(&found)).transpose();
        let state = state.map_err(AppendFailure::Failed)?;
        let changes = is_written.then(|| Changes {
            session: Some(SessionChange {
                head,
                state: delta.session,
                description: Description {
                    first_title: self.first_title.clone(),
                    // Another history may begin with another state.
                    initial_state: (end <= before.created).then(String::new),
                    ..Description::default()
                },
            }),
            user: SharedChange::of(found.user, delta.user, found.floor),
            app: SharedChange::of(found.app, delta.app, found.floor),
            events: written,
        });
        let mut missed = match self.policy {
            StalePolicy::Merge => found.changed,
            StalePolicy::Append | StalePolicy::Reject => Vec::new(),
        };
        missed.retain(|row| row.seq <= end);
        let shared = changes.as_ref().map(Changes::shared_revisions).unwrap_or_default();
        Ok((Appended { head, unchanged, missed, state, since, shared }, changes))
    }
}

/// Finds, for each event, the last one before it with the same id.
fn earlier_events(events: &[NewEvent]) -> Vec<Option<Earlier>> {
    if events.len() < 2 {
        return Vec::new();
    }
    let mut indexes = Names::<usize>::default();
    let mut earlier = Vec::with_capacity(events.len());
    for (number, event) in events.iter().enumerate() {
        earlier.push(indexes.get(&event.id).and_then(|index| {
            let is_same = event.is_same(&events.get(*index)?.text);
            Some(Earlier { index: *index, is_same })
        }));
        if let Some(index) = indexes.get_or_default(&event.id) {
            *index = number;
        }
    }
    earlier
}
