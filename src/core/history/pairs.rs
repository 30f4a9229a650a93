//! Which function calls and responses of the shown events a reader gets.
//!
//! A model takes a call only with its response, and a response only after its call. So the rules cut
//! the others, as google-adk does: `drop_orphaned_function_calls`,
//! `drop_orphaned_function_responses` and `rearrange_events_for_async_function_responses_in_history`.

use super::calls::{CallMark, Calls, LatestOf};
use super::waiting::Waiting;
use super::{Item, Mark};

/// A part that a reader does not get as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartChange {
    /// The part.
    pub part: CallPart,
    /// The suffix that its id gets, from 1 up; 0 if the reader does not get the part.
    pub suffix: u32,
}

/// The index of a call or of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallPart {
    /// A call.
    Call(usize),
    /// A response.
    Response(usize),
}

/// The calls and responses of the shown events.
struct Pairs<'a> {
    marks: &'a [Mark],
    calls: &'a Calls<'a>,
    waiting: &'a Waiting,
    /// For each response its call: the latest shown one of its id before it.
    owners: Vec<Option<usize>>,
    /// The indices of each call's responses among the items, in order.
    answers: Vec<Vec<usize>>,
    is_call_kept: Vec<bool>,
    /// Whether an event is shown.
    is_shown: Vec<bool>,
}

/// Cuts calls without a response and responses without a call, and drops the events of which nothing
/// remains. Returns the items, and the parts that change.
pub(super) fn pair(
    items: Vec<Item>,
    marks: &[Mark],
    calls: &Calls<'_>,
    waiting: &Waiting,
) -> (Vec<Item>, Vec<PartChange>) {
    if calls.calls.is_empty() && calls.responses.is_empty() {
        return (items, Vec::new());
    }
    let mut pairs = Pairs::new(&items, marks, calls, waiting);
    pairs.drop_steps_without_signature();
    pairs.drop_stale_replies(&items);
    let mut changes = Vec::new();
    let mut kept = Vec::new();
    for item in items {
        let Item::Event(event) = item else {
            kept.push(item);
            continue;
        };
        let (mut remaining, mut cut) = (usize::from(calls.event(event).has_other_parts), 0);
        let mut add = |part, is_kept: bool| {
            if is_kept {
                remaining += 1;
            } else {
                cut += 1;
                changes.push(PartChange { part, suffix: 0 });
            }
        };
        for (call, _) in calls.calls_of(event) {
            add(CallPart::Call(call), pairs.keeps(Some(call)));
        }
        for (response, _) in calls.responses_of(event) {
            let owner = pairs.owners.get(response).copied().flatten();
            add(CallPart::Response(response), pairs.keeps(owner));
        }
        if pairs.is_shown.get(event) == Some(&true) && (cut == 0 || remaining > 0) {
            kept.push(item);
        }
    }
    pairs.add_suffixes(&kept, &mut changes);
    (kept, changes)
}

impl<'a> Pairs<'a> {
    fn new(items: &[Item], marks: &'a [Mark], calls: &'a Calls<'a>, waiting: &'a Waiting) -> Self {
        let mut owners = vec![None; calls.responses.len()];
        let mut answers = vec![Vec::new(); calls.calls.len()];
        let mut is_shown = vec![false; calls.events.len()];
        let mut latest = LatestOf::default();
        for (at, item) in items.iter().enumerate() {
            let Item::Event(event) = *item else { continue };
            if let Some(is_shown) = is_shown.get_mut(event) {
                *is_shown = true;
            }
            for (index, response) in calls.responses_of(event) {
                let owner = latest.get(response.id);
                if let Some(slot) = owners.get_mut(index) {
                    *slot = owner;
                }
                if let Some(indices) = owner.and_then(|owner| answers.get_mut(owner)) {
                    indices.push(at);
                }
            }
            for (index, call) in calls.calls_of(event) {
                if let Some(id) = call.id {
                    latest.set(id, Some(index));
                }
            }
        }
        let is_kept = |(index, call): (usize, &CallMark)| {
            let is_answered = answers.get(index).is_some_and(|indices| !indices.is_empty());
            call.id.is_none() || is_answered || call.may_wait() || waiting.has_call(index)
        };
        let is_call_kept = calls.calls.iter().enumerate().map(is_kept).collect();
        Self { marks, calls, waiting, owners, answers, is_call_kept, is_shown }
    }

    fn keeps(&self, call: Option<usize>) -> bool {
        call.and_then(|call| self.is_call_kept.get(call)) == Some(&true)
    }

    /// A step of a model needs its thought signature. That of a call that goes moves to the next call of
    /// the step. If there is none, and no earlier call has one of its own, the step goes whole, with the
    /// responses to it. A step that waits stays.
    fn drop_steps_without_signature(&mut self) {
        for cut in 0..self.calls.calls.len() {
            let Some(call) = self.calls.calls.get(cut) else { continue };
            if !call.is_signed || self.keeps(Some(cut)) {
                continue;
            }
            let event = call.event as usize;
            let has_signature = self.calls.calls_of(event).any(|(other, call)| {
                let is_signed = other > cut || call.is_signed;
                self.keeps(Some(other)) && (is_signed || self.waiting.has_call(other))
            });
            if has_signature {
                continue;
            }
            for (other, _) in self.calls.calls_of(event) {
                if let Some(is_kept) = self.is_call_kept.get_mut(other) {
                    *is_kept = false;
                }
            }
            if let Some(is_shown) = self.is_shown.get_mut(event) {
                *is_shown = false;
            }
        }
    }

    /// Drops what a model said between two responses to a call, if nothing else is between them: it was
    /// about the earlier response, and the model gets the later one alone.
    fn drop_stale_replies(&mut self, items: &[Item]) {
        let mut stale = Vec::new();
        for indices in &self.answers {
            for (earlier, later) in indices.iter().zip(indices.iter().skip(1)) {
                stale.extend(self.stale_between(items, *earlier, *later));
            }
        }
        for event in stale {
            if let Some(is_shown) = self.is_shown.get_mut(event) {
                *is_shown = false;
            }
        }
    }

    fn stale_between(&self, items: &[Item], earlier: usize, later: usize) -> Vec<usize> {
        let event_at = |index: usize| match items.get(index) {
            Some(Item::Event(event)) => Some(*event),
            _ => None,
        };
        let (Some(first), Some(second)) = (event_at(earlier), event_at(later)) else {
            return Vec::new();
        };
        let invocation = |event: usize| self.marks.get(event).and_then(|mark| mark.invocation);
        let [one, other] = [first, second].map(|event| self.calls.event(event));
        let run = invocation(first);
        if run != invocation(second) || one.author != other.author || one.is_asking {
            return Vec::new();
        }
        let mut replies = Vec::new();
        for index in earlier + 1..later {
            let Some(event) = event_at(index) else { return Vec::new() };
            let traits = self.calls.event(event);
            let has_parts = traits.has_other_parts
                || self.calls.calls_of(event).next().is_some()
                || self.calls.responses_of(event).next().is_some();
            if !has_parts {
                continue;
            }
            if !traits.is_text_reply || invocation(event) != run {
                return Vec::new();
            }
            replies.push(event);
        }
        replies
    }

    /// If a model used an id again, the earlier calls and their responses get other ids: the framework
    /// takes the last response of an id for all its calls.
    fn add_suffixes(&self, items: &[Item], changes: &mut Vec<PartChange>) {
        let mut counts: Vec<u32> = Vec::new();
        let mut numbers = vec![0; self.calls.calls.len()];
        let mut latest = LatestOf::default();
        for item in items {
            let Item::Event(event) = *item else { continue };
            for (index, call) in self.calls.calls_of(event) {
                let Some(id) = call.id.filter(|_| self.keeps(Some(index))) else { continue };
                let slot = id as usize;
                if slot >= counts.len() {
                    counts.resize(slot + 1, 0);
                }
                if let Some(count) = counts.get_mut(slot) {
                    *count += 1;
                    if let Some(number) = numbers.get_mut(index) {
                        *number = *count;
                    }
                }
                latest.set(id, Some(index));
            }
        }
        let suffix_of = |call: usize| {
            let number = numbers.get(call).copied().filter(|number| *number > 0)?;
            let mark = self.calls.calls.get(call).filter(|mark| !mark.may_wait())?;
            mark.id.filter(|id| latest.get(*id) != Some(call)).map(|_| number)
        };
        for call in 0..self.calls.calls.len() {
            if let Some(suffix) = suffix_of(call) {
                changes.push(PartChange { part: CallPart::Call(call), suffix });
            }
        }
        for (response, owner) in self.owners.iter().enumerate() {
            if let Some(suffix) = owner.and_then(suffix_of) {
                changes.push(PartChange { part: CallPart::Response(response), suffix });
            }
        }
    }
}

/// Returns for each item whether it stands between a call and its response, or is that response: no part of
/// a view begins there.
pub(super) fn positions_in_pairs(
    items: &[Item],
    calls: &Calls<'_>,
    changes: &[PartChange],
) -> Vec<bool> {
    let mut is_kept = vec![true; calls.responses.len()];
    for change in changes {
        if let PartChange { part: CallPart::Response(index), suffix: 0 } = *change
            && let Some(is_kept) = is_kept.get_mut(index)
        {
            *is_kept = false;
        }
    }
    // For each id the position of its latest call.
    let mut latest = LatestOf::default();
    let mut firsts = Vec::new();
    for (position, item) in items.iter().enumerate() {
        let mut first = position;
        if let Item::Event(event) = *item {
            for (index, response) in calls.responses_of(event) {
                if is_kept.get(index) == Some(&true) {
                    first = latest.get(response.id).map_or(first, |call| first.min(call));
                }
            }
            for id in calls.calls_of(event).filter_map(|(_, call)| call.id) {
                latest.set(id, Some(position));
            }
        }
        firsts.push(first);
    }
    let mut first = items.len();
    let mut are_in_pairs = Vec::new();
    for (position, own) in firsts.into_iter().enumerate().rev() {
        first = first.min(own);
        are_in_pairs.push(first < position);
    }
    are_in_pairs.reverse();
    are_in_pairs
}
