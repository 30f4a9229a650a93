//! Appending events to a session.

use std::mem;
use std::sync::Arc;

use crate::core::error::{Error, Field, StaleReason};
use crate::core::event::NewEvent;
use crate::core::session::{DescriptionChange, NEVER, Revision, SessionHead, SessionKey};
use crate::core::write::changes::{Changes, SessionChange, SharedChange};
use crate::core::write::compute::{Compute, ComputeDelta, Computed};
use crate::core::write::marker_seqs::MarkerSeqs;
use crate::core::write::outcome::{Appended, Effect, Outcome};
use crate::core::write::plan::{Plan, Repetition, ScopeSet};
use crate::core::write::rows::{EventRow, Found, stored_state};
use crate::core::write::undone::{
    cancelled_invocations, continues_cancelled, continues_undone, has_new_rewind, has_rewind,
    undone_invocations,
};
use crate::core::write::written_events::{WrittenEvents, match_stored};
use crate::core::write::{Decide, Decision};

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

/// What the plan of an append reads. Each decision may need more than its plan has read; most appends need one plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Need {
    /// The last event of a handle whose revision is not known.
    LastEvent,
    /// The stored events with the ids of the new ones, the states that these change, and the events that the policy
    /// needs.
    Policy,
    /// Also the events that were stored since the revision of the handle or the run, among which a rewind may be; and
    /// all states, for a handle that gets these events.
    Missed,
    /// Also all other events: one of those or of the append is a rewind, which may undo any event before it.
    All,
}

impl Need {
    /// Returns what an append needs whose handle has a revision, or that has none.
    fn of(events: &[NewEvent]) -> Self {
        if has_new_rewind(events) { Self::All } else { Self::Policy }
    }
}

/// Stores events, their deltas, and the session's new revision and time: all or none, in order.
#[derive(Debug)]
pub struct Append {
    plan: Plan,
    need: Need,
    /// What the next plan reads, if the last decision needs more rows.
    next: Option<Need>,
    /// The position of the handle. That of an event becomes a revision, its `seq`, once the event is read.
    position: HandlePosition,
    /// Whether only the last event of the handle is known.
    is_of_event: bool,
    events: Vec<NewEvent>,
    policy: StalePolicy,
    /// The revision that the session must have; `None` if any will do.
    expected: Option<Revision>,
    /// The revision up to which the run of the events was neither undone nor cancelled; `None` if that is not known.
    run: Option<Revision>,
    /// The title that the session gets, if it has none.
    first_title: Option<String>,
    /// Computes the delta of the only event.
    compute: Option<Compute>,
    outcome: Outcome<Appended>,
}

impl Append {
    /// Appends to the session with that key.
    pub fn new(
        key: SessionKey,
        position: HandlePosition,
        policy: StalePolicy,
        events: Vec<NewEvent>,
    ) -> Self {
        let mut plan = Plan::of(key);
        plan.repetition = Repetition::Recognized;
        let mut append = Self {
            plan,
            need: Need::of(&events),
            next: None,
            position,
            is_of_event: false,
            events,
            policy,
            expected: None,
            run: None,
            first_title: None,
            compute: None,
            outcome: Outcome::NONE,
        };
        if let HandlePosition::LastEvent(id) = &mut append.position {
            append.plan.event_ids.extend(mem::take(id).map(Into::into));
            (append.need, append.is_of_event) = (Need::LastEvent, true);
        } else {
            append.make_plan();
        }
        append
    }

    /// Makes the append fail with `stale_session` if the session has another revision.
    #[must_use]
    pub fn expecting(self, revision: Revision) -> Self {
        Self { expected: Some(revision), ..self }
    }

    /// Makes the append fail with `stale_session` if the run of its events was undone or cancelled after this revision,
    /// even if the handle has a later revision. An append without a handle ignores it.
    #[must_use]
    pub fn of_run(mut self, revision: Revision) -> Self {
        self.run = Some(revision);
        self.plan.since = self.reads_since();
        self
    }

    /// Makes the append give a title to a session that has none.
    #[must_use]
    pub fn titled(self, title: String) -> Self {
        Self { first_title: Some(title), ..self }
    }

    /// Makes an append of one event compute its delta and its text from the stored state.
    ///
    /// # Errors
    /// Fails with `invalid_argument` if the append has no event or several.
    pub fn computing(mut self, compute: Box<dyn ComputeDelta>) -> Result<Self, Error> {
        if self.events.len() != 1 {
            return Err(Error::invalid(
                Field::Events,
                "must be one event if its delta is computed",
            ));
        }
        self.compute = Some(Compute::new(compute, &mut self.plan));
        Ok(self)
    }

    /// Returns the result.
    ///
    /// # Errors
    /// Fails with the reason why the append was refused.
    pub fn finish(self) -> Result<Appended, Error> {
        self.outcome.finish()
    }

    /// Plans for what is needed, once it is more than the last event of the handle.
    fn make_plan(&mut self) {
        self.plan.event_ids = self.events.iter().map(|event| Arc::clone(&event.id)).collect();
        self.plan.ids_are_new = true;
        self.plan.scopes = self.scopes();
        self.plan.since = self.reads_since();
    }

    fn scopes(&self) -> ScopeSet {
        // Few appends need the states, and reading them costs time in proportion to their size.
        let brings_missed = self.policy == StalePolicy::Merge && self.since().is_some();
        if self.compute.is_some() || brings_missed && self.need >= Need::Missed {
            return ScopeSet::ALL;
        }
        let scopes = self.events.iter().map(|event| ScopeSet::of(&event.delta));
        scopes.fold(ScopeSet::default(), ScopeSet::union)
    }

    /// Returns the revision of the last change that the handle has. If only its last event is known, it may have later
    /// ones too. `None` without a handle, and before that event is read.
    fn since(&self) -> Option<Revision> {
        match self.position {
            HandlePosition::Revision { revision, .. } => Some(revision),
            HandlePosition::LastEvent(_) | HandlePosition::Latest => None,
        }
    }

    /// Returns the revision after which changed events are read. A policy that returns no missed
    /// events needs none, except when only they show whether the handle is stale.
    fn reads_since(&self) -> Revision {
        let needs_none = match (self.need, self.policy) {
            (Need::All, _) => return 0,
            (Need::Missed, _) | (_, StalePolicy::Merge) => false,
            (_, StalePolicy::Append) => true,
            (_, StalePolicy::Reject) => !self.is_of_event,
        };
        self.unended_until().filter(|_| !needs_none).unwrap_or(NEVER)
    }

    /// Returns the revision after which rewinds and end events are looked for: that of the handle, or the earlier one
    /// of the run. `None` without a handle.
    fn unended_until(&self) -> Option<Revision> {
        self.since().map(|since| self.run.map_or(since, |run| since.min(run)))
    }

    /// Returns what the next plan has to read, if the rows are not all that the decision needs.
    fn missing_rows(&self, before: SessionHead, found: &Found) -> Option<Need> {
        if self.need == Need::LastEvent {
            return Some(Need::of(&self.events));
        }
        // Without a handle nothing can be missed.
        let (since, until) = self.since().zip(self.unended_until())?;
        // The policy refuses a handle that has missed events, with or without rewinds.
        let is_refused = self.policy == StalePolicy::Reject && before.revision > since;
        if before.revision <= until || is_refused {
            return None;
        }
        let needed = if self.plan.since == NEVER {
            // A retry finds its events stored, and writes nothing.
            let stored = match_stored(&self.events, &found.events);
            let is_retry =
                stored.len() == self.events.len() && stored.iter().all(|event| event.is_same);
            if is_retry { Need::Policy } else { Need::Missed }
        } else if has_rewind(&found.changed, until) {
            Need::All
        } else if self.policy == StalePolicy::Merge && has_replacement(&found.changed, since) {
            Need::Missed
        } else {
            Need::Policy
        };
        (needed > self.need).then_some(needed)
    }

    /// Whether the append brings the handle a replacement or a rewind that it has missed. The deltas of
    /// missed events do not give the state then: those of replaced events are gone, and that of a rewind
    /// is for readers that do not know its cut.
    fn brings_state(&self, found: &Found) -> bool {
        let is_missed =
            |since| has_replacement(&found.changed, since) || has_rewind(&found.changed, since);
        self.policy == StalePolicy::Merge
            && self.need >= Need::Missed
            && self.since().is_some_and(is_missed)
    }

    /// Decides what the append writes, or why it is refused.
    fn write(&mut self, before: SessionHead, mut found: Found) -> Result<Effect<Appended>, Error> {
        found.check_revisions(self.events.len())?;
        // The session may have been deleted since, and another one created with its id.
        if let HandlePosition::Revision { created, .. } = self.position
            && created != before.created
        {
            return Err(self.not_found());
        }
        let since = self.since();
        let events =
            if self.compute_delta(&found)? { self.events.as_slice() } else { Default::default() };
        let stored = match_stored(events, &found.events);
        let written = WrittenEvents::of(events, &stored, before, found.floor);
        let head = written.head;
        let is_written = head.revision != before.revision;
        // An event that is stored already is no conflict, so a retry is safe under every policy.
        if is_written {
            self.check_stale(since, before, &found)?;
        }
        self.check_conflicts(&written)?;
        let state = self.brings_state(&found).then(|| stored_state(&found)).transpose()?;
        let reads_all = self.need == Need::All;
        let stored_rows = if reads_all { &found.changed } else { &found.events };
        let changes = is_written.then(|| Changes {
            session: Some(SessionChange {
                head,
                markers: MarkerSeqs::of(events, &written.changes, stored_rows),
                state: written.delta.session,
                description: DescriptionChange {
                    first_title: self.first_title.clone(),
                    ..DescriptionChange::default()
                },
            }),
            shared: SharedChange::of(&found, written.delta.shared),
            events: written.changes,
        });
        if let Some(changes) = &changes {
            changes.check_sizes(&found)?;
        }
        // Rows that were read for rewinds and end events alone are none that the handle has missed.
        if reads_all || self.unended_until() < since {
            found.changed.retain(|row| since.is_some_and(|since| row.revision > since));
        }
        let missed = match self.policy {
            StalePolicy::Merge => found.changed,
            StalePolicy::Append | StalePolicy::Reject => Vec::new(),
        };
        let (unchanged, stored_at) = (written.unchanged, written.stored_at);
        let shared = changes.as_ref().map(Changes::shared_revisions).unwrap_or_default();
        let result = Appended { head, unchanged, stored_at, missed, state, since, shared };
        Ok(Effect { result, changes })
    }

    /// Computes the delta, if the append does so. Returns `false` if there is nothing to append: the
    /// delta is empty, or an earlier attempt has stored the event.
    fn compute_delta(&mut self, found: &Found) -> Result<bool, Error> {
        let Some(compute) = &mut self.compute else { return Ok(true) };
        let Some(event) = self.events.first_mut().filter(|_| found.events.is_empty()) else {
            return Ok(false);
        };
        let Computed { delta, text } = compute.call(found)?;
        event.delta = delta;
        event.text = text;
        Ok(!event.delta.is_empty())
    }

    /// Fails if the session is not as the caller expects.
    fn check_stale(
        &self,
        since: Option<Revision>,
        before: SessionHead,
        found: &Found,
    ) -> Result<(), Error> {
        let actual = before.revision;
        let refuse = |reason, expected| {
            let session_id = self.session_id();
            Err(Error::StaleSession { session_id, reason, expected, actual })
        };
        if let Some(expected) = self.expected.filter(|expected| *expected != actual) {
            return refuse(StaleReason::OtherRevision, expected);
        }
        let Some(since) = since else { return Ok(()) };
        // A run of an earlier session with the same id says nothing of this one.
        let run = self.run.filter(|run| *run >= before.created);
        let until = run.map_or(since, |run| since.min(run));
        if self.need == Need::All
            && has_rewind(&found.changed, until)
            && continues_undone(&self.events, &undone_invocations(&found.changed))
        {
            return refuse(StaleReason::Undone, until);
        }
        if continues_cancelled(&self.events, &cancelled_invocations(&found.changed, until)) {
            return refuse(StaleReason::Cancelled, until);
        }
        if self.policy != StalePolicy::Reject {
            return Ok(());
        }
        // Only new events count if the revision is that of an event, since replaced ones may be on the handle already.
        // Both conditions: a replaced event has a later `revision` but an old `seq`. A row that a storage lists only
        // because of its place has a later `seq` but an old `revision`.
        let is_new = |row: &EventRow| row.seq > since && row.revision > since;
        match self.is_of_event {
            true if found.changed.iter().any(is_new) => refuse(StaleReason::LaterEvents, since),
            false if actual > since => refuse(StaleReason::HandleBehind, since),
            _ => Ok(()),
        }
    }

    /// Fails if an event would replace another one than its caller expects.
    fn check_conflicts(&self, written: &WrittenEvents) -> Result<(), Error> {
        if written.conflicts.is_empty() {
            return Ok(());
        }
        let conflicts = written.conflicts.iter();
        let actual = conflicts
            .filter_map(|(index, actual)| Some((self.events.get(*index)?.id.to_string(), *actual)));
        Err(Error::EventConflict { session_id: self.session_id(), actual: actual.collect() })
    }

    fn session_id(&self) -> String {
        self.plan.target.session_id.clone().unwrap_or_default()
    }

    fn not_found(&self) -> Error {
        Error::NotFound { session_id: self.session_id() }
    }
}

impl Decide for Append {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn decide(&mut self, found: Found) -> Decision {
        self.next = None;
        let Some(before) = found.session else {
            let refusal = Err(self.not_found());
            return self.outcome.set(refusal);
        };
        if self.need == Need::LastEvent {
            let is_last = |row: &&EventRow| self.plan.event_ids.contains(&row.id);
            let last = found.events.iter().find(is_last);
            // If the session lacks that event, the handle may have missed all events.
            let (created, revision) = (before.created, last.map_or(before.created, |row| row.seq));
            self.position = HandlePosition::Revision { created, revision };
        }
        self.next = self.missing_rows(before, &found);
        if self.next.is_some() {
            self.outcome = Outcome::NONE;
            return Decision::NeedsRows;
        }
        let effect = self.write(before, found);
        self.outcome.set(effect)
    }

    fn replan(&mut self) -> bool {
        let Some(need) = self.next.take() else { return false };
        self.need = need;
        self.make_plan();
        true
    }
}

/// Whether one of the rows was replaced after that revision.
fn has_replacement(rows: &[EventRow], since: Revision) -> bool {
    rows.iter().any(|row| row.revision > since && row.seq != row.revision)
}
