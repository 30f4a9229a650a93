//! Which function calls and responses of the shown events a reader gets.
//!
//! A model takes a call only with its response, and a response only after its call. So the rules cut
//! the others, as google-adk does: `drop_orphaned_function_calls` and `drop_orphaned_function_responses`.

use std::num::NonZeroU32;

use super::Item;
use super::calls::CallLists;
use super::numbers::{NumberMap, NumberSet};
use super::waiting::Waiting;

/// A part that a reader does not get as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartChange {
    /// The part.
    pub part: CallPart,
    /// The suffix that its id gets. `None` if the reader does not get the part.
    pub suffix: Option<NonZeroU32>,
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
    lists: &'a CallLists<'a>,
    waiting: &'a Waiting,
    /// For each response its call: the latest shown one of its id before it.
    owners: Vec<Option<usize>>,
    /// The calls that the reader does not get.
    cut_calls: NumberSet,
    /// The events that the reader does not get, whatever remains of them.
    dropped: NumberSet,
}

/// Cuts calls without a response and responses without a call, and drops the events of which nothing
/// remains. Returns the items, and the parts that change.
pub(super) fn pair(
    items: Vec<Item>,
    lists: &CallLists<'_>,
    waiting: &Waiting,
) -> (Vec<Item>, Vec<PartChange>) {
    if lists.calls.is_empty() && lists.responses.is_empty() {
        return (items, Vec::new());
    }
    let mut pairs = Pairs::new(&items, lists, waiting);
    pairs.drop_steps_without_signature();
    let mut changes = Vec::new();
    let mut kept = Vec::new();
    for item in items {
        let Item::Event(event) = item else {
            kept.push(item);
            continue;
        };
        let (mut remaining, mut cut) = (usize::from(lists.traits_of(event).has_other_parts), 0);
        let mut add = |part, is_kept: bool| {
            if is_kept {
                remaining += 1;
            } else {
                cut += 1;
                changes.push(PartChange { part, suffix: None });
            }
        };
        for (call, _) in lists.calls_of(event) {
            add(CallPart::Call(call), pairs.keeps(Some(call)));
        }
        for (response, _) in lists.responses_of(event) {
            let owner = pairs.owners.get(response).copied().flatten();
            add(CallPart::Response(response), pairs.keeps(owner));
        }
        if !pairs.dropped.has(event) && (cut == 0 || remaining > 0) {
            kept.push(item);
        }
    }
    pairs.add_suffixes(&kept, &mut changes);
    (kept, changes)
}

impl<'a> Pairs<'a> {
    fn new(items: &[Item], lists: &'a CallLists<'a>, waiting: &'a Waiting) -> Self {
        let mut owners = vec![None; lists.responses.len()];
        let mut answered = NumberSet::default();
        let mut latest = NumberMap::default();
        for item in items {
            let Item::Event(event) = *item else { continue };
            for (index, response) in lists.responses_of(event) {
                let owner = latest.get(response.id);
                if let Some(slot) = owners.get_mut(index) {
                    *slot = owner;
                }
                if let Some(call) = owner {
                    answered.insert(call);
                }
            }
            for (index, call) in lists.calls_of(event) {
                if let Some(id) = call.id {
                    latest.set(id, Some(index));
                }
            }
        }
        let mut cut_calls = NumberSet::default();
        for (index, call) in lists.calls.iter().enumerate() {
            let is_open = call.id.is_some() && !answered.has(index);
            if is_open && !call.may_wait() && !waiting.has_call(index) {
                cut_calls.insert(index);
            }
        }
        Self { lists, waiting, owners, cut_calls, dropped: NumberSet::default() }
    }

    fn keeps(&self, call: Option<usize>) -> bool {
        call.is_some_and(|call| !self.cut_calls.has(call))
    }

    /// A step of a model needs its thought signature. That of a call that goes moves to the next call of
    /// the step. If there is none, and no earlier call has one of its own, the step goes whole, with the
    /// responses to it. A step that waits stays.
    fn drop_steps_without_signature(&mut self) {
        for cut in 0..self.lists.calls.len() {
            let Some(call) = self.lists.calls.get(cut) else { continue };
            if !call.is_signed || self.keeps(Some(cut)) {
                continue;
            }
            let event = call.event as usize;
            let has_signature = self.lists.calls_of(event).any(|(other, call)| {
                let is_signed = other > cut || call.is_signed;
                self.keeps(Some(other)) && (is_signed || self.waiting.has_call(other))
            });
            if has_signature {
                continue;
            }
            for (other, _) in self.lists.calls_of(event) {
                self.cut_calls.insert(other);
            }
            self.dropped.insert(event);
        }
    }

    /// If a model used an id again, the earlier calls and their responses get other ids: the framework
    /// takes the last response of an id for all its calls.
    fn add_suffixes(&self, items: &[Item], changes: &mut Vec<PartChange>) {
        // How many calls have an id, and for each call which one of them it is.
        let (mut counts, mut numbers) = (NumberMap::default(), NumberMap::default());
        for item in items {
            let Item::Event(event) = *item else { continue };
            for (index, call) in self.lists.calls_of(event) {
                let Some(id) = call.id.filter(|_| self.keeps(Some(index))) else { continue };
                let number = Some(counts.get(id).unwrap_or(0) + 1);
                counts.set(id, number);
                numbers.set(index as u32, number);
            }
        }
        let suffix_of = |call: usize| {
            let number = numbers.get(call as u32);
            let mark = self.lists.calls.get(call).filter(|mark| !mark.may_wait())?;
            let is_last = counts.get(mark.id?) == number;
            number.filter(|_| !is_last).and_then(|number| NonZeroU32::new(number as u32))
        };
        for call in 0..self.lists.calls.len() {
            let suffix = suffix_of(call);
            if suffix.is_some() {
                changes.push(PartChange { part: CallPart::Call(call), suffix });
            }
        }
        for (response, owner) in self.owners.iter().enumerate() {
            let suffix = owner.and_then(suffix_of);
            if suffix.is_some() {
                changes.push(PartChange { part: CallPart::Response(response), suffix });
            }
        }
    }
}

/// Returns for each item whether it stands between a call and its response, or is that response: no part of
/// a view begins there.
pub(super) fn positions_in_pairs(
    items: &[Item],
    lists: &CallLists<'_>,
    changes: &[PartChange],
) -> Vec<bool> {
    let mut cut = NumberSet::default();
    for change in changes {
        if let PartChange { part: CallPart::Response(index), suffix: None } = *change {
            cut.insert(index);
        }
    }
    // For each id the position of its latest call.
    let mut latest = NumberMap::default();
    let mut firsts = Vec::new();
    for (position, item) in items.iter().enumerate() {
        let mut first = position;
        if let Item::Event(event) = *item {
            for (index, response) in lists.responses_of(event) {
                if !cut.has(index) {
                    first = latest.get(response.id).map_or(first, |call| first.min(call));
                }
            }
            for id in lists.calls_of(event).filter_map(|(_, call)| call.id) {
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
