//! Writes: the rows that a write reads, the changes that it makes, and the result for its caller.
//!
//! Every write is a [`Write`]. In one transaction a storage reads the rows named by
//! [`Write::plan`], calls [`Write::decide`] and writes the returned [`Changes`]. A transaction that
//! is retried calls `decide` again: the last result counts. No rule reads the text of an event.

mod append;
mod changes;
mod compute;
mod create;
mod describe;
mod merged;
mod outcome;
mod plan;
mod resolved_position;
mod rows;
#[cfg(any(test, feature = "testing"))]
mod script;
mod update;
mod written_events;

use append::{Append, Truncation};
pub use append::{HandlePosition, StalePolicy};
pub use changes::{Changes, EventChange, SessionChange, SharedChange, SharedRevisions};
use compute::Compute;
pub use compute::{ComputeDelta, Computed};
use create::Create;
pub use create::NewSession;
pub(crate) use merged::merged;
use merged::stored_state;
pub use outcome::{Appended, Created};
use outcome::{Decision, Outcome};
pub use plan::{MOST_CHANGED, Plan, Repetition, ScopeSet, Target};
use resolved_position::ResolvedPosition;
use rows::StoredEvent;
pub use rows::{EventRow, Found, SessionRow, SharedRow};
use update::Update;

use std::rc::Rc;

use crate::core::error::{Error, StorageProblem};
use crate::core::event::NewEvent;
use crate::core::names::Names;
use crate::core::session::{Description, Revision, SessionKey};
use crate::core::state::Delta;

/// One write, from its plan to its result.
#[derive(Debug)]
pub struct Write {
    plan: Plan,
    rule: Rule,
    /// The events that it may store. Rules use everything but their texts.
    events: Vec<NewEvent>,
    /// Computes the delta of an update, or of the only event of an append.
    compute: Option<Compute>,
    /// The outcome of the last decision; `None` until the storage calls `decide`.
    outcome: Option<Result<Outcome, Error>>,
    #[cfg(any(test, feature = "testing"))]
    starts_over: bool,
}

/// The rule that decides the write.
#[derive(Debug)]
enum Rule {
    Create(Create),
    Append(Append),
    Update(Update),
    Describe(Description),
    #[cfg(any(test, feature = "testing"))]
    Script(script::Script),
}

impl Write {
    fn new(plan: Plan, rule: Rule, events: Vec<NewEvent>) -> Self {
        Self {
            plan,
            rule,
            events,
            compute: None,
            outcome: None,
            #[cfg(any(test, feature = "testing"))]
            starts_over: false,
        }
    }

    /// Creates a session with its events, if its key is free.
    ///
    /// # Errors
    /// Fails with `invalid_argument` if two events have one id.
    pub fn create(key: SessionKey, new: NewSession) -> Result<Self, Error> {
        let scopes = ScopeSet::ALL;
        let repetition = Repetition::Recognized;
        let plan = Plan { creates: true, scopes, repetition, ..Plan::of(key) };
        let (create, events) = Create::new(new)?;
        Ok(Self::new(plan, Rule::Create(create), events))
    }

    /// Stores events and their deltas, all or none, in order.
    pub fn append(
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
        if !events.is_empty() {
            plan.repetition = Repetition::Recognized;
        }
        let append = Append::new(position, policy, &events);
        append.plan(&events, &mut plan);
        Self::new(plan, Rule::Append(append), events)
    }

    /// Makes an append fail with `stale_session` if the session has another revision.
    #[must_use]
    pub fn expecting(mut self, revision: Revision) -> Self {
        if let Rule::Append(append) = &mut self.rule {
            append.expected = Some(revision);
        }
        self
    }

    /// Makes an append first remove all events with a `seq` later than `after`. Their ids are then
    /// free. `delta` changes the state, in place of the deltas of the new events.
    /// Only for a storage that [`truncates`](crate::storage::Storage::truncates).
    #[must_use]
    pub fn truncating(mut self, after: Revision, delta: Delta) -> Self {
        for event in &mut self.events {
            event.delta = Delta::default();
        }
        if let Rule::Append(append) = &mut self.rule {
            append.truncation = Some(Truncation { after, delta });
            append.plan(&self.events, &mut self.plan);
            self.plan.repetition = Repetition::CountsTwice;
        }
        self
    }

    /// Makes an append give the session a title if it has none.
    #[must_use]
    pub fn titled(mut self, title: String) -> Self {
        if let Rule::Append(append) = &mut self.rule {
            append.first_title = Some(title);
        }
        self
    }

    /// Changes the states of a user and of an app.
    ///
    /// # Errors
    /// Fails with `invalid_argument` if a name is invalid, or if a key's scope needs an id that is
    /// missing.
    pub fn update(app_name: String, user_id: Option<String>, delta: Delta) -> Result<Self, Error> {
        let update = Update::new(&app_name, user_id.as_deref(), delta)?;
        let target = Target { app_name, user_id, session_id: None };
        let plan = Plan { scopes: update.scopes(), ..Plan::of(target) };
        Ok(Self::new(plan, Rule::Update(update), Vec::new()))
    }

    /// Changes the title and the labels of a session.
    pub(crate) fn describe(key: SessionKey, change: Description) -> Self {
        Self::new(Plan::of(key), Rule::Describe(change), Vec::new())
    }

    /// Makes an update, or an append of one event, compute its delta from the stored state: of the
    /// app, and of the user and the session that it names.
    #[must_use]
    pub fn computing(mut self, compute: ComputeDelta) -> Self {
        let Target { user_id, session_id, .. } = &self.plan.target;
        let (user, session) = (user_id.is_some(), session_id.is_some());
        self.plan.scopes = ScopeSet { session, user, app: true };
        if self.events.is_empty() {
            self.plan.repetition = Repetition::CountsTwice;
        }
        self.compute = Some(Compute(compute));
        self
    }

    /// Returns which rows the storage has to read.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Computes the changes from the rows that were found. Returns `None` if there is nothing to
    /// write.
    pub fn decide(&mut self, found: Found) -> Option<Changes> {
        #[cfg(any(test, feature = "testing"))]
        self.start_over(&found);
        self.decide_once(found)
    }

    fn decide_once(&mut self, found: Found) -> Option<Changes> {
        let (outcome, changes) = match self.try_decide(found) {
            Ok((outcome, changes)) => (Ok(outcome), changes),
            Err(refusal) => (Err(refusal), None),
        };
        self.outcome = Some(outcome);
        changes
    }

    fn try_decide(&mut self, mut found: Found) -> Result<Decision, Error> {
        found.check_revisions(self.events.len())?;
        let stored = self.compared(&found.events);
        let events = if self.compute(&found)? { self.events.as_slice() } else { &[] };
        let target = &self.plan.target;
        let decision = match &mut self.rule {
            Rule::Create(create) => create.decide(&found, target)?,
            Rule::Append(append) => {
                let session_id = target.session_id.as_deref().unwrap_or_default();
                append.decide(&mut found, &stored, events, session_id)?
            }
            Rule::Update(update) => update.decide(&found),
            Rule::Describe(change) => describe::decide(change, &found),
            #[cfg(any(test, feature = "testing"))]
            Rule::Script(script) => script.decide(&found),
        };
        if let (_, Some(changes)) = &decision {
            changes.check_sizes(&found)?;
        }
        Ok(decision)
    }

    /// Computes the delta, if the write does so. Returns `false` if there is nothing to append: the
    /// delta is empty, an earlier attempt has stored the event, or the session is missing.
    fn compute(&mut self, found: &Found) -> Result<bool, Error> {
        let Some(Compute(compute)) = &mut self.compute else { return Ok(true) };
        let Target { app_name, user_id, session_id } = &self.plan.target;
        let is_missing = session_id.is_some() && found.session.is_none();
        if is_missing || !found.events.is_empty() {
            return Ok(false);
        }
        let Computed { delta, text } = compute(&stored_state(found)?)?;
        let is_any = !delta.is_empty();
        if let Some(event) = self.events.first_mut() {
            event.delta = delta;
            event.text = text;
        } else {
            self.rule = Rule::Update(Update::new(app_name, user_id.as_deref(), delta)?);
        }
        Ok(is_any)
    }

    /// Returns the row to store for an event's change; `None` only for a change of another write.
    pub fn row(&self, change: &EventChange) -> Option<EventRow> {
        let EventChange { index, seq, revision } = *change;
        let NewEvent { id, timestamp, text, .. } = self.events.get(index)?;
        let (id, text) = (Rc::clone(id), text.clone());
        Some(EventRow { id, seq, revision, timestamp: *timestamp, text })
    }

    /// Returns the bytes of its events' texts.
    pub(crate) fn text_len(&self) -> usize {
        self.events.iter().map(|event| event.text.with(str::len)).sum()
    }

    /// Compares the stored events with the new ones. No other code looks at a text.
    fn compared(&self, rows: &[EventRow]) -> Vec<StoredEvent> {
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
        for (index, id) in self.plan.event_ids.iter().enumerate() {
            if let Some(row) = row_indexes.get(id).and_then(|number| rows.get(*number)) {
                let new = self.events.get(index).filter(|new| new.id == row.id);
                stored.push(StoredEvent {
                    index,
                    seq: row.seq,
                    revision: row.revision,
                    is_same: new.is_some_and(|new| new.is_same(&row.text)),
                });
            }
        }
        stored
    }

    /// Returns whether the write stopped because it needs more rows. [`Write::plan`] names them
    /// now.
    pub(crate) fn again(&mut self) -> bool {
        let (Rule::Append(append), Some(Ok(Outcome::NeedsRows(progress)))) =
            (&mut self.rule, &self.outcome)
        else {
            return false;
        };
        append.progress = *progress;
        append.plan(&self.events, &mut self.plan);
        self.outcome = None;
        true
    }

    fn finish(self) -> Result<Outcome, Error> {
        self.outcome.ok_or_else(never_decided)?
    }

    /// Returns the new session.
    ///
    /// # Errors
    /// Fails with `already_exists` if the key was taken, or with another reason of the refusal.
    pub fn created(self) -> Result<Created, Error> {
        let Outcome::Created(created) = self.finish()? else { return Err(never_decided()) };
        Ok(created)
    }

    /// Returns the result of an append.
    ///
    /// # Errors
    /// Fails with the reason why it was refused.
    pub fn appended(self) -> Result<Appended, Error> {
        let Outcome::Appended(appended) = self.finish()? else { return Err(never_decided()) };
        Ok(appended)
    }

    /// Returns whether the session to describe exists.
    pub(crate) fn described(self) -> Result<bool, Error> {
        let Outcome::Described(is_there) = self.finish()? else { return Err(never_decided()) };
        Ok(is_there)
    }

    /// Returns the new revisions of the states that an update changed.
    ///
    /// # Errors
    /// Fails with the reason why it was refused.
    pub fn updated(self) -> Result<SharedRevisions, Error> {
        let Outcome::Updated(updated) = self.finish()? else { return Err(never_decided()) };
        Ok(updated)
    }
}

fn never_decided() -> Error {
    Error::Storage { problem: StorageProblem::Failed, reason: "it never called decide".into() }
}
