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
const MARKS: u32 = 4;

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
        let marks = marks_of(record);
        let single = [
            record.count("seq"),
            record.number("revision").or(marks.as_ref().map(|_| 0.0))?,
            record.number("time")?,
            f64::from(text.length()),
        ];
        let mut rows = Vec::new();
        let mut start = 0;
        for (row, id) in ids.iter().enumerate().take(size_of(marks.as_ref())) {
            let [seq, revision, timestamp, end] = match &marks {
                Some(marks) => [0, 1, 2, 3].map(|mark| marks.get_index(row as u32 * MARKS + mark)),
                None => single,
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
        let mut marks = Vec::new();
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
        if let [row] = self.rows.as_slice() {
            record.set("text", row.text.as_ref());
        } else {
            record.set("marks", &Float64Array::from(marks.as_slice()));
            record.set("text", &texts.join(","));
        }
        record
    }
}

#[cold]
fn damaged(record: &Record) -> Failure {
    let id = Record::found(record.get("ids")).and_then(|ids| ids.get("0").as_string());
    let id = id.unwrap_or_default();
    Failure::corrupt(format!("event \"{}\"", keys::plain_id(&id)), "it is damaged")
}

fn marks_of(record: &Record) -> Option<Float64Array> {
    record.get("marks").dyn_into().ok()
}

/// How many events those marks are of.
fn size_of(marks: Option<&Float64Array>) -> usize {
    marks.map_or(1, |marks| (marks.length() / MARKS) as usize)
}

/// How many events a record holds that the window admits; a damaged one counts as one.
pub(super) fn admitted(record: &Record, window: Window) -> usize {
    let marks = marks_of(record);
    if window.after.is_none() {
        return size_of(marks.as_ref());
    }
    let Some(marks) = marks else {
        return usize::from(record.number("time").is_none_or(|time| window.admits(time)));
    };
    let mut admitted = 0;
    for time in (2..marks.length()).step_by(MARKS as usize) {
        admitted += usize::from(window.admits(marks.get_index(time)));
    }
    admitted
}

/// The record with only the events that a window admits, and of these without the first `skip`.
/// `None` if none is left. A damaged record stays whole: its reader is told.
pub(super) fn cut(record: Record, window: Window, skip: usize) -> Option<Record> {
    let admitted = admitted(&record, window);
    if admitted <= skip {
        return None;
    }
    if skip == 0 && admitted == size_of(marks_of(&record).as_ref()) {
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
