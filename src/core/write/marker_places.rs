//! The places of a session's markers, by which its views are found without reading it whole.

use crate::core::event::NewEvent;
use crate::core::names::Names;
use crate::core::session::{NEVER, Revision};
use crate::core::write::rows::{EventChange, EventRow};
use crate::core::write::undone::{number_of, place_of};

/// The places of a session's markers, and of the first events of the invocations that they rewind.
/// Other places among them do no harm.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MarkerPlaces {
    /// The `seq` of each of these events, ascending.
    pub seqs: Vec<Revision>,
    /// Whether one may be missing: an event was replaced by one of another invocation.
    pub are_lost: bool,
}

impl MarkerPlaces {
    /// The places of markers among written events. `stored` has all other events of the session if one of the written
    /// events is a rewind, and the replaced events otherwise.
    pub(super) fn of(events: &[NewEvent], changes: &[EventChange], stored: &[EventRow]) -> Self {
        let mut markers = Self::default();
        let mut targets = Names::default();
        for EventChange { index, row } in changes {
            let is_marker = events.get(*index).is_some_and(|event| event.is_marker);
            let is_replaced = row.seq != row.revision;
            if !is_marker && !is_replaced {
                continue;
            }
            let turn = row.text.turn();
            if is_marker {
                markers.insert(row.seq);
                if let Some(target) = turn.rewinds_before {
                    markers.are_lost |= number_of(&mut targets, &target).is_none();
                }
            }
            if is_replaced {
                let before = stored.iter().find(|before| before.seq == row.seq);
                markers.are_lost |=
                    before.is_none_or(|row| row.text.turn().invocation != turn.invocation);
            }
        }
        markers.insert_firsts(&targets, changes, stored);
        markers
    }

    /// Adds the first event of each of these invocations.
    fn insert_firsts(
        &mut self,
        targets: &Names<Option<u32>>,
        changes: &[EventChange],
        stored: &[EventRow],
    ) {
        let mut firsts = vec![NEVER; targets.len()];
        if firsts.is_empty() {
            return;
        }
        for at in 0..stored.len() + changes.len() {
            let change = || Some(&changes.get(at.wrapping_sub(stored.len()))?.row);
            let Some(row) = stored.get(at).or_else(change) else { continue };
            let Some(invocation) = row.text.turn().invocation else { continue };
            let number = targets.get(&invocation).copied().flatten().unwrap_or(u32::MAX);
            if let Some(first) = firsts.get_mut(number as usize) {
                *first = row.seq.min(*first);
            }
        }
        for first in firsts {
            if first != NEVER {
                self.insert(first);
            }
        }
    }

    /// Adds the places of a later write. Without any marker, no place can be lost.
    pub(crate) fn add(&mut self, later: &Self) {
        let are_there = !(self.seqs.is_empty() && later.seqs.is_empty());
        self.are_lost |= later.are_lost && are_there;
        for seq in &later.seqs {
            self.insert(*seq);
        }
    }

    pub(crate) fn insert(&mut self, seq: Revision) {
        let place = place_of(&self.seqs, seq);
        if self.seqs.get(place) != Some(&seq) {
            self.seqs.insert(place, seq);
        }
    }
}
