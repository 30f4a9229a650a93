//! What the rules of views need to know of events. TypeScript makes the same marks in `js/core/history/marks.ts`
//! and `js/core/history/calls/`; `tests/vectors/history.json` compares the views of both.

use std::collections::HashMap;

use serde_json::Value;

use crate::core::event::Event;
use crate::core::view_rules::{
    self as rules, CallLists, CallMark, CallPart, EventTraits, History, Kind, Mark, PauseMark,
    Reader, ResponseMark, View,
};
use crate::history::members::{is_filled, node_path, object, text};

/// A compaction of Python.
pub(super) struct Compaction<'a> {
    start: f64,
    pub(super) end: f64,
    pub(super) content: &'a Value,
}

/// Returns the invocation before which an event rewinds, if it is the marker of a rewind.
fn rewind_target(event: &Event) -> Option<&str> {
    text(event.actions.other.get("rewindBeforeInvocationId"))
}

/// Returns the compaction of an event of Python. An event with a malformed one is an ordinary event.
pub(super) fn compaction_of(event: &Event) -> Option<Compaction<'_>> {
    let compaction = event.actions.other.get("compaction")?;
    let time = |name| compaction.get(name).and_then(Value::as_f64);
    let content = compaction.get("compactedContent").filter(|content| content.is_object())?;
    Some(Compaction { start: time("startTimestamp")?, end: time("endTimestamp")?, content })
}

/// Returns the time of the last event that a compacted event of `@google/adk` replaces.
pub(super) fn compacted_end(event: &Event) -> Option<f64> {
    event.other.get("isCompacted").filter(|is_compacted| **is_compacted == true)?;
    event.other.get("endTime")?.as_f64()
}

/// How a reader sees events.
pub(super) struct Reading<'r> {
    /// Whether a compaction of Python counts.
    pub(super) counts: &'r dyn Fn(&Event) -> bool,
    /// The kind of an event that is no marker.
    pub(super) kind_of: &'r dyn Fn(&Event) -> Kind,
}

/// How all readers together see events: compactions of one branch or scope do not count.
pub(super) const FOR_ALL: Reading<'_> = Reading {
    counts: &|event| !is_scoped(event) && event.branch.as_deref().unwrap_or_default().is_empty(),
    kind_of: &|event| {
        if is_filled(event.content.as_ref()) && !is_scoped(event) {
            content(event)
        } else {
            Kind::Fixed
        }
    },
};

fn is_scoped(event: &Event) -> bool {
    is_filled(event.other.get("isolationScope"))
}

/// Returns the kind of an event that a compaction may hide.
pub(super) fn content(event: &Event) -> Kind {
    Kind::Content { by_agent: event.author != "user" }
}

/// The marks of a history.
#[derive(Default)]
pub(super) struct Marks {
    marks: Vec<Mark>,
    calls: Vec<CallMark>,
    responses: Vec<ResponseMark>,
    pauses: Vec<PauseMark>,
    traits: Vec<EventTraits>,
    /// For each call the index of its event and that of the part.
    call_parts: Vec<(usize, usize)>,
    /// For each response the same.
    response_parts: Vec<(usize, usize)>,
}

impl Marks {
    pub(super) fn of(events: &[&Event], reading: &Reading<'_>) -> Self {
        let (mut invocations, mut names) = (Numbering::default(), Numbering::default());
        let mut marks = Self::default();
        for (index, event) in events.iter().enumerate() {
            let kind = rewind_kind(event, &mut invocations).unwrap_or_else(|| {
                if let Some(Compaction { start, end, .. }) = compaction_of(event) {
                    let counts = (reading.counts)(event);
                    if counts { Kind::Compaction { start, end } } else { Kind::OtherCompaction }
                } else if let Some(end) = compacted_end(event) {
                    Kind::Compacted { end }
                } else {
                    (reading.kind_of)(event)
                }
            });
            marks.marks.push(mark_of(event, kind, &mut invocations));
            marks.add_calls(index, event, &mut names);
        }
        marks
    }

    fn add_calls<'a>(&mut self, index: usize, event: &'a Event, names: &mut Numbering<'a>) {
        let number = index as u32;
        let mut has_other_parts = false;
        for (part_index, part) in event.parts().iter().enumerate() {
            let response_id =
                || text(object(part, "functionResponse").and_then(|response| response.get("id")));
            if let Some(call) = part.get("functionCall").filter(|call| call.is_object()) {
                self.calls.push(call_of(number, event, call, part, names));
                self.call_parts.push((index, part_index));
            } else if let Some(id) = response_id() {
                self.responses.push(ResponseMark { event: number, id: names.number(id) });
                self.response_parts.push((index, part_index));
            } else {
                has_other_parts = true;
            }
        }
        self.traits.push(traits_of(event, has_other_parts));
        if let Some(is_waiting) = waits_at_node(event) {
            let node = names.number(node_path(event).unwrap_or(&event.author));
            self.pauses.push(PauseMark { event: number, node, is_waiting });
        }
    }

    pub(super) fn view(&self, reader: Reader) -> View {
        let Self { marks, calls, responses, pauses, traits, .. } = self;
        let lists = CallLists { calls, responses, pauses, traits };
        View::new(&History { marks, lists, older: &[] }, reader)
    }

    /// Returns the index of a part's event, and that of the part in it.
    pub(super) fn part(&self, part: CallPart) -> Option<(usize, usize)> {
        match part {
            CallPart::Call(index) => self.call_parts.get(index).copied(),
            CallPart::Response(index) => self.response_parts.get(index).copied(),
        }
    }
}

/// Returns the events that no rewind has undone, without the rewinds. Compactions remain.
pub(super) fn active_events<'a>(events: &[&'a Event]) -> Vec<&'a Event> {
    let mut invocations = Numbering::default();
    let mut marks = Vec::new();
    for event in events {
        let kind = rewind_kind(event, &mut invocations).unwrap_or(Kind::Fixed);
        marks.push(mark_of(event, kind, &mut invocations));
    }
    let active = events.iter().zip(rules::active_events(&marks, &[]));
    active.filter_map(|(event, is_active)| is_active.then_some(*event)).collect()
}

fn rewind_kind<'a>(event: &'a Event, invocations: &mut Numbering<'a>) -> Option<Kind> {
    rewind_target(event).map(|target| Kind::Rewind { before: invocations.number(target) })
}

fn mark_of<'a>(event: &'a Event, kind: Kind, invocations: &mut Numbering<'a>) -> Mark {
    let id = Some(event.invocation_id.as_str()).filter(|id| !id.is_empty());
    let invocation = id.map(|id| invocations.number(id));
    Mark { invocation, time: event.timestamp.as_millis(), kind }
}

/// Gives each new name the next number, from 0 up.
#[derive(Default)]
struct Numbering<'a>(HashMap<&'a str, u32>);

impl<'a> Numbering<'a> {
    fn number(&mut self, name: &'a str) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(name).or_insert(next)
    }
}

fn call_of<'a>(
    number: u32,
    event: &'a Event,
    call: &'a Value,
    part: &Value,
    names: &mut Numbering<'a>,
) -> CallMark {
    let id = text(call.get("id"));
    let is_question = text(call.get("name")).is_some_and(|name| name.starts_with("adk_request_"));
    let long_running = event.other.get("longRunningToolIds").and_then(Value::as_array);
    let is_named = |id: &str| long_running.is_some_and(|ids| ids.iter().any(|named| named == id));
    CallMark {
        event: number,
        id: id.map(|id| names.number(id)),
        about: subject_of(call).filter(|_| is_question).map(|id| names.number(id)),
        is_question,
        is_long_running: id.is_some_and(is_named),
        is_signed: text(part.get("thoughtSignature")).is_some(),
    }
}

/// Returns the id of the call that a question of the framework is about. Both languages' names occur.
fn subject_of(question: &Value) -> Option<&str> {
    let arguments = object(question, "args")?;
    let either = |camel, snake| {
        let camel = arguments.get(camel).filter(|value| !value.is_null());
        camel.or_else(|| arguments.get(snake))
    };
    match either("originalFunctionCall", "original_function_call").and_then(Value::as_object) {
        Some(call) => text(call.get("id")),
        None => text(either("functionCallId", "function_call_id")),
    }
}

fn traits_of(event: &Event, has_other_parts: bool) -> EventTraits {
    EventTraits {
        is_by_user: event.author == "user",
        is_abort: event.other.get("errorCode").is_some_and(|code| code == "INVOCATION_ABORTED"),
        is_of_node: node_path(event).is_some(),
        has_other_parts,
    }
}

/// Returns whether a node of an event's workflow waits; `None` if the event does not say.
fn waits_at_node(event: &Event) -> Option<bool> {
    let actions = &event.actions.other;
    if actions.get("endOfAgent").is_some_and(|is_end| *is_end == true) {
        return Some(false);
    }
    let nodes = object(actions.get("agentState"), "nodes")?;
    let is_waiting = |status: &Value| *status == 4 || *status == "waiting" || *status == "WAITING";
    Some(nodes.values().any(|node| node.get("status").is_some_and(is_waiting)))
}
