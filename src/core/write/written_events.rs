//! The events of an append: which of them are new, which replace a stored one, which are unchanged.

use crate::core::event::NewEvent;
use crate::core::names::NameMap;
use crate::core::session::{Revision, SessionHead};
use crate::core::state::Delta;
use crate::core::write::rows::{EventChange, EventRow, StoredEvent};

/// The session after its events were written.
#[derive(Debug)]
pub(super) struct WrittenEvents {
    pub(super) head: SessionHead,
    /// The changes of the states by all written events.
    pub(super) delta: Delta,
    pub(super) changes: Vec<EventChange>,
    /// See [`Appended::unchanged`](crate::core::write::Appended::unchanged).
    pub(super) unchanged: Vec<(usize, Revision)>,
    /// See [`Appended::stored_at`](crate::core::write::Appended::stored_at).
    pub(super) stored_at: Vec<(Revision, Revision)>,
    /// The index of each event that may not replace the stored one with its id, and the revision of that
    /// one; `None` if none is stored.
    pub(super) conflicts: Vec<(usize, Option<Revision>)>,
}

impl WrittenEvents {
    /// Writes events in order. `stored` has the rows with their ids. Each written event gets a revision
    /// above the `floor`.
    pub(super) fn of(
        events: &[NewEvent],
        stored: &[StoredEvent],
        before: SessionHead,
        floor: Revision,
    ) -> Self {
        let mut written = Self {
            head: before,
            delta: Delta::default(),
            changes: Vec::with_capacity(events.len()),
            unchanged: Vec::new(),
            stored_at: Vec::with_capacity(events.len()),
            conflicts: Vec::new(),
        };
        written.write_all(events, stored, floor);
        written
    }

    fn write_all(&mut self, events: &[NewEvent], stored: &[StoredEvent], floor: Revision) {
        // The rows of the earlier events, and the index of the last event with each id.
        let mut rows: Vec<StoredEvent> = Vec::new();
        let mut indexes = NameMap::<usize>::default();
        let mut stored = stored.iter().peekable();
        for (index, event) in events.iter().enumerate() {
            let row = stored.next_if(|row| row.index == index).copied();
            let earlier = indexes.get(&event.id).and_then(|index| {
                let is_same = event.is_same(&events.get(*index)?.text);
                Some(StoredEvent { is_same, ..*rows.get(*index)? })
            });
            let known = earlier.or(row);
            let row = match known {
                Some(row) if row.is_same => {
                    self.unchanged.push((index, row.revision));
                    row
                }
                _ => {
                    let actual = known.map(|row| row.revision);
                    if !event.replaces.is_met_by(actual)
                        && !earlier.is_some_and(|row| self.has_written(row))
                    {
                        self.conflicts.push((index, actual));
                    }
                    let revision = self.head.revision.max(floor) + 1;
                    let seq = known.map_or(revision, |row| row.seq);
                    self.head.revision = revision;
                    let time = self.head.last_update_time.max(event.timestamp);
                    self.head.last_update_time = time;
                    let row = EventRow::of(event, seq, revision);
                    self.changes.push(EventChange { index, row });
                    self.delta.extend(event.delta.clone());
                    StoredEvent { index, seq, revision, is_same: false }
                }
            };
            self.stored_at.push((row.seq, row.revision));
            // Only later events of this append need the row.
            if events.len() > 1 {
                rows.push(row);
                if let Some(last) = indexes.get_or_default(&event.id) {
                    *last = index;
                }
            }
        }
    }

    /// Whether this append has written the event. Otherwise it was stored before.
    fn has_written(&self, row: StoredEvent) -> bool {
        self.changes.iter().any(|change| change.row.seq == row.seq)
    }
}

/// Finds the stored event of each new one that has its id, and compares their texts.
pub(super) fn match_stored(events: &[NewEvent], rows: &[EventRow]) -> Vec<StoredEvent> {
    let mut stored = Vec::new();
    if rows.is_empty() {
        return stored;
    }
    let mut row_indexes = NameMap::<usize>::default();
    for (number, row) in rows.iter().enumerate() {
        if let Some(known) = row_indexes.get_or_default(&row.id) {
            *known = number;
        }
    }
    for (index, event) in events.iter().enumerate() {
        if let Some(row) = row_indexes.get(&event.id).and_then(|number| rows.get(*number)) {
            stored.push(StoredEvent {
                index,
                seq: row.seq,
                revision: row.revision,
                is_same: event.is_same(&row.text),
            });
        }
    }
    stored
}
