//! A session within a group of writes: its stored record, and its data after the group's writes so
//! far.

use std::mem;
use std::sync::Arc;

use adk_session::internals::NameMap;
use adk_session::session::{NEVER, Revision, SessionHead, SessionKey};
use adk_session::state::ScopedState;
use adk_session::write::{EventRow, SessionChange, Target};
use js_sys::ArrayIntoIter;
use wasm_bindgen::JsValue;

use crate::indexed_db::connection::transaction::Transaction;
use crate::indexed_db::records::failure::Failure;
use crate::indexed_db::records::keys;
use crate::indexed_db::records::page::{PAGE, PageRecord, new_pages_of, pages_of};
use crate::indexed_db::records::schema::{EVENTS, SESSIONS};
use crate::object::JsObject;

/// A session's record, data and events within a group.
pub(crate) struct SessionBuffer {
    pub(crate) key: SessionKey,
    /// The session's key in the store.
    path: JsValue,
    /// The record as it was stored, until `put` changes it.
    pub(crate) record: Option<JsObject>,
    /// Read from the record when they are first needed.
    counters: Option<Counters>,
    /// Read from the record when a write is to see or change it.
    state: Option<ScopedState>,
    /// The lowest revision after which a member needs the changed events.
    pub(crate) since: Revision,
    /// Whether the group changes the session.
    pub(crate) is_changed: bool,
    /// The stored events that were read.
    pages: Vec<BufferedRecord>,
    /// New events, by `seq`.
    new: Vec<EventRow>,
    /// The position of each of these events, by id.
    indexes: NameMap<RowIndex>,
}

#[derive(Clone, Copy, Default)]
struct RowIndex {
    /// The index of the page; `None` for a new event.
    page: Option<usize>,
    row: usize,
}

/// The session's revisions, number and count of open records, after the group's writes so far.
struct Counters {
    head: SessionHead,
    number: f64,
    open: f64,
}

struct BufferedRecord {
    page: PageRecord,
    is_changed: bool,
}

impl SessionBuffer {
    pub(crate) fn new(key: SessionKey) -> Self {
        Self {
            path: keys::session(&key),
            key,
            record: None,
            counters: None,
            state: None,
            since: NEVER,
            is_changed: false,
            pages: Vec::new(),
            new: Vec::new(),
            indexes: NameMap::default(),
        }
    }

    pub(crate) fn is(&self, target: &Target) -> bool {
        target.session_id.as_deref() == Some(self.key.session_id())
            && target.user_id.as_deref() == Some(self.key.user_id())
            && target.app_name == self.key.app_name()
    }

    pub(crate) fn ask(&self, transaction: &Transaction) {
        transaction.get(SESSIONS, &self.path);
    }

    pub(crate) fn read(&mut self, results: &mut ArrayIntoIter) {
        self.record = JsObject::next(results);
    }

    /// Returns the session's head; `None` if there is no session. Fails with `corrupt_record` if it
    /// is damaged.
    pub(crate) fn head(&mut self) -> Result<Option<SessionHead>, Failure> {
        if let Some(record) = self.record.as_ref().filter(|_| self.counters.is_none()) {
            let (number, open) = (record.count("number"), record.count("open"));
            self.counters = Some(Counters { head: record.head()?, number, open });
        }
        Ok(self.counters.as_ref().map(|counters| counters.head))
    }

    /// Makes the record of a new session.
    pub(crate) fn create(&mut self, number: f64, token: f64, head: SessionHead) {
        self.record = Some(JsObject::session(&self.key, number, token, head));
        self.counters = Some(Counters { head, number, open: 0.0 });
    }

    /// Reads the state, unless it was read already.
    pub(crate) fn read_state(&mut self) -> Result<(), Failure> {
        if self.state.is_none() {
            let stored = self.record.as_ref().map(JsObject::state).transpose()?;
            self.state = Some(stored.unwrap_or_default());
        }
        Ok(())
    }

    /// Returns the state, if it was read.
    pub(crate) fn state(&self) -> Option<&ScopedState> {
        self.state.as_ref()
    }

    /// Adds a page that was read, unless it is known already.
    pub(crate) fn take_in(&mut self, page: PageRecord) {
        let first = page.rows.first();
        if first.is_some_and(|first| self.indexes.get(&first.id).is_some()) {
            return;
        }
        self.add_page(BufferedRecord { page, is_changed: false });
    }

    fn add_page(&mut self, stored: BufferedRecord) {
        for (row, event) in stored.page.rows.iter().enumerate() {
            self.set_index(&event.id, RowIndex { page: Some(self.pages.len()), row });
        }
        self.pages.push(stored);
    }

    /// Returns the events with those ids, among the events that were read or are new.
    pub(crate) fn events(&self, ids: &[Arc<str>]) -> Vec<EventRow> {
        let mut events = Vec::new();
        for id in ids {
            events.extend(self.indexes.get(id).and_then(|index| self.event(index)).cloned());
        }
        events
    }

    /// Returns the events written after a revision, among the same events.
    pub(crate) fn changed(&self, since: Revision) -> Vec<EventRow> {
        let mut changed = Vec::new();
        let read = self.pages.iter().map(|stored| &stored.page.rows);
        for rows in read.chain([&self.new]) {
            changed.extend(rows.iter().filter(|row| row.revision > since).cloned());
        }
        changed
    }

    fn event(&self, index: &RowIndex) -> Option<&EventRow> {
        match index.page {
            Some(page) => self.pages.get(page)?.page.rows.get(index.row),
            None => self.new.get(index.row),
        }
    }

    fn set_index(&mut self, id: &str, index: RowIndex) {
        if let Some(known) = self.indexes.get_or_default(id) {
            *known = index;
        }
    }

    /// Applies a member's change of the session, and its events. An event whose id is known
    /// replaces that event in place.
    pub(crate) fn change(&mut self, change: SessionChange, events: Vec<EventRow>) {
        if let Some(counters) = &mut self.counters {
            counters.head = change.head;
        }
        if let Some(state) = &mut self.state {
            state.apply(change.state);
        }
        if let Some(record) = &self.record {
            record.describe(change.description);
            record.add_markers(&change.markers);
        }
        self.is_changed = true;
        for event in events {
            self.write(event);
        }
    }

    fn write(&mut self, event: EventRow) {
        let Some(index) = self.indexes.get(&event.id).copied() else {
            self.set_index(&event.id, RowIndex { page: None, row: self.new.len() });
            self.new.push(event);
            return;
        };
        let known = match index.page {
            Some(page) => self.pages.get_mut(page).and_then(|stored| {
                stored.is_changed = true;
                stored.page.rows.get_mut(index.row)
            }),
            None => self.new.get_mut(index.row),
        };
        if let Some(known) = known {
            *known = event;
        }
    }

    /// Puts the changed records. Returns whether there are enough open records for a page.
    pub(crate) fn put(&mut self, transaction: &Transaction) -> bool {
        let pages = mem::take(&mut self.pages);
        let new = mem::take(&mut self.new);
        let record = self.record.as_ref().filter(|_| self.is_changed);
        let Some((record, counters)) = record.zip(self.counters.as_mut()) else {
            return false;
        };
        let SessionHead { revision, last_update_time, .. } = counters.head;
        let mut is_replaced = new.iter().any(|row| row.seq != row.revision);
        for stored in pages.into_iter().filter(|stored| stored.is_changed) {
            // Starts with the last page: it has the key of the old page and overwrites it.
            // Otherwise two records would hold an id, which the unique index refuses.
            for page in pages_of(counters.number, stored.page.rows).iter().rev() {
                transaction.put(EVENTS, &page.record());
            }
            is_replaced = true;
        }
        if is_replaced {
            record.set_number("replaced", revision as f64);
        }
        for added in new_pages_of(counters.number, new) {
            // Not `put`: if a record is there already, the data is damaged and the write must fail.
            transaction.add(EVENTS, &added.record());
            counters.open += 1.0;
        }
        record.set_session_number(counters.number);
        record.set_number("revision", revision as f64);
        record.set_number("lastUpdateTime", last_update_time.as_millis());
        record.set_number("open", counters.open);
        if let Some(state) = &self.state {
            record.set_state(state);
        }
        transaction.put(SESSIONS, record);
        counters.open >= PAGE as f64
    }
}
