//! Reads appends and creations, which `js/wasm/appends.ts` packs.

use adk_session::error::{Error, Field};
use adk_session::event::{EventText, NewEvent, Replaceable, TextSlice};
use adk_session::internals::{broken_storage, marked_event, part_of, stored_time};
use adk_session::session::{Description, SessionKey, TitleChange};
use adk_session::state::Delta;
use adk_session::write::{Append, Create, HandlePosition, NewSession, StalePolicy};
use js_sys::Array;

use crate::bindings::parts::Parts;
use crate::text::event_text;
use crate::thrown::Thrown;

/// How many numbers an append has before those of its events.
const HEAD: usize = 11;
/// How many numbers an event has.
const EVENT: usize = 7;

/// The place of the events' texts.
pub(super) enum Texts<'a> {
    /// Among the parts of this packed text. The events share it.
    Packed(&'a TextSlice),
    /// JavaScript strings, two for each event, for storages that keep them. They do not enter the
    /// wasm.
    JavaScript(&'a Array),
}

/// Packed appends, read one by one.
pub(super) struct Appends<'a> {
    /// For each append these six, and then the parts of its events:
    /// - the names of app, user and session
    /// - the id of the handle's last event
    /// - the title that is replaced, and the new one
    ///
    /// The parts of an event are its id and the JSON text of its delta. If the texts are packed, two
    /// more follow: the event's JSON text, and the one with superseded keys.
    parts: Parts<'a>,
    /// For each append these, and then the numbers of its events:
    /// - the lengths of its six parts in UTF-16 code units; 0 for a missing one
    /// - `created` and `revision` of the handle
    /// - the policy
    /// - the expected revision; NaN without one
    /// - how many events follow
    ///
    /// The numbers of an event:
    /// - the lengths of its four parts
    /// - its timestamp
    /// - the revision of the stored event that it may replace; 0 if none may be stored, NaN if any may
    /// - 1 if it may be a marker and the storage keeps the places of markers, else 0
    ///
    /// `created` is NaN for a handle from elsewhere, which is located by its last event. It is
    /// below 0 if there is no handle. For a creation it is the session's `lastUpdateTime`, NaN if
    /// that is the time, and `revision` is the time.
    numbers: &'a [f64],
    texts: Texts<'a>,
    /// The index of the next JavaScript text.
    position: u32,
}

impl<'a> Appends<'a> {
    pub(super) fn new(packed: &'a str, numbers: &'a [f64], texts: Texts<'a>) -> Self {
        Self { parts: Parts::of(packed), numbers, texts, position: 0 }
    }

    /// Reads the only append.
    pub(super) fn one(mut self) -> Result<Append, Thrown> {
        self.next().ok_or_else(none)?
    }

    /// Reads a creation. For the other arguments see [`NewSession`].
    pub(super) fn creation(
        mut self,
        state: &str,
        delta: &str,
        shares_state: bool,
        description: Description,
    ) -> Result<Create, Thrown> {
        let (head, events) = self.next_numbers().ok_or_else(none)?;
        let [.., last_update_time, now, _, _, _] = *head;
        let (key, ..) = self.names(head)?;
        let last_update_time =
            Some(last_update_time).filter(|time| !time.is_nan()).map(stored_time);
        let now = stored_time(now);
        let (state, delta) = (Delta::parse(state)?, Delta::parse(delta)?);
        let events = self.events(events)?;
        let new =
            NewSession { state, events, delta, last_update_time, now, shares_state, description };
        Ok(Create::new(key, new)?)
    }

    fn append(&mut self, head: &[f64; HEAD], events: &[f64]) -> Result<Append, Thrown> {
        let [.., created, revision, policy, expected, _] = *head;
        let (key, [last, from, to]) = self.names(head)?;
        let position = position_of(created, revision, last.to_owned());
        let mut append = Append::new(key, position, policy_of(policy)?, self.events(events)?);
        if !to.is_empty() {
            append = append.titled(TitleChange { from: from.to_owned(), to: to.to_owned() });
        }
        if !expected.is_nan() {
            append = append.expecting(expected as u64);
        }
        Ok(append)
    }

    /// Takes the numbers of the next append, and those of its events.
    fn next_numbers(&mut self) -> Option<(&'a [f64; HEAD], &'a [f64])> {
        let (head, rest) = self.numbers.split_first_chunk::<HEAD>()?;
        let [.., count] = *head;
        let (events, rest) = rest.split_at_checked(EVENT * count as usize)?;
        self.numbers = rest;
        Some((head, events))
    }

    /// Reads the session's key, the id of the handle's last event, and the two titles.
    fn names(&mut self, head: &[f64; HEAD]) -> Result<(SessionKey, [&'a str; 3]), Thrown> {
        let [app, user, session, last, from, to, ..] = *head;
        let [app, user, session, rest @ ..] =
            [app, user, session, last, from, to].map(|units| self.parts.next(units as usize));
        Ok((SessionKey::new(app, user, session)?, rest))
    }

    fn events(&mut self, numbers: &[f64]) -> Result<Vec<NewEvent>, Thrown> {
        let (chunks, _) = numbers.as_chunks();
        let mut events = Vec::with_capacity(chunks.len());
        for (index, numbers) in chunks.iter().enumerate() {
            let is_last = self.numbers.is_empty() && index + 1 == chunks.len();
            events.push(self.event(*numbers, is_last)?);
        }
        Ok(events)
    }

    /// Reads an event. `is_last`: no other one follows.
    fn event(&mut self, numbers: [f64; EVENT], is_last: bool) -> Result<NewEvent, Thrown> {
        let [id, delta, text, whole, timestamp, expected, is_marker] = numbers;
        let (id, delta) = (self.parts.next(id as usize), self.parts.next(delta as usize));
        let has_whole = whole > 0.0;
        let text = self.text(self.position, text, is_last && !has_whole);
        let whole = has_whole.then(|| self.text(self.position + 1, whole, is_last));
        self.position += 2;
        let timestamp = stored_time(timestamp);
        let mut event = marked_event(id, timestamp, delta, text, is_marker > 0.0)?;
        event.whole = whole;
        event.replaces = match expected {
            0.0 => Replaceable::Nothing,
            revision if revision > 0.0 => Replaceable::Revision(revision as u64),
            _ => Replaceable::Any,
        };
        Ok(event)
    }

    fn text(&mut self, position: u32, units: f64, is_last: bool) -> EventText {
        match self.texts {
            Texts::Packed(packed) if is_last => part_of(packed, self.parts.last_range()).into(),
            Texts::Packed(packed) => part_of(packed, self.parts.next_range(units as usize)).into(),
            Texts::JavaScript(texts) => event_text(texts.get(position)),
        }
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

fn policy_of(number: f64) -> Result<StalePolicy, Error> {
    match number as u8 {
        0 => Ok(StalePolicy::Merge),
        1 => Ok(StalePolicy::Append),
        2 => Ok(StalePolicy::Reject),
        _ => Err(Error::InvalidArgument {
            field: Field::Stale,
            rule: "must be \"merge\", \"append\" or \"reject\"".into(),
        }),
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
