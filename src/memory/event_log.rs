//! The events of one session: appended at the end, replaced in place, looked up by id.

use std::mem;

use crate::core::event::TextSlice;
use crate::core::names::Index;
use crate::core::read::{PageEdges, Read, TimedText};
use crate::core::room::SPARE;
use crate::core::session::{Revision, Timestamp};
use crate::core::write::EventRow;
use crate::host::has_room;
use crate::memory::blocks::Blocks;

/// How many events a chunk holds. One growing vector would leave holes of its old sizes in wasm
/// memory, which never shrinks.
const CHUNK: usize = 1024;
/// The fewest bytes of removed texts for which copying the others is worth its time.
const MIN_WASTED: usize = 64 << 10;

#[derive(Debug)]
struct LoggedEvent {
    seq: Revision,
    revision: Revision,
    timestamp: Timestamp,
    id: TextSlice,
    text: TextSlice,
}

impl LoggedEvent {
    /// Not inlined: the wasm is smaller.
    #[inline(never)]
    fn timed_text(&self) -> TimedText {
        (self.timestamp, self.text.clone().into())
    }
}

/// The events of one session.
#[derive(Debug, Default)]
pub(super) struct EventLog {
    chunks: Vec<Vec<LoggedEvent>>,
    blocks: Blocks,
    /// Positions by event id; the ids themselves are stored in the blocks.
    positions: Index,
    /// For each replaced event its revision, ascending, and its position.
    replaced: Vec<(Revision, usize)>,
    /// The bytes of all ids and texts in the blocks.
    used: usize,
    /// The bytes among them of replaced texts.
    wasted: usize,
}

impl EventLog {
    pub(super) fn len(&self) -> usize {
        match self.chunks.split_last() {
            None => 0,
            Some((last, full)) => full.len() * CHUNK + last.len(),
        }
    }

    /// Reserves room in the index for `count` more events, not for their texts. Returns `false` if
    /// memory has none.
    pub(super) fn try_reserve(&mut self, count: usize) -> bool {
        self.positions.try_reserve(count)
    }

    fn event(&self, position: usize) -> Option<&LoggedEvent> {
        event(&self.chunks, position)
    }

    fn position(&self, id: &str) -> Option<usize> {
        self.positions.find(id, &|position| is_of(&self.chunks, position, id))
    }

    fn event_mut(&mut self, position: usize) -> Option<&mut LoggedEvent> {
        self.chunks.get_mut(position / CHUNK)?.get_mut(position % CHUNK)
    }

    /// Appends the event, or replaces the event with its id in place.
    pub(super) fn write(&mut self, row: EventRow) {
        let text = row.text.with(|text| self.blocks.push(text));
        self.used += text.len();
        let end = self.len();
        let is_of = |position: usize| is_of(&self.chunks, position, &row.id);
        match self.positions.find_or_insert(&row.id, end, &is_of) {
            Some(position) => self.replace(position, row.revision, row.timestamp, text),
            None => {
                let (seq, revision, timestamp) = (row.seq, row.revision, row.timestamp);
                let id = self.blocks.push(&row.id);
                self.used += id.len();
                self.append(LoggedEvent { seq, revision, timestamp, id, text });
            }
        }
    }

    fn append(&mut self, event: LoggedEvent) {
        match self.chunks.last_mut() {
            Some(chunk) if chunk.len() < CHUNK => chunk.push(event),
            // The first chunk grows with a short session; later chunks are allocated at full size.
            last => {
                let room = if last.is_some() { CHUNK } else { 1 };
                let mut chunk = Vec::with_capacity(room);
                chunk.push(event);
                self.chunks.push(chunk);
            }
        }
    }

    fn replace(
        &mut self,
        position: usize,
        revision: Revision,
        timestamp: Timestamp,
        text: TextSlice,
    ) {
        let Some(event) = self.event_mut(position) else {
            return;
        };
        event.timestamp = timestamp;
        let text = mem::replace(&mut event.text, text);
        let before = mem::replace(&mut event.revision, revision);
        self.wasted += text.len();
        if let Ok(earlier) = self.replaced.binary_search_by_key(&before, |(revision, _)| *revision)
        {
            self.replaced.remove(earlier);
        }
        self.replaced.push((revision, position));
        self.compact();
    }

    /// Copies the current texts into new blocks, if many were replaced and memory has room for the copies.
    /// That takes up to twice their length, because a text that does not fit leaves the rest of its block
    /// empty.
    fn compact(&mut self) {
        let is_wasteful = self.wasted > MIN_WASTED && self.wasted * 2 > self.used;
        if !is_wasteful || !has_room(2 * (self.used - self.wasted) + SPARE) {
            return;
        }
        let mut blocks = Blocks::default();
        for event in self.chunks.iter_mut().flatten() {
            event.id = event.id.with(|id| blocks.push(id));
            event.text = event.text.with(|text| blocks.push(text));
        }
        self.blocks = blocks;
        self.used -= self.wasted;
        self.wasted = 0;
    }

    /// Returns the row with that id.
    pub(super) fn get(&self, id: &str) -> Option<EventRow> {
        self.row(self.position(id)?)
    }

    fn row(&self, position: usize) -> Option<EventRow> {
        let event = self.event(position)?;
        Some(EventRow {
            id: event.id.with(|id| id.into()),
            seq: event.seq,
            revision: event.revision,
            timestamp: event.timestamp,
            text: event.text.clone().into(),
        })
    }

    /// Returns the rows written after `since`, `most` at most: first the replaced ones, then the new ones
    /// by `seq`.
    pub(super) fn changed(&self, since: Revision, most: usize) -> Vec<EventRow> {
        let is_new = |position: usize| self.event(position).is_some_and(|event| event.seq > since);
        let mut first_new = self.len();
        while first_new > 0 && is_new(first_new - 1) {
            first_new -= 1;
        }
        let mut rows = Vec::new();
        for (revision, position) in self.replaced.iter().rev() {
            if *revision <= since || rows.len() >= most {
                break;
            }
            if *position < first_new {
                rows.extend(self.row(*position));
            }
        }
        for position in (first_new..self.len()).take(most.saturating_sub(rows.len())) {
            rows.extend(self.row(position));
        }
        rows
    }

    /// Returns the event with that `seq`.
    pub(super) fn at(&self, seq: Revision) -> Option<TimedText> {
        let is_before = |event: &LoggedEvent| event.seq < seq;
        let chunk = self.chunks.partition_point(|chunk| chunk.last().is_some_and(is_before));
        let chunk = self.chunks.get(chunk)?;
        let event = chunk.get(chunk.partition_point(is_before))?;
        Some(event.timed_text())
    }

    /// Returns the events of a read by `seq`, and the edges of a page.
    pub(super) fn events(&self, read: &Read) -> (Vec<TimedText>, Option<PageEdges>) {
        let time_at =
            |position| self.event(position).map_or(Timestamp::MIN, |event| event.timestamp);
        let positions = read.positions(self.len(), |id| self.position(id), time_at);
        let Some(positions) = positions else {
            return (Vec::new(), None);
        };
        let id_at = |position| self.event(position).map(|event| event.id.with(|id| id.into()));
        let is_page = matches!(read, Read::Page(_));
        let edges = is_page.then(|| PageEdges::of(&positions, self.len(), id_at));
        let events = positions.into_iter().filter_map(|position| self.event(position));
        (events.map(LoggedEvent::timed_text).collect(), edges)
    }
}

fn event(chunks: &[Vec<LoggedEvent>], position: usize) -> Option<&LoggedEvent> {
    chunks.get(position / CHUNK)?.get(position % CHUNK)
}

/// Whether the event at that position has that id.
fn is_of(chunks: &[Vec<LoggedEvent>], position: usize, id: &str) -> bool {
    event(chunks, position).is_some_and(|event| event.id.with(|stored| stored == id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::event::EventText;

    fn row(id: &str, seq: Revision, revision: Revision, text: &str) -> EventRow {
        let text = EventText::from(text.to_owned());
        let timestamp = Timestamp::from_millis(seq as f64).unwrap();
        EventRow { id: id.into(), seq, revision, timestamp, text }
    }

    fn texts(events: Vec<TimedText>) -> Vec<String> {
        events.into_iter().map(|(_, text)| text.into()).collect()
    }

    #[test]
    fn events_are_found_by_id_across_many_chunks() {
        let mut log = EventLog::default();
        for seq in 1..=5_000 {
            log.write(row(&format!("event-{seq}"), seq, seq, &format!("text {seq}")));
        }
        for seq in [1, 1024, 1025, 4_999, 5_000] {
            assert_eq!(log.get(&format!("event-{seq}")).unwrap().seq, seq);
        }
        assert!(log.get("event-0").is_none());
        let last = log.events(&Read::Last { limit: Some(2), after: None });
        assert_eq!(texts(last.0), ["text 4999", "text 5000"]);
    }

    #[test]
    fn a_replaced_event_keeps_its_position_and_counts_as_changed() {
        let mut log = EventLog::default();
        for seq in 1..=4 {
            log.write(row(&seq.to_string(), seq, seq, "old"));
        }
        log.write(row("2", 2, 5, "new"));
        log.write(row("2", 2, 6, "newer"));
        assert_eq!(texts(log.events(&Read::ALL).0), ["old", "newer", "old", "old"]);
        let changed: Vec<_> =
            log.changed(3, usize::MAX).iter().map(|row| (row.seq, row.revision)).collect();
        assert_eq!(changed, [(2, 6), (4, 4)]);
        assert!(log.changed(6, usize::MAX).is_empty());
        assert_eq!(log.changed(0, 3).len(), 3);
    }

    #[test]
    fn replaced_texts_are_freed() {
        let mut log = EventLog::default();
        let long = "x".repeat(10_000);
        log.write(row("kept", 1, 1, "kept"));
        for revision in 2..2_000 {
            log.write(row("changing", 2, revision, &format!("{long}{revision}")));
        }
        assert!(log.used < 4 * MIN_WASTED);
        assert_eq!(String::from(log.get("kept").unwrap().text), "kept");
        assert!(String::from(log.get("changing").unwrap().text).ends_with("1999"));
    }
}
