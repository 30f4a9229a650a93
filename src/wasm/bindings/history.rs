//! Views of histories. TypeScript makes the marks of parsed events, and shows the events of the view.

use adk_session::internals::history::{
    CallMark, CallPart, Calls, EventTraits, Item, Kind, Mark, PartChange, PauseMark, Reader,
    ResponseMark, View,
};
use wasm_bindgen::prelude::*;

use crate::bindings::packed::{
    CallNumber, ChangeNumber, HistoryNumber, ItemNumber, MarkNumber, PauseNumber, ResponseNumber,
    ViewNumber, list, number,
};

/// Stands for an id that is absent; `NO_ID` in `js/core/wasm/protocol.ts`.
const NO_ID: u32 = u32::MAX;

/// Computes a view. `history` has a `HistoryNumber` each, and then its lists. Returns a `ViewNumber` each, and then
/// its lists.
#[wasm_bindgen]
pub fn history_view(history: &[f64]) -> Vec<u32> {
    let (head, rest) = history.split_at_checked(HistoryNumber::Length as usize).unwrap_or_default();
    let mut rest = rest;
    // Takes as many chunks of numbers as the head says.
    let mut next = |count: HistoryNumber, length: usize| {
        let numbers = number(head, count as usize) as usize * length;
        let (taken, others) = rest.split_at_checked(numbers).unwrap_or_default();
        rest = others;
        taken.chunks_exact(length)
    };
    let (mut marks, mut events) = (Vec::new(), Vec::new());
    for numbers in next(HistoryNumber::Marks, MarkNumber::Length as usize) {
        marks.push(mark_of(numbers));
        events.push(traits_of(numbers));
    }
    let calls = next(HistoryNumber::Calls, CallNumber::Length as usize);
    let calls: Vec<_> = calls.map(call_of).collect();
    let responses = next(HistoryNumber::Responses, ResponseNumber::Length as usize);
    let responses: Vec<_> = responses.map(response_of).collect();
    let pauses = next(HistoryNumber::Pauses, PauseNumber::Length as usize);
    let pauses: Vec<_> = pauses.map(pause_of).collect();
    let calls = Calls { calls: &calls, responses: &responses, pauses: &pauses, events: &events };
    let reader = match number(head, HistoryNumber::Reader as usize) as u8 {
        0 => Reader::Transcript,
        1 => Reader::Framework,
        _ => Reader::Agent,
    };
    packed(View::new(&marks, &calls, reader))
}

fn packed(view: View) -> Vec<u32> {
    let View { items, summarised, changes, first_waiting, waiting } = view;
    let plus = |added: usize, event: Option<usize>| event.map_or(0, |event| event + added);
    let head = list([
        (ViewNumber::Items as usize, items.len()),
        (ViewNumber::Summarised as usize, summarised.len()),
        (ViewNumber::Changes as usize, changes.len()),
        (ViewNumber::Waiting as usize, waiting.len()),
        (ViewNumber::FirstWaiting as usize, plus(1, first_waiting)),
    ]);
    let mut numbers = Vec::new();
    let mut push = |list: &[usize]| numbers.extend(list.iter().map(|&number| number as u32));
    push(&head);
    for item in items {
        let (event, agent, follows) = match item {
            Item::Event(event) => (event, 0, 0),
            Item::Summary { compaction, agent_event, follows } => {
                (compaction, agent_event.map_or(1, |event| event + 2), plus(1, follows))
            }
        };
        push(&list([
            (ItemNumber::Event as usize, event),
            (ItemNumber::Agent as usize, agent),
            (ItemNumber::Follows as usize, follows),
        ]));
    }
    push(&summarised);
    for PartChange { part, suffix } in changes {
        let (is_response, index) = match part {
            CallPart::Call(index) => (0, index),
            CallPart::Response(index) => (1, index),
        };
        push(&list([
            (ChangeNumber::IsResponse as usize, is_response),
            (ChangeNumber::Index as usize, index),
            (ChangeNumber::Suffix as usize, suffix as usize),
        ]));
    }
    push(&waiting);
    numbers
}

/// The flags are those of `CALL_FLAGS` in `js/core/wasm/protocol.ts`.
fn call_of(numbers: &[f64]) -> CallMark {
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

fn response_of(numbers: &[f64]) -> ResponseMark {
    let number = |name: ResponseNumber| number(numbers, name as usize) as u32;
    ResponseMark { event: number(ResponseNumber::Event), id: number(ResponseNumber::Id) }
}

fn pause_of(numbers: &[f64]) -> PauseMark {
    let number = |name: PauseNumber| number(numbers, name as usize) as u32;
    PauseMark {
        event: number(PauseNumber::Event),
        node: number(PauseNumber::Node),
        is_waiting: number(PauseNumber::Waits) != 0,
    }
}

/// The flags are those of `EVENT_FLAGS` in `js/core/wasm/protocol.ts`.
fn traits_of(numbers: &[f64]) -> EventTraits {
    let number = |name: MarkNumber| number(numbers, name as usize) as u32;
    let flags = number(MarkNumber::Flags);
    EventTraits {
        author: number(MarkNumber::Author),
        is_by_user: flags & 1 != 0,
        is_abort: flags & 2 != 0,
        is_of_node: flags & 4 != 0,
        is_text_reply: flags & 8 != 0,
        is_asking: flags & 16 != 0,
        has_other_parts: flags & 32 != 0,
    }
}

/// The kinds are those of `MARK_KINDS` in `js/core/wasm/protocol.ts`.
fn mark_of(numbers: &[f64]) -> Mark {
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
