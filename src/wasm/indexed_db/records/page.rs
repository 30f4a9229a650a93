//! Events in one record: a single event, or a page record of many.
//!
//! The texts of a page are joined with commas into one text, so that a reader parses them all at
//! once. `marks` holds four numbers for each event; the last one is the end of its text. Moving
//! events between pages never parses their texts, so the texts never change.

use std::sync::Arc;

use adk_session::session::{Revision, Timestamp};
use adk_session::write::EventRow;
use js_sys::{Array, Float64Array, JsString};
use wasm_bindgen::prelude::*;

use crate::indexed_db::records::failure::Failure;
use crate::indexed_db::records::keys;
use crate::indexed_db::records::record::is_counter;
use crate::object::JsObject;
use crate::text::{self, event_text};

/// The most events in a page record. 10,000 events in such pages load five times as fast as in
/// single records. Larger pages gain little, and make replacements and short windows slower.
pub(crate) const PAGE: usize = 128;

/// The fewest events, written at once, that form a page of their own. Writing one record takes a
/// fifth of the time of 64, and half that of 8.
pub(crate) const SMALL_PAGE: usize = 8;

/// The most UTF-16 code units of text in a page; a longer event has a record of its own. No event
/// of a page can be read without the others.
pub(crate) const PAGE_TEXT: u32 = 512 * 1024;

/// How many numbers `marks` holds for each event: seq, revision, timestamp, end of its text.
const MARKS: u32 = 4;

/// The events of one record in `events`.
pub(crate) struct PageRecord {
    /// The number of the session, the first part of the record's key.
    number: f64,
    pub(crate) rows: Vec<EventRow>,
    /// UTF-16 code units of the texts, a comma counted for each.
    length: u32,
}

impl PageRecord {
    pub(crate) fn empty(number: f64) -> Self {
        Self { number, rows: Vec::new(), length: 0 }
    }

    fn of(number: f64, row: EventRow) -> Self {
        let mut page = Self::empty(number);
        page.push(row);
        page
    }

    /// Adds an event that follows all others.
    fn push(&mut self, row: EventRow) {
        self.length += length_of(&row);
        self.rows.push(row);
    }

    /// Adds the events of a page that follows this one.
    pub(crate) fn append(&mut self, later: Self) {
        self.length += later.length;
        self.rows.extend(later.rows);
    }

    /// Whether the page can take one more text of this length.
    pub(crate) fn has_room(&self, length: u32) -> bool {
        self.rows.len() < PAGE && self.length.saturating_add(length) <= PAGE_TEXT
    }

    /// Returns the UTF-16 code units of the texts.
    pub(crate) fn length(&self) -> u32 {
        self.length
    }

    /// Reads the events of a record. Fails with `corrupt_record` if it is damaged.
    pub(crate) fn read(record: &JsObject) -> Result<Self, Failure> {
        Self::rows_of(record, true).ok_or_else(|| record.damaged("it is damaged"))
    }

    /// Reads the events of a record; `None` if it is damaged. `fits_text` also requires that the
    /// texts end where the marks say. A record that is to be rewritten needs that, or text that can
    /// still be read would be lost.
    fn rows_of(record: &JsObject, fits_text: bool) -> Option<Self> {
        let number = record.counter("number")?;
        let ids = record.get("ids").dyn_into::<Array>().ok()?;
        let text = record.get("text").dyn_into::<JsString>().ok()?;
        let marks = marks_of(record);
        if ids.length() as usize != size_of(marks.as_ref()) {
            return None;
        }
        let last = record.counter("seq")?;
        let length = f64::from(text.length());
        let mut page = Self::empty(number);
        let (mut start, mut before) = (0, -1.0);
        for (row, id) in ids.iter().enumerate() {
            let [seq, revision, timestamp, end] = match &marks {
                Some(marks) => [0, 1, 2, 3].map(|mark| marks.get_index(row as u32 * MARKS + mark)),
                None => [last, record.number("revision")?, record.number("time")?, length],
            };
            let timestamp = Timestamp::valid(timestamp)?;
            let is_whole = is_counter(seq) && is_counter(revision);
            let is_in_order = before < seq && seq <= revision && f64::from(start) <= end;
            let is_end = end == length || text.char_code_at(end as u32) == f64::from(b',');
            if !(is_whole && is_in_order && (is_end || !fits_text)) {
                return None;
            }
            before = seq;
            page.push(EventRow {
                id: keys::plain_id(&id.as_string()?).into(),
                seq: seq as Revision,
                revision: revision as Revision,
                timestamp,
                text: event_text(text.substring(start, end as u32).into()),
            });
            start = (end as u32).saturating_add(1);
        }
        let is_whole = f64::from(start) == length + 1.0 || !fits_text;
        (before == last && is_whole).then_some(page)
    }

    pub(crate) fn seq(&self) -> Revision {
        self.rows.last().map_or(0, |row| row.seq)
    }

    pub(crate) fn record(&self) -> JsObject {
        let record = JsObject::empty();
        record.set_number("number", self.number);
        record.set_number("seq", self.seq() as f64);
        let (ids, texts) = (Array::new(), Array::new());
        let mut marks = Vec::new();
        let (mut end, mut revision, mut replaced, mut time) = (0.0, 0, 0, 0.0_f64);
        for row in &self.rows {
            ids.push(&JsValue::from_str(&keys::event_id(self.number, &row.id)));
            let text = string_of(row);
            end += f64::from(text.length());
            texts.push(&text);
            marks.extend([row.seq as f64, row.revision as f64, row.timestamp.as_millis(), end]);
            end += 1.0;
            revision = revision.max(row.revision);
            time = time.max(row.timestamp.as_millis());
            if row.revision != row.seq {
                replaced = replaced.max(row.revision);
            }
        }
        record.set("ids", &ids);
        record.set_number("revision", revision as f64);
        record.set_number("time", time);
        if replaced > 0 {
            record.set("replaced", &keys::pair(self.number, replaced as f64));
        }
        if let [row] = self.rows.as_slice() {
            record.set("text", &string_of(row));
        } else {
            record.set("marks", &Float64Array::from(marks.as_slice()));
            record.set("text", &texts.join(","));
        }
        record
    }
}

fn marks_of(record: &JsObject) -> Option<Float64Array> {
    record.get("marks").dyn_into().ok()
}

/// Returns how many events the marks describe; 1 if the marks are missing or damaged.
fn size_of(marks: Option<&Float64Array>) -> usize {
    marks.map_or(1, |marks| (marks.length() / MARKS).max(1) as usize)
}

/// Which events a window admits, before its limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct EventFilter {
    /// Only events with this timestamp or a later one.
    pub(crate) after: Option<f64>,
    /// Only events with a greater `seq`.
    pub(crate) above: f64,
    /// Only events with a smaller `seq`.
    pub(crate) below: f64,
}

impl EventFilter {
    /// All events.
    pub(crate) const ALL: Self = Self { after: None, above: -1.0, below: f64::INFINITY };

    fn admits(&self, seq: f64, timestamp: f64) -> bool {
        self.above < seq && seq < self.below && self.after.is_none_or(|after| timestamp >= after)
    }
}

/// Returns how many events of a record the filter admits; a damaged event counts as admitted.
pub(crate) fn count_admitted(record: &JsObject, filter: EventFilter) -> usize {
    let marks = marks_of(record);
    if filter == EventFilter::ALL {
        return size_of(marks.as_ref());
    }
    let admits = |seq, time| {
        filter.admits(seq, time) || !is_counter(seq) || Timestamp::valid(time).is_none()
    };
    let Some(marks) = marks else {
        let [seq, time] = ["seq", "time"].map(|name| record.number(name).unwrap_or(f64::NAN));
        return usize::from(admits(seq, time));
    };
    let mut admitted = usize::from(marks.length() < MARKS);
    for index in (2..marks.length()).step_by(MARKS as usize) {
        admitted += usize::from(admits(marks.get_index(index - 2), marks.get_index(index)));
    }
    admitted
}

/// Returns the record with only the events that the filter admits: without the first `skip` of them,
/// and at most `take`. Returns `None` if no event remains. If a record is too damaged to be cut,
/// its text is removed, so that its reader reports the damage.
pub(crate) fn cut(
    record: JsObject,
    filter: EventFilter,
    skip: usize,
    take: usize,
) -> Option<JsObject> {
    let admitted = count_admitted(&record, filter);
    if admitted <= skip || take == 0 {
        return None;
    }
    let size = size_of(marks_of(&record).as_ref());
    // A page that lost its marks looks like a single event.
    let is_one = |ids: Array| ids.length() as usize == size;
    let is_whole = admitted == size && ids_of(&record).is_some_and(is_one);
    if skip == 0 && is_whole && admitted <= take {
        return Some(record);
    }
    let Some(mut page) = PageRecord::rows_of(&record, false) else {
        record.set("text", &JsValue::UNDEFINED);
        return Some(record);
    };
    let mut number = 0;
    page.rows.retain(|row| {
        let is_admitted = filter.admits(row.seq as f64, row.timestamp.as_millis());
        number += usize::from(is_admitted);
        is_admitted && number > skip && number - skip <= take
    });
    (!page.rows.is_empty()).then(|| page.record())
}

/// Returns the `seq` of the event with that key in the index of ids; `None` if the record is
/// damaged.
pub(crate) fn seq_of(record: &JsObject, id: &JsValue) -> Option<f64> {
    let seq = match marks_of(record) {
        None => record.counter("seq")?,
        Some(marks) => {
            let index = u32::try_from(ids_of(record)?.index_of(id, 0)).ok()?;
            let mark = index.saturating_mul(MARKS);
            (mark < marks.length()).then(|| marks.get_index(mark))?
        }
    };
    is_counter(seq).then_some(seq)
}

/// Returns the id of the first event of a record, or of its `last` one. Returns `None` if there is
/// no record or if it is damaged.
pub(crate) fn edge_of(record: JsValue, last: bool) -> Option<Arc<str>> {
    let ids = ids_of(&JsObject::found(record)?)?;
    let index = if last { ids.length().saturating_sub(1) } else { 0 };
    Some(keys::plain_id(&ids.get(index).as_string()?).into())
}

fn ids_of(record: &JsObject) -> Option<Array> {
    record.get("ids").dyn_into().ok()
}

fn string_of(row: &EventRow) -> JsString {
    text::string_of(&row.text).unchecked_into()
}

/// Returns the length of an event's text, with a comma.
fn length_of(row: &EventRow) -> u32 {
    string_of(row).length().saturating_add(1)
}

/// Divides events of a session, ordered by `seq`, into pages within the bounds.
pub(crate) fn pages_of(number: f64, rows: Vec<EventRow>) -> Vec<PageRecord> {
    let mut pages: Vec<PageRecord> = Vec::new();
    for row in rows {
        match pages.last_mut().filter(|page| page.has_room(length_of(&row))) {
            Some(page) => page.push(row),
            None => pages.push(PageRecord::of(number, row)),
        }
    }
    pages
}

/// Divides new events into pages. The last ones become single records if they are too few for a
/// page.
pub(crate) fn new_pages_of(number: f64, rows: Vec<EventRow>) -> Vec<PageRecord> {
    let mut pages = pages_of(number, rows);
    let few = pages.pop_if(|last| last.rows.len() < SMALL_PAGE);
    let singles = few.map(|last| last.rows).unwrap_or_default();
    pages.extend(singles.into_iter().map(|row| PageRecord::of(number, row)));
    pages
}
