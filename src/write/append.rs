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
pub enum Known {
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
    /// The JSON object of the stored state before the append. Present only if the handle missed a
    /// replacement: the stored deltas no longer hold the changes of the replaced event.
    pub state: Option<String>,
    /// The revision of the handle before the append: events with a greater `seq` are new to it.
    pub since: Revision,
    /// The new revisions of user and app state.
    pub scopes: ScopeRevisions,
}

/// Why an append was refused.
#[derive(Debug)]
enum Refused {
    /// The session was deleted or never existed.
    Gone,
    Stale {
        expected: Revision,
        actual: Revision,
    },
    /// The decision needs all states: it has to be repeated with them.
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

/// Returns the stored state as readers of the session see it.
fn stored_state(found: &Found<'_>) -> Result<String, Error> {
    let none = ScopedState::default();
    let (user, app) = (found.user.map(|row| &row.state), found.app.map(|row| &row.state));
    merged(found.state.unwrap_or(&none), user, app)
}

/// The rule that writes events, their deltas, and the session's new revision and time.
#[derive(Debug)]
pub(super) struct Append {
    position: Position,
    policy: StalePolicy,
    events: Vec<EventHead>,
    now: f64,
    /// Whether all states are read, not only the ones that the append changes.
    sees_states: bool,
    /// `None` before the first decision.
    outcome: Option<Result<Appended, Refused>>,
}

/// A new event, without its text.
#[derive(Debug)]
struct EventHead {
    id: Rc<str>,
    timestamp: f64,
    delta: Delta,
    /// The last event before it in the same append that has its id.
    earlier: Option<Earlier>,
}

#[derive(Debug, Clone, Copy)]
struct Earlier {
    position: usize,
    /// Whether both are equal as JSON values.
    is_same: bool,
}

/// The place of an event that is stored already, or that was written earlier in the same append.
#[derive(Clone, Copy)]
struct Place {
    seq: Revision,
    revision: Revision,
    is_same: bool,
}

impl Append {
    /// Separates the events' texts from the data that decisions use.
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
            // A single event needs no map.
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

    /// Returns the id and the timestamp of an event.
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

    /// Returns the revision after which changed events are read. A policy that returns no missed
    /// events needs none, except when only they show whether the handle is stale.
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

    /// Returns whether the append stopped because it had not read the states. From now on its plan
    /// includes them. Few appends need the states, and reading them costs time in proportion to
    /// their size.
    pub(super) fn again(&mut self) -> bool {
        if !matches!(self.outcome, Some(Err(Refused::NeedsStates))) {
            return false;
        }
        self.sees_states = true;
        true
    }

    /// Whether the handle missed the replacement of an event.
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
        // An event that is stored already is no conflict, so a retry is safe under every policy.
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
