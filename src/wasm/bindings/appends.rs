//! Reads appends and creations, which `js/core/storage/wasm/packed.ts` packs. Their numbers are in `packed/numbers.rs`.

use adk_session::error::Error;
use adk_session::event::{EventText, NewEvent, Replaceable};
use adk_session::internals::broken_storage;
use adk_session::session::{DescriptionRow, SessionKey, Timestamp};
use adk_session::state::Delta;
use adk_session::write::{Append, Create, HandlePosition, NewSession, StalePolicy};
use js_sys::Array;

use crate::bindings::js_write::Creation;
use crate::bindings::packed::Parts;
use crate::bindings::packed::{AppendNumber, CreationNumber, EventNumber, number};
use crate::text::event_text;
use crate::thrown::Thrown;

/// The member of `customMetadata` by which the append of a run's message is told from one of another run.
/// `js/values/model/event/metadata.ts` sets it.
const IDEMPOTENCY_KEY: &str = "__adk_internal_run";

/// Where the texts of the events are: two for each event, its text and the one with superseded keys.
pub(super) trait Texts {
    /// Returns the text of that position. Packed ones are the next of `parts`, `units` long, or all that is left if
    /// it `is_last`.
    fn text(&self, position: u32, parts: &mut Parts<'_>, units: f64, is_last: bool) -> EventText;
}

/// JavaScript strings, for storages that keep them. They do not enter the wasm.
impl Texts for Array {
    fn text(&self, position: u32, _: &mut Parts<'_>, _: f64, _: bool) -> EventText {
        event_text(self.get(position))
    }
}

/// Packed appends, read one by one.
pub(super) struct Appends<'a> {
    /// For each append these five, and then the parts of its events:
    /// - the names of app, user and session
    /// - the id of the handle's last event
    /// - the title of a session that has none
    ///
    /// The parts of an event are its id and the JSON text of its delta. If the texts are packed, two
    /// more follow: the event's JSON text, and the one with superseded keys.
    parts: Parts<'a>,
    /// For each append an `AppendNumber` each, and then an `EventNumber` each for its events.
    numbers: &'a [f64],
    texts: &'a dyn Texts,
    /// The index of the next JavaScript text.
    position: u32,
}

impl<'a> Appends<'a> {
    pub(super) fn new(packed: &'a str, numbers: &'a [f64], texts: &'a dyn Texts) -> Self {
        Self { parts: Parts::of(packed), numbers, texts, position: 0 }
    }

    /// Reads the only append.
    pub(super) fn one(mut self) -> Result<Append, Thrown> {
        self.next().ok_or_else(none)?
    }

    /// Reads a creation: its own numbers and parts, and then those of an append.
    pub(super) fn creation(mut self) -> Result<Creation, Thrown> {
        use CreationNumber::{
            Delta as DeltaText, IfAbsent, InitialState, Labels, LastUpdateTime, Length, Now,
            Parent, SharesState, State, Title,
        };
        let (own, rest) = self.numbers.split_at_checked(Length as usize).ok_or_else(none)?;
        self.numbers = rest;
        let number = |name: CreationNumber| number(own, name as usize);
        let [state, delta] = [State, DeltaText].map(|name| self.parts.next(number(name) as usize));
        let [title, labels, parent, initial_state] =
            [Title, Labels, Parent, InitialState].map(|name| {
                let units = number(name);
                (!units.is_nan()).then(|| self.parts.next(units as usize).to_owned())
            });
        let (state, is_in_order) = Delta::parse_with_order(state)?;
        let initial_state = match initial_state.as_deref() {
            Some("") => Some(state.own_to_json()?),
            _ => initial_state,
        };
        let last_update_time = number(LastUpdateTime);
        let (head, events) = self.next_numbers().ok_or_else(none)?;
        let (key, _) = self.names(head)?;
        let new = NewSession {
            state,
            delta: Delta::parse(delta)?,
            last_update_time: (!last_update_time.is_nan())
                .then(|| Timestamp::stored(last_update_time)),
            now: Timestamp::stored(number(Now)),
            shares_state: number(SharesState) > 0.0,
            description: DescriptionRow { title, labels, parent, initial_state },
            events: self.events(events)?,
        };
        let create = Create::new(key, new)?;
        let create = if is_in_order { create.returning_rest() } else { create };
        Ok(Creation { create, if_absent: number(IfAbsent) > 0.0 })
    }

    fn append(&mut self, head: &[f64], events: &[f64]) -> Result<Append, Thrown> {
        use AppendNumber::{Created, ExpectedRevision, Policy, Revision, RunRevision};
        let number = |name: AppendNumber| number(head, name as usize);
        let (key, [last, first_title]) = self.names(head)?;
        let position = position_of(number(Created), number(Revision), last.to_owned());
        let policy = policy_of(number(Policy));
        let mut append = Append::new(key, position, policy, self.events(events)?);
        if !first_title.is_empty() {
            append = append.titled(first_title.to_owned());
        }
        let expected = number(ExpectedRevision);
        if !expected.is_nan() {
            append = append.expecting(expected as u64);
        }
        let run = number(RunRevision);
        if !run.is_nan() {
            append = append.of_run(run as u64);
        }
        Ok(append)
    }

    /// Takes the numbers of the next append, and those of its events.
    fn next_numbers(&mut self) -> Option<(&'a [f64], &'a [f64])> {
        let (head, rest) = self.numbers.split_at_checked(AppendNumber::Length as usize)?;
        let count = number(head, AppendNumber::EventCount as usize) as usize;
        let (events, rest) = rest.split_at_checked(EventNumber::Length as usize * count)?;
        self.numbers = rest;
        Some((head, events))
    }

    /// Reads the session's key, the id of the handle's last event, and the first title.
    fn names(&mut self, head: &[f64]) -> Result<(SessionKey, [&'a str; 2]), Thrown> {
        use AppendNumber::{AppName, FirstTitle, LastEventId, SessionId, UserId};
        let [app, user, session, rest @ ..] = [AppName, UserId, SessionId, LastEventId, FirstTitle]
            .map(|name| self.parts.next(number(head, name as usize) as usize));
        Ok((SessionKey::new(app, user, session)?, rest))
    }

    fn events(&mut self, numbers: &[f64]) -> Result<Vec<NewEvent>, Thrown> {
        let chunks = numbers.chunks_exact(EventNumber::Length as usize);
        let count = chunks.len();
        let mut events = Vec::with_capacity(count);
        for (index, numbers) in chunks.enumerate() {
            let is_last = self.numbers.is_empty() && index + 1 == count;
            events.push(self.event(numbers, is_last)?);
        }
        Ok(events)
    }

    /// Reads an event. `is_last`: no other one follows.
    fn event(&mut self, numbers: &[f64], is_last: bool) -> Result<NewEvent, Thrown> {
        use EventNumber::{Delta, Id, MayBeMarker, Replaces, Text, Timestamp as Time, Whole};
        let number = |name: EventNumber| number(numbers, name as usize);
        let [id, delta] = [Id, Delta].map(|name| self.parts.next(number(name) as usize));
        let whole = number(Whole);
        let has_whole = whole > 0.0;
        let text =
            self.texts.text(self.position, &mut self.parts, number(Text), is_last && !has_whole);
        let whole =
            has_whole.then(|| self.texts.text(self.position + 1, &mut self.parts, whole, is_last));
        self.position += 2;
        let may_be_marker = number(MayBeMarker) > 0.0;
        let time = Timestamp::stored(number(Time));
        let mut event =
            NewEvent::marked(id, time, delta, text, may_be_marker, Some(IDEMPOTENCY_KEY))?;
        event.whole = whole;
        event.replaces = match number(Replaces) {
            0.0 => Replaceable::Nothing,
            revision if revision > 0.0 => Replaceable::Revision(revision as u64),
            _ => Replaceable::Any,
        };
        Ok(event)
    }
}

impl Iterator for Appends<'_> {
    type Item = Result<Append, Thrown>;

    fn next(&mut self) -> Option<Self::Item> {
        let (head, events) = self.next_numbers()?;
        Some(self.append(head, events))
    }
}

fn none() -> Error {
    broken_storage("there is nothing to write")
}

/// TypeScript has checked the policy.
fn policy_of(number: f64) -> StalePolicy {
    match number as u8 {
        0 => StalePolicy::Merge,
        1 => StalePolicy::Append,
        _ => StalePolicy::Reject,
    }
}

fn position_of(created: f64, revision: f64, last_event_id: String) -> HandlePosition {
    if created.is_nan() {
        HandlePosition::LastEvent(Some(last_event_id).filter(|id| !id.is_empty()))
    } else if created < 0.0 {
        HandlePosition::Latest
    } else {
        HandlePosition::Revision { created: created as u64, revision: revision as u64 }
    }
}
