//! Appending events to a session.

use std::mem;
#[cfg(target_arch = "wasm32")]
use std::rc::Rc;

use crate::error::Error;
use crate::event::NewEvent;
use crate::names::Names;
use crate::service::merged;
use crate::session::{NEVER, Revision, SessionHead, SessionKey};
use crate::state::{Delta, ScopedState};
#[cfg(target_arch = "wasm32")]
use crate::storage::{Ask, MemoryStorage, MemoryText};
use crate::storage::{
    Changes, Decide, EventRow, EventText, Found, ScopeChange, ScopeRevisions, ScopeSet,
    SessionChange, WriteRequest,
};

/// What an append does when others appended since its handle was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StalePolicy {
    /// It lands, and the handle is told what it missed.
    Merge,
    /// It lands, and the handle is told of nothing else.
    Append,
    /// It is refused with `stale_session`.
    Reject,
}

/// What a handle knows of where it stands.
#[derive(Debug, Clone, PartialEq)]
pub enum Known {
    /// We gave it out: the session's first revision, and the one that the handle is at.
    Revision {
        /// The revision that the session was created at.
        created: Revision,
        /// The revision of the last change that the handle has.
        revision: Revision,
    },
    /// It came from elsewhere: the id of the last event it holds, if it holds any.
    LastEvent(Option<String>),
    /// There is no handle, and so nothing that could be stale.
    Latest,
}

/// What an append did.
#[derive(Debug, Clone, PartialEq)]
pub struct Appended<T> {
    /// Where the session stands now.
    pub head: SessionHead,
    /// Which of the events were stored already with the same content: their positions, and the
    /// revisions that they were written at.
    pub unchanged: Vec<(usize, Revision)>,
    /// What the handle had missed, in any order; empty unless it was stale and merges.
    pub missed: Vec<EventRow<T>>,
    /// The JSON object of the stored state before the append, if the handle had missed that an event was
    /// replaced: what the event's earlier versions changed is in no stored delta any more.
    pub state: Option<String>,
    /// The revision that the handle was at: events with a later `seq` are new to it.
    pub since: Revision,
    /// Which other states changed.
    pub scopes: ScopeRevisions,
}

/// [`Known`], looked up.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Position {
    Revision {
        created: Revision,
        revision: Revision,
    },
    /// The `seq` of the last event that the handle has.
    Event {
        created: Revision,
        seq: Revision,
    },
    Latest,
}

impl Position {
    /// Whether the session was deleted since, and another one created with its id.
    fn is_of_another(self, head: SessionHead) -> bool {
        match self {
            Self::Revision { created, .. } | Self::Event { created, .. } => head.created != created,
            Self::Latest => false,
        }
    }

    fn since(self) -> Revision {
        match self {
            Self::Revision { revision, .. } => revision,
            Self::Event { seq, .. } => seq,
            Self::Latest => NEVER,
        }
    }

    /// Whether someone else changed the session. A handle without revision is told by its last
    /// event alone: it cannot know of replacements further back.
    fn is_stale<T>(self, found: &Found<'_, T>, head: SessionHead) -> bool {
        match self {
            Self::Revision { revision, .. } => head.revision > revision,
            // What may have come since by its place alone is none that the handle would know of.
            Self::Event { seq, .. } => {
                found.changed.iter().any(|row| row.seq > seq && row.revision > seq)
            }
            Self::Latest => false,
        }
    }
}

/// Reads where a handle stands by its last event; writes nothing.
#[derive(Default)]
pub(crate) struct LookDecision {
    created: Option<Revision>,
    seq: Option<Revision>,
}

impl LookDecision {
    pub(super) fn position(self, key: &SessionKey) -> Result<Position, Error> {
        let created = self.created.ok_or_else(|| not_found(key))?;
        // An event that the store does not have tells nothing: the handle may have missed all.
        Ok(Position::Event { created, seq: self.seq.unwrap_or(created) })
    }
}

impl<T> Decide<T> for LookDecision {
    fn decide(&mut self, found: Found<'_, T>) -> Option<Changes<T>> {
        self.created = found.session.map(|head| head.created);
        self.seq = found.events.first().map(|row| row.seq);
        None
    }
}

/// Why an append did not happen.
#[derive(Debug)]
enum Refused {
    /// The session was deleted, or never existed.
    Gone,
    Stale {
        expected: Revision,
        actual: Revision,
    },
    /// It has to be asked again, with the states.
    NeedsStates,
    Failed(Error),
}

impl Refused {
    fn of(self, session_id: &str) -> Error {
        let session_id = session_id.to_owned();
        match self {
            Self::Gone => Error::NotFound { session_id },
            Self::Stale { expected, actual } => {
                Error::StaleSession { session_id, expected, actual }
            }
            Self::NeedsStates => unasked(),
            Self::Failed(error) => error,
        }
    }
}

/// The stored state as the session's readers see it.
fn stored_state<T>(found: &Found<'_, T>) -> Result<String, Error> {
    let none = ScopedState::default();
    let (user, app) = (found.user.map(|row| &row.state), found.app.map(|row| &row.state));
    merged(found.state.unwrap_or(&none), user, app)
}

fn unasked() -> Error {
    Error::StorageFailed { reason: "it never asked what to write".into() }
}

/// Writes events, their deltas, and the session's new revision and time.
pub(crate) struct AppendDecision<T> {
    position: Position,
    policy: StalePolicy,
    events: Vec<NewEvent<T>>,
    now: f64,
    /// Whether it asks for all states, and not only for those that it changes.
    sees_states: bool,
    /// `None` until it was asked.
    outcome: Option<Result<Appended<T>, Refused>>,
}

impl<T: EventText> AppendDecision<T> {
    pub(crate) fn new(
        position: Position,
        policy: StalePolicy,
        events: Vec<NewEvent<T>>,
        now: f64,
    ) -> Self {
        Self { position, policy, events, now, sees_states: false, outcome: None }
    }

    pub(super) fn request(&self, key: SessionKey) -> WriteRequest {
        WriteRequest {
            target: key.into(),
            scopes: self.scopes(),
            event_ids: self.events.iter().map(|event| event.id.clone()).collect(),
            ids_are_new: true,
            since: self.since(),
        }
    }

    pub(crate) fn scopes(&self) -> ScopeSet {
        let any = |scope: fn(&Delta) -> bool| {
            self.sees_states || self.events.iter().any(|event| scope(&event.delta))
        };
        ScopeSet {
            session: any(|delta| !delta.session.is_empty()),
            user: any(|delta| !delta.user.is_empty()),
            app: any(|delta| !delta.app.is_empty()),
        }
    }

    /// A handle that will not be told what it missed needs no look at it, unless that is what tells
    /// whether it is stale.
    pub(crate) fn since(&self) -> Revision {
        let is_blind = match self.policy {
            StalePolicy::Merge => false,
            StalePolicy::Append => true,
            StalePolicy::Reject => matches!(self.position, Position::Revision { .. }),
        };
        if is_blind { NEVER } else { self.position.since() }
    }

    pub(crate) fn outcome(self, session_id: &str) -> Result<Appended<T>, Error> {
        self.outcome.ok_or_else(unasked)?.map_err(|refused| refused.of(session_id))
    }

    /// The decision to ask again, where it wrote nothing because it had not asked for the states. Few
    /// appends need them, and to read them costs as much as they are large.
    pub(crate) fn again(&mut self) -> bool {
        if !matches!(self.outcome, Some(Err(Refused::NeedsStates))) {
            return false;
        }
        self.sees_states = true;
        true
    }

    /// Whether the handle has missed that an event was replaced.
    fn missed_replacement(&self, found: &Found<'_, T>) -> bool {
        let since = self.position.since();
        let is_replaced = |row: &EventRow<T>| row.revision > since && row.seq != row.revision;
        self.policy == StalePolicy::Merge && found.changed.iter().any(is_replaced)
    }

    /// Takes note of what to do with the events, or why not.
    fn note(
        &mut self,
        take: impl FnOnce(&mut Self) -> Vec<NewEvent<T>>,
        found: Found<'_, T>,
    ) -> Option<Changes<T>> {
        if !self.sees_states && self.missed_replacement(&found) {
            self.outcome = Some(Err(Refused::NeedsStates));
            return None;
        }
        let events = take(self);
        match self.judge(events, found) {
            Ok((appended, changes)) => {
                self.outcome = Some(Ok(appended));
                changes
            }
            Err(refused) => {
                self.outcome = Some(Err(refused));
                None
            }
        }
    }

    fn judge(
        &self,
        events: Vec<NewEvent<T>>,
        found: Found<'_, T>,
    ) -> Result<(Appended<T>, Option<Changes<T>>), Refused> {
        let stored = found.session.ok_or(Refused::Gone)?;
        if self.position.is_of_another(stored) {
            return Err(Refused::Gone);
        }
        let is_stale = self.position.is_stale(&found, stored);
        let mut head = stored;
        let mut unchanged = Vec::new();
        let mut delta = Delta::default();
        let mut written: Vec<EventRow<T>> = Vec::with_capacity(events.len());
        // Where the rows stand by their ids, in what was found and behind it in `written`. One event
        // needs no map.
        let mut places = Names::default();
        let (is_batch, stored_rows) = (events.len() > 1, &found.events);
        if is_batch {
            for (place, row) in stored_rows.iter().enumerate() {
                set(&mut places, &row.id, place);
            }
        }
        for (number, event) in events.into_iter().enumerate() {
            let earlier = match places.get(&event.id) {
                Some(place) => match place.checked_sub(stored_rows.len()) {
                    Some(place) => written.get(place),
                    None => stored_rows.get(*place),
                },
                None if is_batch => None,
                None => stored_rows.iter().find(|row| row.id == event.id),
            };
            let is_same = |row: &&EventRow<T>| {
                let whole = event.whole.as_ref();
                row.text.is_same(&event.text) || whole.is_some_and(|text| row.text.is_same(text))
            };
            if let Some(row) = earlier.filter(is_same) {
                unchanged.push((number, row.revision));
                continue;
            }
            head.revision = head.revision.max(found.floor) + 1;
            head.last_update_time = head.last_update_time.max(event.timestamp.min(self.now));
            let row = EventRow {
                id: event.id,
                seq: earlier.map_or(head.revision, |row| row.seq),
                revision: head.revision,
                timestamp: event.timestamp,
                text: event.text,
            };
            if is_batch {
                set(&mut places, &row.id, stored_rows.len() + written.len());
            }
            written.push(row);
            delta.extend(event.delta);
        }
        // What is stored already is no conflict, so that a retry is safe whatever the policy.
        if self.policy == StalePolicy::Reject && is_stale && !written.is_empty() {
            let expected = self.position.since();
            return Err(Refused::Stale { expected, actual: stored.revision });
        }
        let state = self.missed_replacement(&found).then(|| stored_state(&found)).transpose();
        let state = state.map_err(Refused::Failed)?;
        let missed = match self.policy {
            StalePolicy::Merge => found.changed,
            StalePolicy::Append | StalePolicy::Reject => Vec::new(),
        };
        let changes = (!written.is_empty()).then(|| Changes {
            session: Some(SessionChange { head, state: delta.session }),
            user: ScopeChange::of(found.user, delta.user, found.floor),
            app: ScopeChange::of(found.app, delta.app, found.floor),
            events: written,
        });
        let scopes = changes.as_ref().map(Changes::scope_revisions).unwrap_or_default();
        let since = self.position.since();
        Ok((Appended { head, unchanged, missed, state, since, scopes }, changes))
    }
}

impl<T: EventText> Decide<T> for AppendDecision<T> {
    fn decide(&mut self, found: Found<'_, T>) -> Option<Changes<T>> {
        self.note(|decision| decision.events.clone(), found)
    }

    fn decide_last(&mut self, found: Found<'_, T>) -> Option<Changes<T>> {
        self.note(|decision| mem::take(&mut decision.events), found)
    }
}

/// An append of one event over memory, through a handle of ours, which is what nearly all are:
/// answered at once, and of names that are borrowed.
#[cfg(target_arch = "wasm32")]
pub(crate) fn append_now<T>(
    memory: &MemoryStorage,
    [app_name, user_id, session_id]: [&str; 3],
    (created, revision): (Revision, Revision),
    policy: StalePolicy,
    event: NewEvent<T>,
    now: f64,
) -> Result<Appended<T>, Error>
where
    T: EventText + From<MemoryText> + Into<MemoryText>,
{
    let event_ids = [Rc::clone(&event.id)];
    let position = Position::Revision { created, revision };
    let mut decision = AppendDecision::new(position, policy, vec![event], now);
    loop {
        let ask = Ask {
            app_name,
            user_id: Some(user_id),
            session_id: Some(session_id),
            scopes: decision.scopes(),
            event_ids: &event_ids,
            since: decision.since(),
        };
        memory.ask(&ask, &mut |found| decision.decide_last(found))?;
        if !decision.again() {
            return decision.outcome(session_id);
        }
    }
}

fn set(places: &mut Names<usize>, id: &str, place: usize) {
    if let Some((_, known)) = places.entry(id, true) {
        *known = place;
    }
}

fn not_found(key: &SessionKey) -> Error {
    Error::NotFound { session_id: key.session_id.clone() }
}
