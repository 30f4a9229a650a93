//! Events in one record: a single one, or a sealed page of many.
//!
//! The texts of a page are one text, joined with commas, so that a reader parses them all at once;
//! `marks` holds four numbers an event, of which the last is the end of its text. What lies in a
//! page is never parsed to be moved, and so comes back to the letter.

use js_sys::{Array, Float64Array, JsString};
use wasm_bindgen::prelude::*;

use crate::session::{Revision, Window};
use crate::storage::EventRow;
use crate::storage::indexed_db::failure::Failure;
use crate::storage::indexed_db::keys;
use crate::storage::indexed_db::record::Record;
use crate::storage::javascript_text::JavaScriptText;

/// Events in a sealed page. 10,000 events in such pages load five times as fast as in a record
/// each; larger ones gain little, and make a replacement and a short window dearer.
pub(super) const PAGE: usize = 128;

/// So many events written at once are a page of their own: one record is written in a fifth of the
/// time of 64, and in half that of 8.
pub(super) const SMALL_PAGE: usize = 8;

/// Numbers an event in `marks`: seq, revision, timestamp, and the end of its text.
const MARKS: usize = 4;

/// What is in one record of `events`.
pub(super) struct Page {
    /// What the session's events are kept under.
    number: f64,
    pub(super) rows: Vec<EventRow<JavaScriptText>>,
}

impl Page {
    /// `rows` by `seq`, at least one.
    pub(super) fn new(number: f64, rows: Vec<EventRow<JavaScriptText>>) -> Self {
        Self { number, rows }
    }

    /// The events of a record; what was damaged by hand is `corrupt_record`.
    pub(super) fn read(record: &Record) -> Result<Self, Failure> {
        Self::rows_of(record).ok_or_else(|| damaged(record))
    }

    fn rows_of(record: &Record) -> Option<Self> {
        let number = record.number("number")?;
        let ids = record.get("ids").dyn_into::<Array>().ok()?;
        let text = record.get("text").dyn_into::<JsString>().ok()?;
        let marks = match marks_of(record) {
            Some(marks) => marks,
            None => {
                let mut marks = Vec::with_capacity(MARKS);
                for member in ["seq", "revision", "time"] {
                    marks.push(record.number(member)?);
                }
                marks.push(f64::from(text.length()));
                marks
            }
        };
        let mut rows = Vec::new();
        let mut start = 0;
        for (id, marks) in ids.iter().zip(marks.chunks_exact(MARKS)) {
            let &[seq, revision, timestamp, end] = marks else {
                return None;
            };
            rows.push(EventRow {
                id: keys::plain_id(&id.as_string()?).into(),
                seq: seq as Revision,
                revision: revision as Revision,
                timestamp,
                text: JavaScriptText::from(JsValue::from(text.substring(start, end as u32))),
            });
            start = end as u32 + 1;
        }
        (!rows.is_empty()).then_some(Self { number, rows })
    }

    pub(super) fn seq(&self) -> Revision {
        self.rows.last().map_or(0, |row| row.seq)
    }

    pub(super) fn record(&self) -> Record {
        let record = Record::empty();
        record.set_number("number", self.number);
        record.set_number("seq", self.seq() as f64);
        let (ids, texts) = (Array::new(), Array::new());
        let mut marks = Vec::with_capacity(self.rows.len() * MARKS);
        let (mut end, mut revision, mut replaced, mut time) = (0.0, 0, 0, 0.0_f64);
        for row in &self.rows {
            ids.push(&JsValue::from_str(&keys::event_id(self.number, &row.id)));
            let text: &JsValue = row.text.as_ref();
            texts.push(text);
            end += f64::from(text.unchecked_ref::<JsString>().length());
            marks.extend([row.seq as f64, row.revision as f64, row.timestamp, end]);
            end += 1.0;
            revision = revision.max(row.revision);
            time = time.max(row.timestamp);
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
        if self.rows.len() > 1 {
            record.set("marks", &Float64Array::from(marks.as_slice()));
        }
        record.set("text", &texts.join(","));
        record
    }
}

#[cold]
fn damaged(record: &Record) -> Failure {
    let ids = record.get("ids");
    let id = Array::is_array(&ids).then(|| Array::from(&ids).get(0).as_string()).flatten();
    let name = match id {
        Some(id) => format!("event \"{}\"", keys::plain_id(&id)),
        None => format!("event {}", record.count("seq") as Revision),
    };
    Failure::corrupt(name, "it is not as it was written")
}

fn marks_of(record: &Record) -> Option<Vec<f64>> {
    record.get("marks").dyn_ref::<Float64Array>().map(Float64Array::to_vec)
}

/// How many events a record holds that the window admits; a damaged one counts as one.
pub(super) fn admitted(record: &Record, window: Window) -> usize {
    let Some(marks) = marks_of(record) else {
        return usize::from(record.number("time").is_none_or(|time| window.admits(time)));
    };
    marks.iter().skip(2).step_by(MARKS).filter(|time| window.admits(**time)).count()
}

/// The record with only the events that a window admits, and of these without the first `skip`.
/// `None` if none is left. A damaged record stays whole: its reader is told.
pub(super) fn cut(record: Record, window: Window, skip: usize) -> Option<Record> {
    let admitted = admitted(&record, window);
    if admitted <= skip {
        return None;
    }
    let total = marks_of(&record).map_or(1, |marks| marks.len() / MARKS);
    if skip == 0 && admitted == total {
        return Some(record);
    }
    let Ok(mut page) = Page::read(&record) else {
        return Some(record);
    };
    let mut place = 0;
    page.rows.retain(|row| {
        let is_admitted = window.admits(row.timestamp);
        place += usize::from(is_admitted);
        is_admitted && place > skip
    });
    (!page.rows.is_empty()).then(|| page.record())
}

/// Records for new events of a session, by `seq`: pages where there are enough of them.
pub(super) fn records_of(number: f64, rows: Vec<EventRow<JavaScriptText>>) -> Vec<Record> {
    let mut records = Vec::new();
    let mut rest = rows;
    while !rest.is_empty() {
        let size = match rest.len() {
            PAGE.. => PAGE,
            SMALL_PAGE.. => rest.len(),
            _ => 1,
        };
        let later = rest.split_off(size);
        records.push(Page::new(number, rest).record());
        rest = later;
    }
    records
}
