//! Function calls that a compaction hides although their response remains.

use std::collections::BTreeSet;
use std::ops::Range;

use super::{Item, Kind, Mark};

/// The ids of function calls and responses, each with the index of its event, in order.
#[derive(Debug, Clone, Default)]
pub struct CallIds {
    /// The calls: event, id.
    pub calls: Vec<(usize, u32)>,
    /// The responses: event, id.
    pub responses: Vec<(usize, u32)>,
}

/// A view with the calls that it needs.
pub(super) struct Recovered {
    pub items: Vec<Item>,
    /// The events that came back.
    pub events: BTreeSet<usize>,
}

/// What is known of one call.
#[derive(Clone, Copy, Default)]
struct Call {
    /// Whether a response to it remains in the view.
    is_answered: bool,
    /// The latest response, by time.
    response: Option<usize>,
}

/// Puts hidden calls back, each right before the first response that remains. A response belongs to
/// the latest call of its id before it. The responses to the other calls of that event come back too,
/// or those calls would look pending.
pub(super) fn recover(
    items: &[Item],
    hidden: &[bool],
    live: &[bool],
    marks: &[Mark],
    ids: &CallIds,
) -> Recovered {
    let is_hidden = |event: usize| hidden.get(event) == Some(&true);
    let is_source = |event: usize| {
        let is_filtered = marks.get(event).is_none_or(|mark| mark.kind == Kind::Filtered);
        live.get(event) == Some(&true) && !is_filtered
    };
    let mut calls = vec![Call::default(); ids.calls.len()];
    // For each response the call that it belongs to.
    let mut answered = vec![None; ids.responses.len()];
    let count = ids.calls.iter().map(|(_, id)| *id as usize + 1).max().unwrap_or(0);
    let mut latest: Vec<Option<usize>> = vec![None; count];
    let mut pending = ids.calls.iter().enumerate().peekable();
    for (answer, (event, id)) in ids.responses.iter().enumerate() {
        while let Some((call, (at, id))) = pending.next_if(|(_, (at, _))| at <= event) {
            if is_source(*at)
                && let Some(latest) = latest.get_mut(*id as usize)
            {
                *latest = Some(call);
            }
        }
        let Some(call) = latest.get(*id as usize).copied().flatten() else { continue };
        let Some(known) = calls.get_mut(call).filter(|_| is_source(*event)) else { continue };
        if let Some(answered) = answered.get_mut(answer) {
            *answered = Some(call);
        }
        known.is_answered |= !is_hidden(*event);
        let time = |event: usize| marks.get(event).map_or(0.0, |mark| mark.time);
        if known.response.is_none_or(|known| time(*event) >= time(known)) {
            known.response = Some(*event);
        }
    }
    let mut recovered = Recovered { items: Vec::new(), events: BTreeSet::new() };
    for item in items {
        let Item::Event(event) = *item else {
            recovered.items.push(*item);
            continue;
        };
        for answer in members(&ids.responses, event) {
            let call = answered.get(answer).copied().flatten();
            let Some((caller, _)) = call.and_then(|call| ids.calls.get(call)) else { continue };
            if !is_hidden(event) && is_hidden(*caller) && recovered.events.insert(*caller) {
                recovered.items.push(Item::Event(*caller));
                let siblings = members(&ids.calls, *caller).filter_map(|call| calls.get(call));
                let lost = siblings.filter(|call| !call.is_answered);
                for response in lost.filter_map(|call| call.response) {
                    if recovered.events.insert(response) {
                        recovered.items.push(Item::Event(response));
                    }
                }
            }
        }
        recovered.items.push(*item);
    }
    recovered
}

/// Returns which members of a list belong to an event.
fn members(list: &[(usize, u32)], event: usize) -> Range<usize> {
    let start = list.partition_point(|(at, _)| *at < event);
    let end = list.partition_point(|(at, _)| *at <= event);
    start..end
}
