//! The events of an append: which of them are new, which replace a stored one, which are unchanged.

use crate::core::event::NewEvent;
use crate::core::names::Names;
use crate::core::session::{Revision, SessionHead, Timestamp};
use crate::core::state::Delta;
use crate::core::write::changes::EventChange;
use crate::core::write::rows::StoredEvent;

/// The session after its events were written.
#[derive(Debug)]
pub(super) struct WrittenEvents {
    pub(super) head: SessionHead,
    /// The changes of the states by all written events.
    pub(super) delta: Delta,
    pub(super) changes: Vec<EventChange>,
    /// See [`Appended::unchanged`](crate::core::write::Appended::unchanged).
    pub(super) unchanged: Vec<(usize, Revision)>,
}

/// For each event the last event before it in the same append that has its id. Empty if there is
/// only one event.
#[derive(Debug)]
pub(super) struct RepeatedIds(Vec<Option<Repeated>>);

#[derive(Debug, Clone, Copy)]
struct Repeated {
    index: usize,
    /// Whether both are equal as JSON values.
    is_same: bool,
}

/// The row of an event that is stored already, or that was written earlier in the same append.
#[derive(Clone, Copy)]
struct KnownRow {
    seq: Revision,
    revision: Revision,
    is_same: bool,
}

impl WrittenEvents {
    pub(super) fn new(head: SessionHead, delta: Delta) -> Self {
        Self { head, delta, changes: Vec::new(), unchanged: Vec::new() }
    }

    /// Writes events in order. `stored` has the rows with their ids. Each written event gets a revision
    /// above the `floor`.
    pub(super) fn write_all<'a>(
        &mut self,
        events: &[NewEvent],
        RepeatedIds(repeated): &RepeatedIds,
        stored: impl Iterator<Item = &'a StoredEvent>,
        floor: Revision,
        now: Timestamp,
    ) {
        self.changes.reserve(events.len());
        let mut rows: Vec<KnownRow> = Vec::new();
        let mut stored = stored.peekable();
        for (index, event) in events.iter().enumerate() {
            let row = stored.next_if(|row| row.index == index);
            let known = match repeated.get(index).copied().flatten() {
                Some(Repeated { index, is_same }) => {
                    rows.get(index).map(|row| KnownRow { is_same, ..*row })
                }
                None => row.map(|row| KnownRow {
                    seq: row.seq,
                    revision: row.revision,
                    is_same: row.is_same,
                }),
            };
            let row = match known {
                Some(row) if row.is_same => {
                    self.unchanged.push((index, row.revision));
                    row
                }
                _ => {
                    let revision = self.head.revision.max(floor) + 1;
                    let seq = known.map_or(revision, |row| row.seq);
                    self.head.revision = revision;
                    let time = event.timestamp.min(now);
                    self.head.last_update_time = self.head.last_update_time.max(time);
                    self.changes.push(EventChange { index, seq, revision });
                    self.delta.extend(event.delta.clone());
                    KnownRow { seq, revision, is_same: false }
                }
            };
            // Only later events of the same append ask for it.
            if !repeated.is_empty() {
                rows.push(row);
            }
        }
    }
}

impl RepeatedIds {
    pub(super) fn of(events: &[NewEvent]) -> Self {
        let mut repeated = Vec::new();
        if events.len() < 2 {
            return Self(repeated);
        }
        let mut indexes = Names::<usize>::default();
        for (number, event) in events.iter().enumerate() {
            repeated.push(indexes.get(&event.id).and_then(|index| {
                let is_same = event.is_same(&events.get(*index)?.text);
                Some(Repeated { index: *index, is_same })
            }));
            if let Some(index) = indexes.get_or_default(&event.id) {
                *index = number;
            }
        }
        Self(repeated)
    }
}
