//! Appending events to a session.

use std::rc::Rc;

use crate::error::Error;
use crate::event::NewEvent;
use crate::names::Names;
use crate::session::{NEVER, Revision, SessionHead};
use crate::state::{Delta, ScopedState};
use crate::write::changes::{Changes, EventChange, ScopeChange, ScopeRevisions, SessionChange};
use crate::write::locate::Position;
use crate::write::plan::ScopeSet;
use crate::write::rows::{EventRow, Found, StoredEvent};
use crate::write::{NewText, merged, set, unasked};

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
#[derive(Debug, Clone)]
pub struct Appended {
    /// Where the session stands now.
    pub head: SessionHead,
    /// Which of the events were stored already with the same content: their positions, and the
    /// revisions that they were written at.
    pub unchanged: Vec<(usize, Revision)>,
    /// What the handle had missed, in any order; empty unless it was stale and merges.
    pub missed: Vec<EventRow>,
    /// The JSON object of the stored state before the append, if the handle had missed that an event was
    /// replaced: what the event's earlier versions changed is in no stored delta any more.
    pub state: Option<String>,
    /// The revision that the handle was at: events with a later `seq` are new to it.
    pub since: Revision,
    /// Which other states changed.
    pub scopes: ScopeRevisions,
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
    fn of(self, session_id: String) -> Error {
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
fn stored_state(found: &Found<'_>) -> Result<String, Error> {
    let none = ScopedState::default();
    let (user, app) = (found.user.map(|row| &row.state), found.app.map(|row| &row.state));
    merged(found.state.unwrap_or(&none), user, app)
}

/// Writes events, their deltas, and the session's new revision and time.
#[derive(Debug)]
pub(super) struct Append {
    position: Position,
    policy: StalePolicy,
    events: Vec<EventHead>,
    now: f64,
    /// Whether it asks for all states, and not only for those that it changes.
    sees_states: bool,
    /// `None` until it was asked.
    outcome: Option<Result<Appended, Refused>>,
}

/// An event that is to be stored, without its text.
#[derive(Debug)]
struct EventHead {
    id: Rc<str>,
    timestamp: f64,
    delta: Delta,
    /// The one before it, among those that are appended with it, that has its id.
    earlier: Option<Earlier>,
}

#[derive(Debug, Clone, Copy)]
struct Earlier {
    position: usize,
    /// Whether both are equal as JSON values.
    is_same: bool,
}

/// Where an event stands that is stored already, or was written before in the same append.
#[derive(Clone, Copy)]
struct Place {
    seq: Revision,
    revision: Revision,
    is_same: bool,
}

impl Append {
    /// Takes the texts of the events away from all that is decided on.
    pub(super) fn new(
        position: Position,
        policy: StalePolicy,
        events: Vec<NewEvent>,
        now: f64,
    ) -> (Self, Vec<NewText>) {
        let (mut heads, mut texts) = (Vec::new(), Vec::<NewText>::new());
        let mut places = Names::default();
        let is_batch = events.len() > 1;
        for (number, event) in events.into_iter().enumerate() {
            let text = NewText { text: event.text, whole: event.whole };
            let earlier = places.get(&event.id).copied().and_then(|position: usize| {
                let is_same = text.is_same(&texts.get(position)?.text);
                Some(Earlier { position, is_same })
            });
            // One event needs no map.
            if is_batch {
                set(&mut places, &event.id, number);
            }
            let NewEvent { id, timestamp, delta, .. } = event;
            heads.push(EventHead { id, timestamp, delta, earlier });
            texts.push(text);
        }
        let append =
            Self { position, policy, events: heads, now, sees_states: false, outcome: None };
        (append, texts)
    }

    pub(super) fn event_ids(&self) -> Vec<Rc<str>> {
        self.events.iter().map(|event| event.id.clone()).collect()
    }

    /// The id and the timestamp of an event.
    pub(super) fn event(&self, position: usize) -> Option<(Rc<str>, f64)> {
        self.events.get(position).map(|event| (event.id.clone(), event.timestamp))
    }

    pub(super) fn scopes(&self) -> ScopeSet {
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
    pub(super) fn since(&self) -> Revision {
        let is_blind = match self.policy {
            StalePolicy::Merge => false,
            StalePolicy::Append => true,
            StalePolicy::Reject => matches!(self.position, Position::Revision { .. }),
        };
        if is_blind { NEVER } else { self.position.since() }
    }

    pub(super) fn appended(self, session_id: String) -> Result<Appended, Error> {
        self.outcome.ok_or_else(unasked)?.map_err(|refused| refused.of(session_id))
    }

    /// Whether it wrote nothing because it had not asked for the states, which it does from now on. Few
    /// appends need them, and to read them costs as much as they are large.
    pub(super) fn again(&mut self) -> bool {
        if !matches!(self.outcome, Some(Err(Refused::NeedsStates))) {
            return false;
        }
        self.sees_states = true;
        true
    }

    /// Whether the handle has missed that an event was replaced.
    fn missed_replacement(&self, found: &Found<'_>) -> bool {
        let since = self.position.since();
        let is_replaced = |row: &EventRow| row.revision > since && row.seq != row.revision;
        self.policy == StalePolicy::Merge && found.changed.iter().any(is_replaced)
    }

    pub(super) fn decide(&mut self, found: Found<'_>, stored: &[StoredEvent]) -> Option<Changes> {
        let (outcome, changes) = match self.judge(found, stored) {
            Ok((appended, changes)) => (Ok(appended), changes),
            Err(refused) => (Err(refused), None),
        };
        self.outcome = Some(outcome);
        changes
    }

    fn judge(
        &self,
        found: Found<'_>,
        stored: &[StoredEvent],
    ) -> Result<(Appended, Option<Changes>), Refused> {
        if !self.sees_states && self.missed_replacement(&found) {
            return Err(Refused::NeedsStates);
        }
        let before = found.session.ok_or(Refused::Gone)?;
        if self.position.is_of_another(before) {
            return Err(Refused::Gone);
        }
        let is_stale = self.position.is_stale(&found, before);
        let mut head = before;
        let mut unchanged = Vec::new();
        let mut delta = Delta::default();
        let mut written = Vec::with_capacity(self.events.len());
        let mut places: Vec<Place> = Vec::with_capacity(self.events.len());
        let mut stored = stored.iter().peekable();
        for (position, event) in self.events.iter().enumerate() {
            let row = stored.next_if(|row| row.position == position);
            let earlier = match event.earlier {
                Some(Earlier { position, is_same }) => {
                    places.get(position).map(|place| Place { is_same, ..*place })
                }
                None => row.map(|row| Place {
                    seq: row.seq,
                    revision: row.revision,
                    is_same: row.is_same,
                }),
            };
            if let Some(place) = earlier.filter(|place| place.is_same) {
                unchanged.push((position, place.revision));
                places.push(place);
                continue;
            }
            head.revision = head.revision.max(found.floor) + 1;
            head.last_update_time = head.last_update_time.max(event.timestamp.min(self.now));
            let revision = head.revision;
            let seq = earlier.map_or(revision, |place| place.seq);
            places.push(Place { seq, revision, is_same: false });
            written.push(EventChange { position, seq, revision });
            delta.extend(event.delta.clone());
        }
        // What is stored already is no conflict, so that a retry is safe whatever the policy.
        if self.policy == StalePolicy::Reject && is_stale && !written.is_empty() {
            let expected = self.position.since();
            return Err(Refused::Stale { expected, actual: before.revision });
        }
        let state = self.missed_replacement(&found).then(|| stored_state(&found)).transpose();
        let state = state.map_err(Refused::Failed)?;
        let changes = (!written.is_empty()).then(|| Changes {
            session: Some(SessionChange { head, state: delta.session }),
            user: ScopeChange::of(found.user, delta.user, found.floor),
            app: ScopeChange::of(found.app, delta.app, found.floor),
            events: written,
        });
        let missed = match self.policy {
            StalePolicy::Merge => found.changed,
            StalePolicy::Append | StalePolicy::Reject => Vec::new(),
        };
        let scopes = changes.as_ref().map(Changes::scope_revisions).unwrap_or_default();
        let since = self.position.since();
        Ok((Appended { head, unchanged, missed, state, since, scopes }, changes))
    }
}
