//! Views of histories. TypeScript makes the marks of parsed events, and shows the events of the view.

use std::num::NonZeroU32;

use adk_session::internals::view_rules::{
    CallLists, CallMark, CallPart, EventTraits, History, Item, Kind, Mark, Needs, Page,
    PageRequest, PartChange, PauseMark, Place, Reader, ResponseMark, View, active_events, branches,
    end_before, open_calls,
};
use wasm_bindgen::prelude::*;

use crate::bindings::packed::{
    BranchNumber, CallNumber, ChangeNumber, HistoryNumber, ItemNumber, MarkNumber, PauseNumber,
    ResponseNumber, ViewNumber, list, number,
};

/// Stands for an id that is absent; `NO_ID` in `js/core/wasm/protocol.ts`.
const NO_ID: u32 = u32::MAX;

/// The answers without a view; `ANSWERS` in `js/core/wasm/protocol.ts`. With the first one comes the event before which
/// those events end.
const NEEDS_EARLIER: u32 = 0;
const NEEDS_ALL: u32 = 1;
const NOT_SHOWN: u32 = 2;

/// The lengths of the lists of a history.
const MARK: usize = MarkNumber::Length as usize;
const CALL: usize = CallNumber::Length as usize;
const RESPONSE: usize = ResponseNumber::Length as usize;
const PAUSE: usize = PauseNumber::Length as usize;

/// The questions; `QUESTIONS` in `js/core/wasm/protocol.ts`. Any other number asks for the whole view.
const TAIL: u8 = 1;
const PAGE: u8 = 2;
const ACTIVE_EVENTS: u8 = 3;
const BRANCHES: u8 = 4;
const OPEN_CALLS: u8 = 5;

/// Answers a question about a history: one number for each `HistoryNumber`, and then its lists.
#[wasm_bindgen]
pub fn ask_history(history: &[f64]) -> Vec<u32> {
    let packed = Packed::new(history);
    let Packed { marks, traits, calls, responses, pauses, older, .. } = &packed;
    let lists = CallLists { calls, responses, pauses, traits };
    let history = History { marks, lists, older };
    match packed.question() {
        ACTIVE_EVENTS => {
            let mut numbers = Vec::new();
            for (event, is_active) in active_events(marks, older).into_iter().enumerate() {
                if is_active {
                    numbers.push(event as u32);
                }
            }
            numbers
        }
        BRANCHES => branches_of(&packed, &history),
        OPEN_CALLS => {
            let is_from_start = packed.is(HistoryNumber::IsFromStart);
            let open = open_calls(&history, &packed.asked, is_from_start);
            let mut numbers = vec![u32::from(open.is_some())];
            push_all(&mut numbers, &open.unwrap_or_default());
            numbers
        }
        _ => view_of(&packed, &history).unwrap_or_else(|needs| match needs {
            Needs::Earlier => {
                let from = packed.index(HistoryNumber::KnownFrom).unwrap_or_default();
                vec![NEEDS_EARLIER, end_before(marks, older, from) as u32]
            }
            Needs::All => vec![NEEDS_ALL],
        }),
    }
}

/// Returns 1 if the branches are decided, else 0; then one number for each `BranchNumber` of each branch.
fn branches_of(packed: &Packed<'_>, history: &History<'_>) -> Vec<u32> {
    let from = match packed.place() {
        Some(Place::Stored(event)) => Some(event),
        _ => None,
    };
    let (branches, is_decided) = branches(history, from, packed.is(HistoryNumber::IsFromStart));
    let mut numbers = vec![u32::from(is_decided)];
    for branch in branches {
        numbers.extend_from_slice(&list([
            (BranchNumber::After as usize, plus(1, branch.after)),
            (BranchNumber::Event as usize, branch.event as u32),
            (BranchNumber::IsShown as usize, u32::from(branch.is_shown)),
            (BranchNumber::EndedBy as usize, plus(1, branch.ended_by)),
        ]));
    }
    numbers
}

fn push_all(numbers: &mut Vec<u32>, indices: &[usize]) {
    for index in indices {
        numbers.push(*index as u32);
    }
}

/// A history, as it was packed.
struct Packed<'n> {
    head: &'n [f64],
    marks: Vec<Mark>,
    traits: Vec<EventTraits>,
    calls: Vec<CallMark>,
    responses: Vec<ResponseMark>,
    pauses: Vec<PauseMark>,
    older: Vec<u32>,
    asked: Vec<u32>,
}

impl<'n> Packed<'n> {
    fn new(history: &'n [f64]) -> Self {
        let (head, rest) =
            history.split_at_checked(HistoryNumber::Length as usize).unwrap_or_default();
        let mut rest = rest;
        // Takes as many lists of that length as the head says.
        let mut next = |count: HistoryNumber, length: usize| {
            let numbers = number(head, count as usize) as usize * length;
            let (taken, others) = rest.split_at_checked(numbers).unwrap_or_default();
            rest = others;
            taken
        };
        let (mut marks, mut traits) = (Vec::new(), Vec::new());
        for numbers in next(HistoryNumber::Marks, MARK).as_chunks().0 {
            marks.push(mark_of(numbers));
            traits.push(traits_of(numbers));
        }
        let calls = next(HistoryNumber::Calls, CALL).as_chunks().0.iter().map(call_of).collect();
        let responses = next(HistoryNumber::Responses, RESPONSE).as_chunks().0;
        let responses = responses.iter().map(response_of).collect();
        let pauses =
            next(HistoryNumber::Pauses, PAUSE).as_chunks().0.iter().map(pause_of).collect();
        let mut names = |count| next(count, 1).iter().map(|number| *number as u32).collect();
        let (older, asked) = (names(HistoryNumber::Older), names(HistoryNumber::Asked));
        Self { head, marks, traits, calls, responses, pauses, older, asked }
    }

    fn number(&self, name: HistoryNumber) -> f64 {
        number(self.head, name as usize)
    }

    /// Returns a number that may be absent.
    fn index(&self, name: HistoryNumber) -> Option<usize> {
        Some(self.number(name)).filter(|number| *number >= 0.0).map(|number| number as usize)
    }

    fn is(&self, name: HistoryNumber) -> bool {
        self.number(name) == 1.0
    }

    fn question(&self) -> u8 {
        self.number(HistoryNumber::Question) as u8
    }

    fn reader(&self) -> Reader {
        match self.number(HistoryNumber::Reader) as u8 {
            0 => Reader::Transcript,
            1 => Reader::Model,
            _ => Reader::Agent,
        }
    }

    fn place(&self) -> Option<Place> {
        let event = self.number(HistoryNumber::PlaceEvent) as usize;
        match self.number(HistoryNumber::Place) as u8 {
            1 => Some(Place::Stored(event)),
            2 => Some(Place::Shown(event)),
            3 => Some(Place::Summary(event)),
            _ => None,
        }
    }
}

/// Computes a view, or a part of it. Returns a `ViewNumber` each, and then its lists, or one of `ANSWERS` alone.
fn view_of(packed: &Packed<'_>, history: &History<'_>) -> Result<Vec<u32>, Needs> {
    let reader = packed.reader();
    let view = View::new(history, reader);
    let (count, known_from) =
        (packed.index(HistoryNumber::Count), packed.index(HistoryNumber::KnownFrom));
    let is_from_start = packed.is(HistoryNumber::IsFromStart);
    let mut part = Part { total: view.items.len(), ..Part::default() };
    let mut shown = 0..part.total;
    match packed.question() {
        TAIL => {
            part.start = view.tail(history, reader, count.unwrap_or(part.total), known_from)?;
            shown = part.start..part.total;
        }
        PAGE => {
            let (place, is_after) = (packed.place(), packed.is(HistoryNumber::IsAfter));
            let request = PageRequest { place, is_after, limit: count, known_from, is_from_start };
            let page = view.page(history, reader, &request)?;
            let Some(Page { items, first, last }) = page else { return Ok(vec![NOT_SHOWN]) };
            (part.start, part.first, part.last) = (items.start, first, last);
            shown = items;
        }
        _ => {}
    }
    Ok(pack(&view, view.items.get(shown).unwrap_or_default(), &part))
}

/// What a part of a view has besides its items.
#[derive(Default)]
struct Part {
    total: usize,
    start: usize,
    first: Option<usize>,
    last: Option<usize>,
}

fn plus(added: usize, event: Option<usize>) -> u32 {
    event.map_or(0, |event| (event + added) as u32)
}

fn pack(view: &View, items: &[Item], part: &Part) -> Vec<u32> {
    let View { summarised, changes, first_waiting, .. } = view;
    let mut numbers = Vec::new();
    numbers.extend_from_slice(&list([
        (ViewNumber::Items as usize, items.len() as u32),
        (ViewNumber::Summarised as usize, summarised.len() as u32),
        (ViewNumber::Changes as usize, changes.len() as u32),
        (ViewNumber::FirstWaiting as usize, plus(1, *first_waiting)),
        (ViewNumber::Start as usize, part.start as u32),
        (ViewNumber::Total as usize, part.total as u32),
        (ViewNumber::First as usize, plus(1, part.first)),
        (ViewNumber::Last as usize, plus(1, part.last)),
    ]));
    for item in items {
        let (event, agent) = match *item {
            Item::Event(event) => (event, 0),
            Item::Summary { compaction, agent_event, .. } => {
                (compaction, agent_event.map_or(1, |event| event as u32 + 2))
            }
        };
        numbers.extend_from_slice(&list([
            (ItemNumber::Event as usize, event as u32),
            (ItemNumber::Agent as usize, agent),
        ]));
    }
    push_all(&mut numbers, summarised);
    for &PartChange { part, suffix } in changes {
        let (is_response, index) = match part {
            CallPart::Call(index) => (0, index),
            CallPart::Response(index) => (1, index),
        };
        numbers.extend_from_slice(&list([
            (ChangeNumber::IsResponse as usize, is_response),
            (ChangeNumber::Index as usize, index as u32),
            (ChangeNumber::Suffix as usize, suffix.map_or(0, NonZeroU32::get)),
        ]));
    }
    numbers
}

/// The flags are those of `CALL_FLAGS` in `js/core/wasm/protocol.ts`.
fn call_of(numbers: &[f64; CALL]) -> CallMark {
    let number = |name: CallNumber| number(numbers, name as usize) as u32;
    let id = |name| Some(number(name)).filter(|&id| id != NO_ID);
    let flags = number(CallNumber::Flags);
    CallMark {
        event: number(CallNumber::Event),
        id: id(CallNumber::Id),
        about: id(CallNumber::About),
        is_question: flags & 1 != 0,
        is_long_running: flags & 2 != 0,
        is_signed: flags & 4 != 0,
    }
}

fn response_of(numbers: &[f64; RESPONSE]) -> ResponseMark {
    let number = |name: ResponseNumber| number(numbers, name as usize) as u32;
    ResponseMark { event: number(ResponseNumber::Event), id: number(ResponseNumber::Id) }
}

fn pause_of(numbers: &[f64; PAUSE]) -> PauseMark {
    let number = |name: PauseNumber| number(numbers, name as usize) as u32;
    PauseMark {
        event: number(PauseNumber::Event),
        node: number(PauseNumber::Node),
        is_waiting: number(PauseNumber::Waits) != 0,
    }
}

/// The flags are those of `EVENT_FLAGS` in `js/core/wasm/protocol.ts`.
fn traits_of(numbers: &[f64; MARK]) -> EventTraits {
    let number = |name: MarkNumber| number(numbers, name as usize) as u32;
    let flags = number(MarkNumber::Flags);
    EventTraits {
        is_by_user: flags & 1 != 0,
        is_abort: flags & 2 != 0,
        is_of_node: flags & 4 != 0,
        has_other_parts: flags & 8 != 0,
    }
}

/// The kinds are those of `MARK_KINDS` in `js/core/wasm/protocol.ts`.
fn mark_of(numbers: &[f64; MARK]) -> Mark {
    let number = |name: MarkNumber| number(numbers, name as usize);
    let (first, second) = (number(MarkNumber::First), number(MarkNumber::Second));
    let kind = match number(MarkNumber::Kind) as u8 {
        0 => Kind::Fixed,
        1 => Kind::Content { by_agent: false },
        2 => Kind::Content { by_agent: true },
        3 => Kind::Filtered,
        4 => Kind::Rewind { before: first as u32 },
        5 => Kind::Compaction { start: first, end: second },
        6 => Kind::OtherCompaction,
        _ => Kind::Compacted { end: first },
    };
    let invocation = number(MarkNumber::Invocation);
    let invocation = (invocation >= 0.0).then_some(invocation as u32);
    Mark { invocation, time: number(MarkNumber::Time), kind }
}
