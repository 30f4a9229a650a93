//! Views of histories. TypeScript makes the marks of parsed events, and shows the events of the view.

use wasm_bindgen::prelude::*;

use crate::core::history::{CallIds, Item, Kind, Mark, Reader, View};

/// The numbers of a mark: kind, invocation or -1, time, and two that depend on the kind.
const MARK: usize = 5;

/// Computes a view. `marks` has [`MARK`] numbers for each event; `calls` and `responses` have an event
/// and the number of an id for each function call and response, in order.
///
/// Returns the number of items, then of each item two numbers: the event and 0; or the compaction of a
/// summary, and 1 if no agent's event is hidden by it, else the index of the last one plus 2. After the
/// items come the summarised events.
#[wasm_bindgen]
pub fn history_view(marks: &[f64], calls: &[u32], responses: &[u32], reader: u8) -> Vec<u32> {
    let (marks, _) = marks.as_chunks::<MARK>();
    let marks: Vec<_> = marks.iter().map(mark_of).collect();
    let calls = CallIds { calls: calls.as_chunks().0, responses: responses.as_chunks().0 };
    let reader = match reader {
        0 => Reader::Transcript,
        1 => Reader::Framework,
        _ => Reader::Agent,
    };
    let View { items, summarised } = View::new(&marks, &calls, reader);
    let mut numbers = vec![items.len() as u32];
    for item in items {
        let (event, agent_event) = match item {
            Item::Event(event) => (event, 0),
            Item::Summary { compaction, agent_event: None } => (compaction, 1),
            Item::Summary { compaction, agent_event: Some(event) } => (compaction, event + 2),
        };
        numbers.push(event as u32);
        numbers.push(agent_event as u32);
    }
    for event in summarised {
        numbers.push(event as u32);
    }
    numbers
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
