//! Function calls and responses, and the calls that a compaction hides although their response remains.

use super::numbers::{NumberMap, NumberSet};
use super::{Item, Kind, Mark};

/// The function calls and responses of a history, each list in the order of the events.
#[derive(Debug, Clone, Copy, Default)]
pub struct CallLists<'a> {
    /// The calls.
    pub calls: &'a [CallMark],
    /// The responses that have an id.
    pub responses: &'a [ResponseMark],
    /// What workflows stored of themselves.
    pub pauses: &'a [PauseMark],
    /// What the rules need to know of each event besides its mark.
    pub traits: &'a [EventTraits],
}

/// A function call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallMark {
    /// The index of its event.
    pub event: u32,
    /// Its id, if it has one.
    pub id: Option<u32>,
    /// The call that it asks about, if it is a question of the framework, `adk_request_*`.
    pub about: Option<u32>,
    /// Whether it is a question of the framework.
    pub is_question: bool,
    /// Whether its event names it as long-running.
    pub is_long_running: bool,
    /// Whether its part has a thought signature.
    pub is_signed: bool,
}

/// The response to a function call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ResponseMark {
    /// The index of its event.
    pub event: u32,
    /// The id of its call.
    pub id: u32,
}

/// The state of a node of a workflow, as an event stored it. A later one replaces it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PauseMark {
    /// The index of the event.
    pub event: u32,
    /// The node, or the agent that runs it.
    pub node: u32,
    /// Whether it waits.
    pub is_waiting: bool,
}

/// What the rules for function calls need to know of an event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EventTraits {
    /// Whether the user is its author.
    pub is_by_user: bool,
    /// Whether it closes the calls of a run that was stopped.
    pub is_abort: bool,
    /// Whether a node of a workflow made it.
    pub is_of_node: bool,
    /// Whether it has parts besides the calls and responses of the lists.
    pub has_other_parts: bool,
}

impl CallMark {
    /// Whether the call may stay without a response, for as long as it takes.
    pub(super) fn may_wait(&self) -> bool {
        self.is_question || self.is_long_running
    }
}

impl CallLists<'_> {
    /// Returns the traits of an event.
    pub(super) fn traits_of(&self, event: usize) -> EventTraits {
        self.traits.get(event).copied().unwrap_or_default()
    }

    /// Returns the calls of an event, with their indices.
    pub(super) fn calls_of(&self, event: usize) -> impl Iterator<Item = (usize, &CallMark)> {
        of_event(self.calls, event, |call| call.event)
    }

    /// Returns the responses of an event, with their indices.
    pub(super) fn responses_of(
        &self,
        event: usize,
    ) -> impl Iterator<Item = (usize, &ResponseMark)> {
        of_event(self.responses, event, |response| response.event)
    }
}

/// Returns the marks of an event from a list in the order of the events, with their indices.
fn of_event<T>(
    marks: &[T],
    event: usize,
    event_of: impl Fn(&T) -> u32,
) -> impl Iterator<Item = (usize, &T)> {
    let first = marks.partition_point(|mark| (event_of(mark) as usize) < event);
    let from_event = marks.get(first..).unwrap_or_default();
    let count = from_event.iter().take_while(|mark| event_of(mark) as usize == event).count();
    (first..).zip(from_event.iter().take(count))
}

/// The events among which calls are looked for.
pub(super) struct ActiveEvents<'a> {
    pub marks: &'a [Mark],
    pub active: &'a [bool],
}

impl ActiveEvents<'_> {
    fn has(&self, event: u32) -> bool {
        let event = event as usize;
        let is_filtered = self.marks.get(event).is_none_or(|mark| mark.kind == Kind::Filtered);
        !is_filtered && self.active.get(event) == Some(&true)
    }

    fn time(&self, event: usize) -> f64 {
        self.marks.get(event).map_or(0.0, |mark| mark.time)
    }
}

/// What is known of one call.
#[derive(Clone, Copy, Default)]
struct CallState {
    event: usize,
    /// Whether a response to it remains in the view.
    is_answered: bool,
    /// The latest response, by time.
    response: Option<usize>,
}

/// The calls of a history, and the call of each response: the latest one of its id before it.
struct Owners {
    calls: Vec<CallState>,
    /// For each response the index of its call.
    of_responses: Vec<Option<usize>>,
}

impl Owners {
    fn new(hidden: &NumberSet, sources: &ActiveEvents<'_>, lists: &CallLists<'_>) -> Self {
        let event_of =
            |call: &CallMark| CallState { event: call.event as usize, ..CallState::default() };
        let mut known: Vec<CallState> = lists.calls.iter().map(event_of).collect();
        let mut of_responses = Vec::new();
        let mut latest = NumberMap::default();
        let mut remaining = lists.calls.iter().enumerate().peekable();
        for ResponseMark { event, id } in lists.responses {
            while let Some((index, call)) = remaining.next_if(|(_, call)| call.event <= *event) {
                if let Some(id) = call.id
                    && sources.has(call.event)
                {
                    latest.set(id, Some(index));
                }
            }
            let index = latest.get(*id).filter(|_| sources.has(*event));
            of_responses.push(index);
            let Some(call) = index.and_then(|index| known.get_mut(index)) else { continue };
            let event = *event as usize;
            call.is_answered |= !hidden.has(event);
            let is_later = |known| sources.time(event) >= sources.time(known);
            if call.response.is_none_or(is_later) {
                call.response = Some(event);
            }
        }
        Self { calls: known, of_responses }
    }
}

/// Puts hidden calls back, each right before the first of its responses that remains. The responses to
/// the other calls of that event come back too, or those calls would look pending. Returns the items,
/// and which events came back.
pub(super) fn recover(
    items: &[Item],
    hidden: &NumberSet,
    sources: &ActiveEvents<'_>,
    lists: &CallLists<'_>,
) -> (Vec<Item>, NumberSet) {
    let owners = Owners::new(hidden, sources, lists);
    let mut recovered = NumberSet::default();
    let mut with_calls = Vec::new();
    for item in items {
        if let Item::Event(event) = *item
            && !hidden.has(event)
        {
            for (response, _) in lists.responses_of(event) {
                let index = owners.of_responses.get(response).copied().flatten();
                let Some(call) = index.and_then(|index| owners.calls.get(index)) else { continue };
                let caller = call.event;
                let mut add = |event: usize| {
                    let is_new = hidden.has(event) && !recovered.has(event);
                    if is_new {
                        recovered.insert(event);
                        with_calls.push(Item::Event(event));
                    }
                    is_new
                };
                if !add(caller) {
                    continue;
                }
                for sibling in &owners.calls {
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
