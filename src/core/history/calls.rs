//! Function calls that a compaction hides although their response remains.

use super::{Item, Kind, Mark};

/// The ids of function calls and responses, each behind the index of its event, in order.
#[derive(Debug, Clone, Copy, Default)]
pub struct CallIds<'a> {
    /// The calls.
    pub calls: &'a [[u32; 2]],
    /// The responses.
    pub responses: &'a [[u32; 2]],
}

/// The events among which calls are looked for.
pub(super) struct Sources<'a> {
    pub marks: &'a [Mark],
    pub live: &'a [bool],
}

impl Sources<'_> {
    fn has(&self, event: u32) -> bool {
        let event = event as usize;
        let is_filtered = self.marks.get(event).is_none_or(|mark| mark.kind == Kind::Filtered);
        !is_filtered && self.live.get(event) == Some(&true)
    }

    fn time(&self, event: usize) -> f64 {
        self.marks.get(event).map_or(0.0, |mark| mark.time)
    }
}

/// What is known of one call.
#[derive(Clone, Copy, Default)]
struct Call {
    event: usize,
    /// Whether a response to it remains in the view.
    is_answered: bool,
    /// The latest response, by time.
    response: Option<usize>,
}

/// The calls of a history, and the call of each response: the latest one of its id before it.
struct Calls {
    calls: Vec<Call>,
    /// For each response the index of its call.
    of_responses: Vec<Option<usize>>,
}

impl Calls {
    fn new(hidden: &[bool], sources: &Sources<'_>, ids: &CallIds<'_>) -> Self {
        let mut calls: Vec<Call> = Vec::new();
        let mut of_responses = Vec::new();
        // For each id its latest call.
        let mut latest: Vec<Option<usize>> = Vec::new();
        let mut remaining = ids.calls.iter();
        let mut next = remaining.next();
        for [event, id] in ids.responses {
            while let Some([at, id]) = next
                && at <= event
            {
                let slot = *id as usize;
                if slot >= latest.len() {
                    latest.resize(slot + 1, None);
                }
                if let Some(latest) = latest.get_mut(slot)
                    && sources.has(*at)
                {
                    *latest = Some(calls.len());
                }
                calls.push(Call { event: *at as usize, ..Call::default() });
                next = remaining.next();
            }
            let index = latest.get(*id as usize).copied().flatten().filter(|_| sources.has(*event));
            of_responses.push(index);
            let Some(call) = index.and_then(|index| calls.get_mut(index)) else { continue };
            let event = *event as usize;
            call.is_answered |= hidden.get(event) == Some(&false);
            let is_later = |known| sources.time(event) >= sources.time(known);
            if call.response.is_none_or(is_later) {
                call.response = Some(event);
            }
        }
        Self { calls, of_responses }
    }
}

/// Puts hidden calls back, each right before the first of its responses that remains. The responses to
/// the other calls of that event come back too, or those calls would look pending. Returns the items,
/// and which events came back.
pub(super) fn recover(
    items: &[Item],
    hidden: &[bool],
    sources: &Sources<'_>,
    ids: &CallIds<'_>,
) -> (Vec<Item>, Vec<bool>) {
    let Calls { calls, of_responses } = Calls::new(hidden, sources, ids);
    let mut recovered = vec![false; hidden.len()];
    let mut with_calls = Vec::new();
    for item in items {
        if let Item::Event(event) = *item
            && hidden.get(event) == Some(&false)
        {
            let mut response = ids.responses.partition_point(|[at, _]| (*at as usize) < event);
            while let Some([at, _]) = ids.responses.get(response)
                && *at as usize == event
            {
                let index = of_responses.get(response).copied().flatten();
                response += 1;
                let Some(call) = index.and_then(|index| calls.get(index)) else { continue };
                let caller = call.event;
                let mut add = |event: usize| {
                    let Some(is_recovered) = recovered.get_mut(event) else { return false };
                    let is_new = hidden.get(event) == Some(&true) && !*is_recovered;
                    if is_new {
                        *is_recovered = true;
                        with_calls.push(Item::Event(event));
                    }
                    is_new
                };
                if !add(caller) {
                    continue;
                }
                for sibling in &calls {
                    if sibling.event == caller && !sibling.is_answered {
                        sibling.response.map(&mut add);
                    }
                }
            }
        }
        with_calls.push(*item);
    }
    (with_calls, recovered)
}
