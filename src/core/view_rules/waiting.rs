//! Invocations that wait for somebody: no compaction hides their events.

use super::calls::{CallLists, CallMark};
use super::numbers::{NumberMap, NumberSet};
use super::{History, Kind, Mark, active_events};

/// What waits in a history.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// The active events of the invocations that wait.
    events: NumberSet,
    /// The open calls, and the calls that open questions are about.
    calls: Vec<usize>,
    /// The events of these calls, and those whose workflow waits at a node; ascending, each once.
    pub sources: Vec<usize>,
}

impl Waiting {
    /// An invocation waits if one of its calls is open: a long-running one or a question of the framework,
    /// which neither the user nor the end of a stopped run has answered. The answer to a question counts
    /// once an agent has said something after it: until then a run has yet to read what was asked. An
    /// invocation also waits if a node of its workflow says so.
    pub fn new(marks: &[Mark], active: &[bool], lists: &CallLists<'_>) -> Self {
        let mut waiting = Self { calls: open_and_asked_about(active, lists), ..Self::default() };
        for index in &waiting.calls {
            if let Some(call) = lists.calls.get(*index) {
                waiting.events.insert(call.event as usize);
            }
        }
        for event in waiting_pauses(active, lists).values() {
            waiting.events.insert(event);
        }
        if waiting.is_empty() {
            return waiting;
        }
        waiting.sources = waiting.events.ascending();
        let mut invocations = NumberSet::default();
        for &event in &waiting.sources {
            if let Some(invocation) = marks.get(event).and_then(|mark| mark.invocation) {
                invocations.insert(invocation as usize);
            }
        }
        add_earlier_runs(marks, active, lists, &mut invocations);
        for (event, (mark, is_active)) in marks.iter().zip(active).enumerate() {
            let waits = mark.invocation.is_some_and(|number| invocations.has(number as usize));
            if *is_active && waits {
                waiting.events.insert(event);
            }
        }
        waiting
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Whether an event belongs to an invocation that waits.
    pub fn has(&self, event: usize) -> bool {
        self.events.has(event)
    }

    /// Whether a call is open, or an open question is about it.
    pub fn has_call(&self, call: usize) -> bool {
        self.calls.contains(&call)
    }

    /// Returns the earliest of these events up to a time.
    pub fn earliest_until(&self, marks: &[Mark], time: f64) -> Option<usize> {
        let events = marks.iter().enumerate().filter(|(index, mark)| {
            let is_event = matches!(mark.kind, Kind::Fixed | Kind::Content { .. });
            is_event && mark.time <= time && self.has(*index)
        });
        let earliest = events.min_by(|(_, one), (_, other)| one.time.total_cmp(&other.time));
        earliest.map(|(index, _)| index)
    }
}

/// Returns the calls that the user may answer, by their indices: long-running calls of agents and questions
/// of the framework, until the user has answered them or their run was stopped.
///
/// `asked` are the ids that matter. `None`: events before these may decide.
pub fn open_calls(history: &History<'_>, asked: &[u32], is_from_start: bool) -> Option<Vec<usize>> {
    let History { marks, lists, older } = history;
    let is_called = |id: &u32| {
        let mut waiting = lists.calls.iter().filter(|call| waits_for_user(lists, call));
        waiting.any(|call| call.id == Some(*id))
    };
    let is_rewound = marks.iter().any(|mark| mark.kind.is_rewind());
    if !is_from_start && (is_rewound || !asked.iter().all(is_called)) {
        return None;
    }
    let (open, _) = find_open(&active_events(marks, older), lists, u32::MAX);
    let is_asked = |call: &CallMark| call.id.is_some_and(|id| asked.contains(&id));
    Some(open.values().filter(|call| lists.calls.get(*call).is_some_and(is_asked)).collect())
}

/// Whether a call may wait for the user: those of the user do not.
fn waits_for_user(lists: &CallLists<'_>, call: &CallMark) -> bool {
    call.may_wait() && !lists.traits_of(call.event as usize).is_by_user
}

/// Returns the calls that are open, and those that open questions are about.
fn open_and_asked_about(active: &[bool], lists: &CallLists<'_>) -> Vec<usize> {
    if !lists.calls.iter().any(CallMark::may_wait) {
        return Vec::new();
    }
    let is_by_agent =
        |(event, is_active): &(usize, &bool)| **is_active && !lists.traits_of(*event).is_by_user;
    let last_by_agent = active.iter().enumerate().rev().find(is_by_agent);
    let unread_from = last_by_agent.map_or(0, |(event, _)| event as u32);
    let (open, about) = find_open(active, lists, unread_from);
    let mut found: Vec<usize> = open.values().collect();
    for (question, original) in about {
        if found.contains(&question) {
            found.push(original);
        }
    }
    found
}

/// Finds the open calls, and the questions that are about other calls, with these. Answers to questions
/// from the event `unread_from` on do not count.
fn find_open(
    active: &[bool],
    lists: &CallLists<'_>,
    unread_from: u32,
) -> (NumberMap, Vec<(usize, usize)>) {
    let is_active = |event: u32| active.get(event as usize) == Some(&true);
    let (mut open, mut latest) = (NumberMap::default(), NumberMap::default());
    let mut about = Vec::new();
    let mut responses = lists.responses.iter().peekable();
    let mut close = |open: &mut NumberMap, before: u32| {
        while let Some(response) = responses.next_if(|response| response.event < before) {
            let traits = lists.traits_of(response.event as usize);
            let is_question = open
                .get(response.id)
                .and_then(|call| lists.calls.get(call))
                .is_some_and(|call| call.is_question);
            let is_unread = is_question && response.event >= unread_from;
            let is_answer = traits.is_abort || (traits.is_by_user && !is_unread);
            if is_answer && is_active(response.event) {
                open.set(response.id, None);
            }
        }
    };
    for (index, call) in lists.calls.iter().enumerate() {
        close(&mut open, call.event);
        let Some(id) = call.id.filter(|_| is_active(call.event)) else { continue };
        if lists.traits_of(call.event as usize).is_by_user {
            continue;
        }
        latest.set(id, Some(index));
        if !call.may_wait() {
            continue;
        }
        open.set(id, Some(index));
        if let Some(original) = call.about.and_then(|id| latest.get(id)) {
            about.push((index, original));
        }
    }
    close(&mut open, u32::MAX);
    (open, about)
}

/// Returns for each node the event whose workflow waits at it.
fn waiting_pauses(active: &[bool], lists: &CallLists<'_>) -> NumberMap {
    let mut latest = NumberMap::default();
    for pause in lists.pauses {
        let event = pause.event as usize;
        if active.get(event) == Some(&true) {
            latest.set(pause.node, pause.is_waiting.then_some(event));
        }
    }
    latest
}

/// Adds the runs of a workflow before one that waits, if each of them had stopped to ask: `@google/adk`
/// gives each answer an invocation of its own, and reads what the nodes did from all of them.
fn add_earlier_runs(
    marks: &[Mark],
    active: &[bool],
    lists: &CallLists<'_>,
    waiting: &mut NumberSet,
) {
    let mut runs: Vec<(u32, bool)> = Vec::new();
    let mut last = None;
    for (event, (mark, is_active)) in marks.iter().zip(active).enumerate() {
        if !is_active {
            continue;
        }
        last = mark.invocation.or(last);
        let Some(invocation) = last.filter(|_| lists.traits_of(event).is_of_node) else { continue };
        let has_asked = lists.calls_of(event).any(|(_, call)| call.is_question);
        match runs.last_mut() {
            Some((run, is_paused)) if *run == invocation => *is_paused |= has_asked,
            _ => runs.push((invocation, has_asked)),
        }
    }
    let mut is_continued = false;
    for (invocation, is_paused) in runs.into_iter().rev() {
        if is_continued && is_paused {
            waiting.insert(invocation as usize);
        }
        is_continued = waiting.has(invocation as usize);
    }
}
