//! Appending events to a session.

use std::sync::Arc;

use crate::core::error::{Error, Field, StaleReason};
use crate::core::event::NewEvent;
use crate::core::names::Names;
use crate::core::session::{
    DescriptionChange, NEVER, Revision, SessionHead, SessionKey, TitleChange,
};
use crate::core::write::changes::{Changes, SessionChange, SharedChange};
use crate::core::write::compute::{Compute, ComputeDelta, Computed};
use crate::core::write::marker_seqs::MarkerSeqs;
use crate::core::write::outcome::{Appended, Effect, Outcome};
use crate::core::write::plan::{Plan, Repetition, ScopeSet};
use crate::core::write::resolved_position::{Progress, ResolvedPosition};
use crate::core::write::rows::{EventRow, Found, StoredEvent, stored_state};
use crate::core::write::undone::{
    LookBack, cancelled_invocations, continues_cancelled, continues_undone, has_new_rewind,
    has_rewind, undone_invocations,
};
use crate::core::write::written_events::WrittenEvents;
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

/// Stores events, their deltas, and the session's new revision and time: all or none, in order.
#[derive(Debug)]
pub struct Append {
    plan: Plan,
    /// What the plans so far have found out.
    progress: Progress,
    /// The same for the next plan, if the last decision needs more rows.
    next_progress: Option<Progress>,
    events: Vec<NewEvent>,
    policy: StalePolicy,
    /// The revision that the session must have; `None` if any will do.
    expected: Option<Revision>,
    /// The revision up to which the run of the events was neither undone nor cancelled; `None` if that is not known.
    run: Option<Revision>,
    /// The title that the session gets, if it has the one before that.
    title_change: Option<TitleChange>,
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
        let position = match position {
            HandlePosition::Revision { created, revision } => {
                Some(ResolvedPosition::of_revision(created, revision))
            }
            HandlePosition::Latest => Some(ResolvedPosition::LATEST),
            HandlePosition::LastEvent(id) => {
                plan.event_ids.extend(id.map(Into::into));
                None
            }
        };
        plan.repetition = Repetition::Recognized;
        let look_back = if has_new_rewind(&events) { LookBack::All } else { LookBack::Policy };
        let mut append = Self {
            plan,
            progress: Progress { position, sees_states: false, look_back },
            next_progress: None,
            events,
            policy,
            expected: None,
            run: None,
            title_change: None,
            compute: None,
            outcome: Outcome::NONE,
        };
        append.make_plan();
        append
    }

    /// Makes the append fail with `stale_session` if the session has another revision.
    #[must_use]
    pub fn expecting(self, revision: Revision) -> Self {
        Self { expected: Some(revision), ..self }
    }

    /// Makes the append fail with `stale_session` if the run of its events was undone or cancelled after that revision,
    /// also if the handle has a later one. An append without a handle ignores it.
    #[must_use]
    pub fn of_run(mut self, revision: Revision) -> Self {
        self.run = Some(revision);
        if let Some(position) = self.progress.position {
            self.plan.since = self.since(position);
        }
        self
    }

    /// Makes the append change the title.
    #[must_use]
    pub fn titled(self, change: TitleChange) -> Self {
        Self { title_change: Some(change), ..self }
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

    /// Plans for the progress so far. Until the handle's position is known, the plan keeps the id of
    /// its last event.
    fn make_plan(&mut self) {
        let Some(position) = self.progress.position else {
            return;
        };
        let Self { events, plan, .. } = self;
        plan.event_ids = events.iter().map(|event| Arc::clone(&event.id)).collect();
        plan.ids_are_new = true;
        self.plan.scopes = self.scopes();
        self.plan.since = self.since(position);
    }

    fn scopes(&self) -> ScopeSet {
        if self.progress.sees_states {
            return ScopeSet::ALL;
        }
        let scopes = self.events.iter().map(|event| ScopeSet::of(&event.delta));
        scopes.fold(ScopeSet::default(), ScopeSet::union)
    }

    /// Returns the revision after which changed events are read. A policy that returns no missed
    /// events needs none, except when only they show whether the handle is stale.
    fn since(&self, position: ResolvedPosition) -> Revision {
        let needs_none = match (self.progress.look_back, self.policy) {
            (LookBack::All, _) => return 0,
            (LookBack::Missed, _) | (_, StalePolicy::Merge) => false,
            (_, StalePolicy::Append) => true,
            (_, StalePolicy::Reject) => !position.is_of_event,
        };
        self.unended_until(position).filter(|_| !needs_none).unwrap_or(NEVER)
    }

    /// Returns the revision after which rewinds and seals are looked for: that of the handle, or the earlier one of
    /// the run. `None` without a handle.
    fn unended_until(&self, position: ResolvedPosition) -> Option<Revision> {
        position.since.map(|since| self.run.map_or(since, |run| since.min(run)))
    }

    /// Returns what the next plan has to read, if the rows are not all that the decision needs.
    fn missing_rows(&self, before: SessionHead, found: &Found) -> Option<Progress> {
        let Some(position) = self.progress.position else {
            let is_last = |row: &&EventRow| self.plan.event_ids.contains(&row.id);
            let seq = found.events.iter().find(is_last).map(|row| row.seq);
            let position = Some(ResolvedPosition::of_event(before, seq));
            return Some(Progress { position, ..self.progress });
        };
        // Without a handle nothing can be missed.
        let since = position.since?;
        let needed = Progress {
            position: Some(position),
            // Few appends need the states, and reading them costs time in proportion to their size.
            sees_states: self.progress.sees_states || self.needs_states(since, found),
            look_back: self.look_back(position, before, found),
        };
        (needed != self.progress).then_some(needed)
    }

    /// Returns which events the decision needs because of rewinds.
    fn look_back(
        &self,
        position: ResolvedPosition,
        before: SessionHead,
        found: &Found,
    ) -> LookBack {
        let look_back = self.progress.look_back;
        let (Some(since), Some(until)) = (position.since, self.unended_until(position)) else {
            return look_back;
        };
        // The policy refuses a handle that has missed events, with or without rewinds.
        let is_refused = self.policy == StalePolicy::Reject && before.revision > since;
        if before.revision <= until || is_refused {
            return look_back;
        }
        if self.plan.since == NEVER {
            // A retry finds its events stored, and writes nothing.
            let stored = match_stored(&self.events, &found.events);
            let is_retry =
                stored.len() == self.events.len() && stored.iter().all(|event| event.is_same);
            if is_retry { look_back } else { LookBack::Missed }
        } else if has_rewind(&found.changed, until) {
            LookBack::All
        } else {
            look_back
        }
    }

    /// Whether the append brings the handle a replacement or a rewind that it has missed. The deltas of
    /// missed events do not give the state then: those of replaced events are gone, and that of a rewind
    /// is for readers that do not know its cut.
    fn needs_states(&self, since: Revision, found: &Found) -> bool {
        let is_replaced = |row: &EventRow| row.revision > since && row.seq != row.revision;
        self.policy == StalePolicy::Merge
            && (found.changed.iter().any(is_replaced) || has_rewind(&found.changed, since))
    }

    /// Decides what the append writes, or why it is refused.
    fn write(&mut self, before: SessionHead, mut found: Found) -> Result<Effect<Appended>, Error> {
        found.check_revisions(self.events.len())?;
        let position = self.progress.position.unwrap_or(ResolvedPosition::LATEST);
        if position.is_of_another(before) {
            return Err(self.not_found());
        }
        let events =
            if self.compute_delta(&found)? { self.events.as_slice() } else { Default::default() };
        let stored = match_stored(events, &found.events);
        let written = WrittenEvents::of(events, &stored, before, found.floor);
        let head = written.head;
        let is_written = head.revision != before.revision;
        // An event that is stored already is no conflict, so a retry is safe under every policy.
        if is_written {
            self.check_stale(position, before, &found)?;
        }
        self.check_conflicts(&written)?;
        let state = self.progress.sees_states.then(|| stored_state(&found)).transpose()?;
        let reads_all = self.progress.look_back == LookBack::All;
        let stored_rows = if reads_all { &found.changed } else { &found.events };
        let changes = is_written.then(|| Changes {
            session: Some(SessionChange {
                head,
                markers: MarkerSeqs::of(events, &written.changes, stored_rows),
                state: written.delta.session,
                description: DescriptionChange {
                    title_change: self.title_change.clone(),
                    ..DescriptionChange::default()
                },
            }),
            shared: SharedChange::of(&found, written.delta.shared),
            events: written.changes,
        });
        if let Some(changes) = &changes {
            changes.check_sizes(&found)?;
        }
        // Rows that were read for rewinds and seals alone are none that the handle has missed.
        if reads_all || self.unended_until(position) < position.since {
            let is_missed =
                |row: &EventRow| position.since.is_some_and(|since| row.revision > since);
            found.changed.retain(is_missed);
        }
        let missed = match self.policy {
            StalePolicy::Merge => found.changed,
            StalePolicy::Append | StalePolicy::Reject => Vec::new(),
        };
        let (unchanged, stored_at, since) = (written.unchanged, written.stored_at, position.since);
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
        position: ResolvedPosition,
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
        let Some(since) = position.since else { return Ok(()) };
        // A run of an earlier session with the same id says nothing of this one.
        let run = self.run.filter(|run| *run >= before.created);
        let until = run.map_or(since, |run| since.min(run));
        let reads_all = self.progress.look_back == LookBack::All;
        if reads_all
            && has_rewind(&found.changed, until)
            && continues_undone(&self.events, &undone_invocations(&found.changed))
        {
            return refuse(StaleReason::Undone, until);
        }
        if continues_cancelled(&self.events, &cancelled_invocations(&found.changed, until)) {
            return refuse(StaleReason::Cancelled, until);
        }
        if self.policy != StalePolicy::Reject || !position.is_stale(found, before) {
            return Ok(());
        }
        let is_of_event = position.is_of_event;
        refuse(
            if is_of_event { StaleReason::LaterEvents } else { StaleReason::HandleBehind },
            since,
        )
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
        self.next_progress = None;
        let Some(before) = found.session else {
            let refusal = Err(self.not_found());
            return self.outcome.set(refusal);
        };
        self.next_progress = self.missing_rows(before, &found);
        if self.next_progress.is_some() {
            self.outcome = Outcome::NONE;
            return Decision::NeedsRows;
        }
        let effect = self.write(before, found);
        self.outcome.set(effect)
    }

    fn replan(&mut self) -> bool {
        let Some(progress) = self.next_progress.take() else { return false };
        self.progress = progress;
        self.make_plan();
        true
    }
}

/// Finds the stored event of each new one that has its id, and compares their texts.
fn match_stored(events: &[NewEvent], rows: &[EventRow]) -> Vec<StoredEvent> {
    let mut stored = Vec::new();
    if rows.is_empty() {
        return stored;
    }
    let mut row_indexes = Names::<usize>::default();
    for (number, row) in rows.iter().enumerate() {
        if let Some(known) = row_indexes.get_or_default(&row.id) {
            *known = number;
        }
    }
    for (index, event) in events.iter().enumerate() {
        if let Some(row) = row_indexes.get(&event.id).and_then(|number| rows.get(*number)) {
            stored.push(StoredEvent {
                index,
                seq: row.seq,
                revision: row.revision,
                is_same: event.is_same(&row.text),
            });
        }
    }
    stored
}
