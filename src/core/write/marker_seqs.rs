//! The seqs of a session's markers. With them a storage finds the markers without reading the
//! whole session.
//!
//! An event that tells whether an invocation waits counts as a marker too: a compaction does not hide the
//! events of an invocation that waits.

use std::sync::Arc;

use crate::core::event::NewEvent;
use crate::core::names::NameMap;
use crate::core::session::{NEVER, Revision};
use crate::core::write::rows::{EventChange, EventRow};
use crate::core::write::undone::{insertion_index, number_of};

/// The seqs of a session's markers, and of the first events of the invocations that they rewind.
/// It may also hold seqs of other events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MarkerSeqs {
    /// The `seq` of each of these events, ascending.
    pub seqs: Vec<Revision>,
    /// Whether a seq may be missing, because an event was replaced by one of another invocation.
    pub is_incomplete: bool,
}

impl MarkerSeqs {
    /// The seqs of markers among written events. If one of these is a rewind, `stored` has all events
    /// that were stored before. Otherwise it has the replaced ones.
    pub(super) fn of(events: &[NewEvent], changes: &[EventChange], stored: &[EventRow]) -> Self {
        let mut markers = Self::default();
        let mut targets = NameMap::default();
        for EventChange { index, row } in changes {
            let may_be_marker = events.get(*index).is_some_and(|event| event.may_be_marker);
            let is_replaced = row.seq != row.revision;
            if !may_be_marker && !is_replaced {
                continue;
            }
            let members = row.text.rewind_members();
            if may_be_marker {
                markers.insert(row.seq);
                if let Some(target) = members.rewinds_before {
                    markers.is_incomplete |= number_of(&mut targets, &target).is_none();
                }
            }
            if is_replaced {
                let replaced = stored.iter().find(|stored| stored.seq == row.seq);
                markers.is_incomplete |= replaced
                    .is_none_or(|row| row.text.rewind_members().invocation != members.invocation);
            }
        }
        markers.insert_first_events(&targets, changes, stored);
        markers
    }

    /// Adds the seq of the first event of each of these invocations.
    fn insert_first_events(
        &mut self,
        invocations: &NameMap<Option<u32>>,
        changes: &[EventChange],
        stored: &[EventRow],
    ) {
        let mut firsts = vec![NEVER; invocations.len()];
        if firsts.is_empty() {
            return;
        }
        let may_be_named = name_filter(invocations);
        for row in stored.iter().chain(changes.iter().map(|change| &change.row)) {
            if !may_be_named(row) {
                continue;
            }
            let Some(invocation) = row.text.rewind_members().invocation else { continue };
            let Some(number) = invocations.get(&invocation).copied().flatten() else { continue };
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

    /// Adds the seqs of a later write. Without any marker, no seq can be missing.
    pub fn add(&mut self, later: &Self) {
        let is_empty = self.seqs.is_empty() && later.seqs.is_empty();
        self.is_incomplete |= later.is_incomplete && !is_empty;
        for seq in &later.seqs {
            self.insert(*seq);
        }
    }

    /// Adds the seq of a marker.
    pub fn insert(&mut self, seq: Revision) {
        let index = insertion_index(&self.seqs, seq);
        if self.seqs.get(index) != Some(&seq) {
            self.seqs.insert(index, seq);
        }
    }
}

/// Returns a function that is `false` for an event whose text cannot name one of these invocations. To
/// search the text takes less time than to read its members.
fn name_filter(invocations: &NameMap<Option<u32>>) -> impl Fn(&EventRow) -> bool {
    let mut names = invocations.iter().map(|(name, _)| Arc::clone(name));
    let is_plain = |name: &Arc<str>| {
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    let only_name = names.next().filter(|name| names.next().is_none() && is_plain(name));
    move |row| match &only_name {
        // Only an escape with a code can stand for one of these characters.
        Some(name) => row.text.with(|text| text.contains(&**name) || text.contains("\\u")),
        None => true,
    }
}
