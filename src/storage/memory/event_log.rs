//! The events of one session: appended at the end, replaced in place, found by id.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::session::{Revision, Window};
use crate::storage::EventRow;
use crate::storage::memory::text::{Blocks, MemoryText, Place};

/// Entries lie in chunks rather than in one vector, whose doubling would leave a hole of its old
/// size in wasm's memory, which never shrinks.
const CHUNK: usize = 1024;
/// Below this, texts that were replaced are not worth moving the others for.
const LEAST_WASTE: usize = 64 << 10;

#[derive(Debug, Clone, Copy)]
struct Entry {
    seq: Revision,
    revision: Revision,
    timestamp: f64,
    id: Place,
    text: Place,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct EventLog {
    chunks: Vec<Vec<Entry>>,
    blocks: Blocks,
    /// Positions by the hash of the event's id; the id itself lies in the blocks.
    positions: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// Replaced events: the revision of the last replacement, ascending, and the position.
    replaced: Vec<(Revision, usize)>,
    used: usize,
    wasted: usize,
}

impl EventLog {
    fn len(&self) -> usize {
        match self.chunks.split_last() {
            None => 0,
            Some((last, full)) => full.len() * CHUNK + last.len(),
        }
    }

    fn entry(&self, position: usize) -> Option<&Entry> {
        self.chunks.get(position / CHUNK)?.get(position % CHUNK)
    }

    fn position(&self, id: &str) -> Option<usize> {
        let hash = self.hasher.hash_one(id);
        let same = |position: &u32| {
            self.entry(*position as usize)
                .is_some_and(|entry| self.blocks.with(entry.id, |stored| stored == id))
        };
        self.positions.find(hash, same).map(|position| *position as usize)
    }

    /// Adds the event, or puts it in the place of the one that has its id.
    pub(super) fn write(&mut self, row: &EventRow<MemoryText>) {
        match self.position(&row.id) {
            Some(position) => self.replace(position, row),
            None => self.append(row),
        }
    }

    fn append(&mut self, row: &EventRow<MemoryText>) {
        let position = self.len();
        let id = self.blocks.push(&row.id);
        let text = row.text.with(|text| self.blocks.push(text));
        self.used += id.len() + text.len();
        let entry =
            Entry { seq: row.seq, revision: row.revision, timestamp: row.timestamp, id, text };
        match self.chunks.last_mut() {
            Some(chunk) if chunk.len() < CHUNK => chunk.push(entry),
            // The first chunk grows as a short session needs it, the later ones come whole.
            Some(_) => {
                let mut chunk = Vec::with_capacity(CHUNK);
                chunk.push(entry);
                self.chunks.push(chunk);
            }
            None => self.chunks.push(vec![entry]),
        }
        let (chunks, blocks, hasher) = (&self.chunks, &self.blocks, &self.hasher);
        let rehash = |position: &u32| {
            let position = *position as usize;
            chunks
                .get(position / CHUNK)
                .and_then(|chunk| chunk.get(position % CHUNK))
                .map_or(0, |entry: &Entry| blocks.with(entry.id, |id| hasher.hash_one(id)))
        };
        self.positions.insert_unique(hasher.hash_one(&*row.id), position as u32, rehash);
    }

    fn replace(&mut self, position: usize, row: &EventRow<MemoryText>) {
        let text = row.text.with(|text| self.blocks.push(text));
        let Some(entry) =
            self.chunks.get_mut(position / CHUNK).and_then(|chunk| chunk.get_mut(position % CHUNK))
        else {
            return;
        };
        self.wasted += entry.text.len();
        self.used += text.len();
        entry.text = text;
        entry.timestamp = row.timestamp;
        if let Ok(earlier) =
            self.replaced.binary_search_by_key(&entry.revision, |(revision, _)| *revision)
        {
            self.replaced.remove(earlier);
        }
        entry.revision = row.revision;
        self.replaced.push((row.revision, position));
        if self.wasted > LEAST_WASTE && self.wasted * 2 > self.used {
            self.compact();
        }
    }

    /// Moves the texts that are still there into new blocks.
    fn compact(&mut self) {
        let mut blocks = Blocks::default();
        for entry in self.chunks.iter_mut().flatten() {
            entry.id = self.blocks.with(entry.id, |id| blocks.push(id));
            entry.text = self.blocks.with(entry.text, |text| blocks.push(text));
        }
        self.blocks = blocks;
        self.used -= self.wasted;
        self.wasted = 0;
    }

    /// The row with that id.
    pub(super) fn get(&self, id: &str) -> Option<EventRow<MemoryText>> {
        self.row(self.position(id)?)
    }

    fn row(&self, position: usize) -> Option<EventRow<MemoryText>> {
        let entry = self.entry(position)?;
        Some(EventRow {
            id: self.blocks.with(entry.id, |id| id.into()),
            seq: entry.seq,
            revision: entry.revision,
            timestamp: entry.timestamp,
            text: self.blocks.get(entry.text),
        })
    }

    /// The rows written after `since`: those replaced, then those new, by `seq`.
    pub(super) fn changed(&self, since: Revision) -> Vec<EventRow<MemoryText>> {
        let is_new = |position: usize| self.entry(position).is_some_and(|entry| entry.seq > since);
        let mut first_new = self.len();
        while first_new > 0 && is_new(first_new - 1) {
            first_new -= 1;
        }
        let replaced = self.replaced.iter().rev().take_while(|(revision, _)| *revision > since);
        let replaced = replaced.map(|(_, position)| *position);
        let positions = replaced.filter(|position| *position < first_new);
        positions.chain(first_new..self.len()).filter_map(|position| self.row(position)).collect()
    }

    /// The texts in a window, by `seq`.
    pub(super) fn window(&self, window: Window) -> Vec<MemoryText> {
        let entries = self.chunks.iter().flatten().rev();
        let mut texts: Vec<MemoryText> = entries
            .filter(|entry| window.admits(entry.timestamp))
            .take(window.last.unwrap_or(usize::MAX))
            .map(|entry| self.blocks.get(entry.text))
            .collect();
        texts.reverse();
        texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, seq: Revision, revision: Revision, text: &str) -> EventRow<MemoryText> {
        let text = MemoryText::from(text.to_owned());
        EventRow { id: id.into(), seq, revision, timestamp: seq as f64, text }
    }

    fn texts(texts: Vec<MemoryText>) -> Vec<String> {
        texts.into_iter().map(String::from).collect()
    }

    #[test]
    fn events_are_found_by_id_across_many_chunks() {
        let mut log = EventLog::default();
        for seq in 1..=5_000 {
            log.write(&row(&format!("event-{seq}"), seq, seq, &format!("text {seq}")));
        }
        for seq in [1, 1024, 1025, 4_999, 5_000] {
            assert_eq!(log.get(&format!("event-{seq}")).unwrap().seq, seq);
        }
        assert!(log.get("event-0").is_none());
        let last = log.window(Window { last: Some(2), after: None });
        assert_eq!(texts(last), ["text 4999", "text 5000"]);
    }

    #[test]
    fn a_replaced_event_keeps_its_place_and_counts_as_changed() {
        let mut log = EventLog::default();
        for seq in 1..=4 {
            log.write(&row(&seq.to_string(), seq, seq, "old"));
        }
        log.write(&row("2", 2, 5, "new"));
        log.write(&row("2", 2, 6, "newer"));
        assert_eq!(texts(log.window(Window::ALL)), ["old", "newer", "old", "old"]);
        let changed: Vec<_> = log.changed(3).iter().map(|row| (row.seq, row.revision)).collect();
        assert_eq!(changed, [(2, 6), (4, 4)]);
        assert!(log.changed(6).is_empty());
    }

    #[test]
    fn texts_that_were_replaced_do_not_pile_up() {
        let mut log = EventLog::default();
        let long = "x".repeat(10_000);
        log.write(&row("kept", 1, 1, "kept"));
        for revision in 2..2_000 {
            log.write(&row("changing", 2, revision, &format!("{long}{revision}")));
        }
        assert!(log.used < 4 * LEAST_WASTE);
        assert_eq!(String::from(log.get("kept").unwrap().text), "kept");
        assert!(String::from(log.get("changing").unwrap().text).ends_with("1999"));
    }
}
