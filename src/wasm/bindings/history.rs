//! Views of histories. TypeScript makes the marks of parsed events, and shows the events of the view.

use adk_session::internals::history::{
    CallMark, CallPart, Calls, EventTraits, Item, Kind, Mark, PartChange, PauseMark, Reader,
    ResponseMark, View,
};
use wasm_bindgen::prelude::*;

/// The numbers of a mark: kind, invocation or -1, time, and two that depend on the kind.
const MARK: usize = 5;

/// The numbers of a call: event, id, the id that it asks about, and flags. An absent id is `NO_ID`.
const CALL: usize = 4;
/// The numbers of a response: event and id.
const RESPONSE: usize = 2;
/// The numbers of a pause: event, node, and 1 if it waits.
const PAUSE: usize = 3;
/// The numbers of what is known of each event: flags, and the number of its author.
const EVENT: usize = 2;
const NO_ID: u32 = u32::MAX;

/// Computes a view. `marks` has [`MARK`] numbers for each event, `events` has [`EVENT`]; the other lists
/// have the numbers of each function call, response and pause, in order.
///
/// Returns five numbers: of items, of summarised events, of changed parts, of events that invocations wait
/// at, and the first event that waits plus 1 or 0. Then of each item three numbers: the event, 0 and 0; or the compaction of a summary, 1 if
/// no agent's event is hidden by it, else the index of the last one plus 2, and the event that it follows
/// plus 1 or 0. Then the summarised events. Then of each changed part 0 for a call or 1 for a response,
/// its index, and the suffix of its id. Then the events that invocations wait at.
#[wasm_bindgen]
pub fn history_view(
    marks: &[f64],
    events: &[u32],
    calls: &[u32],
    responses: &[u32],
    pauses: &[u32],
    reader: u8,
) -> Vec<u32> {
    let marks: Vec<_> = marks.as_chunks::<MARK>().0.iter().map(mark_of).collect();
    let events: Vec<_> = events.as_chunks::<EVENT>().0.iter().map(traits_of).collect();
    let call_marks: Vec<_> = calls.as_chunks::<CALL>().0.iter().map(call_of).collect();
    let responses = responses.as_chunks::<RESPONSE>().0.iter();
    let responses: Vec<_> = responses.map(|&[event, id]| ResponseMark { event, id }).collect();
    let pauses = pauses.as_chunks::<PAUSE>().0.iter();
    let pauses: Vec<_> = pauses
        .map(|&[event, node, waits]| PauseMark { event, node, is_waiting: waits != 0 })
        .collect();
    let calls =
        Calls { calls: &call_marks, responses: &responses, pauses: &pauses, events: &events };
    let reader = match reader {
        0 => Reader::Transcript,
        1 => Reader::Framework,
        _ => Reader::Agent,
    };
    let view = View::new(&marks, &calls, reader);
    let View { items, summarised, changes, first_waiting, waiting } = view;
    let first_waiting = first_waiting.map_or(0, |event| event + 1);
    let counts = [items.len(), summarised.len(), changes.len(), waiting.len(), first_waiting];
    let mut numbers = counts.map(|count| count as u32).to_vec();
    for item in items {
        let item = match item {
            Item::Event(event) => [event, 0, 0],
            Item::Summary { compaction, agent_event, follows } => {
                let agent_event = agent_event.map_or(1, |event| event + 2);
                [compaction, agent_event, follows.map_or(0, |event| event + 1)]
            }
        };
        numbers.extend(item.map(|number| number as u32));
    }
    for event in summarised {
        numbers.push(event as u32);
    }
    for PartChange { part, suffix } in changes {
        let (kind, index) = match part {
            CallPart::Call(index) => (0, index),
            CallPart::Response(index) => (1, index),
        };
        numbers.extend([kind, index as u32, suffix]);
    }
    for event in waiting {
        numbers.push(event as u32);
    }
    numbers
}

/// The flags are those of `CALL_FLAGS` in `js/wasm/protocol.ts`.
fn call_of(&[event, id, about, flags]: &[u32; CALL]) -> CallMark {
    let number = |id: u32| (id != NO_ID).then_some(id);
    CallMark {
        event,
        id: number(id),
        about: number(about),
        is_question: flags & 1 != 0,
        is_long_running: flags & 2 != 0,
        is_signed: flags & 4 != 0,
    }
}

/// The flags are those of `EVENT_FLAGS` in `js/wasm/protocol.ts`.
fn traits_of(&[flags, author]: &[u32; EVENT]) -> EventTraits {
    EventTraits {
        author,
        is_by_user: flags & 1 != 0,
        is_abort: flags & 2 != 0,
        is_of_node: flags & 4 != 0,
        is_text_reply: flags & 8 != 0,
        is_asking: flags & 16 != 0,
        has_other_parts: flags & 32 != 0,
    }
}

/// The first numbers are those of `MARK_KINDS` in `js/wasm/protocol.ts`.
fn mark_of(&[kind, invocation, time, first, second]: &[f64; MARK]) -> Mark {
    let kind = match kind as u8 {
        0 => Kind::Fixed,
        1 => Kind::Content { by_agent: false },
        2 => Kind::Content { by_agent: true },
        3 => Kind::Filtered,
        4 => Kind::Rewind { before: first as u32 },
        5 => Kind::Compaction { start: first, end: second },
        6 => Kind::OtherCompaction,
        _ => Kind::Compacted { end: first },
    };
    let invocation = (invocation >= 0.0).then_some(invocation as u32);
    Mark { invocation, time, kind }
}
