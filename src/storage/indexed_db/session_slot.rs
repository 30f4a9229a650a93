//! A session within a group of writes: as it is stored, and as the writes so far leave it.

use std::mem;
use std::rc::Rc;

use js_sys::ArrayIntoIter;

use crate::session::{NEVER, Revision, SessionHead, SessionKey};
use crate::state::ScopedState;
use crate::storage::indexed_db::failure::Failure;
use crate::storage::indexed_db::page::{PAGE, Page, records_of};
use crate::storage::indexed_db::record::Record;
use crate::storage::indexed_db::schema::{EVENTS, SESSIONS};
use crate::storage::indexed_db::transaction::Transaction;
use crate::storage::javascript_text::JavaScriptText;
use crate::storage::{EventRow, SessionChange, Target};

type Row = EventRow<JavaScriptText>;

/// See the module.
pub(super) struct SessionSlot {
    pub(super) key: SessionKey,
    pub(super) record: Option<Record>,
    /// Read where it is to be changed.
    state: Option<ScopedState>,
    /// The lowest revision after which somebody wants to know the changes.
    pub(super) since: Revision,
    /// Whether anything was written.
    pub(super) is_changed: bool,
    /// Stored events that somebody asked for.
    pages: Vec<StoredPage>,
    /// Events that are to be added, by `seq`.
    new: Vec<Row>,
}

struct StoredPage {
    page: Page,
    is_changed: bool,
}

impl SessionSlot {
    pub(super) fn new(key: SessionKey) -> Self {
        Self {
            key,
            record: None,
            state: None,
            since: NEVER,
            is_changed: false,
            pages: Vec::new(),
            new: Vec::new(),
        }
    }

    pub(super) fn is(&self, target: &Target) -> bool {
        let SessionKey { app_name, user_id, session_id } = &self.key;
        target.session_id.as_ref() == Some(session_id)
            && target.user_id.as_ref() == Some(user_id)
            && target.app_name == *app_name
    }

    /// Takes over what an earlier write left, and returns the record that must then be stored. `None`
    /// where it does not tell, or where somebody wants to know of changes before it.
    pub(super) fn resume(&mut self, left: &mut [Self]) -> Option<Record> {
        let left = left.iter_mut().find(|left| left.key == self.key)?;
        let record = left.record.take().filter(|record| record.revision() <= self.since)?;
        self.record = Some(record.copy());
        self.state = left.state.take();
        Some(record)
    }

    pub(super) fn read(&mut self, answers: &mut ArrayIntoIter) {
        self.record = Record::next(answers);
        self.state = None;
    }

    /// `None` where there is no session; one that was damaged by hand is `corrupt_record`.
    pub(super) fn head(&self) -> Result<Option<SessionHead>, Failure> {
        self.record.as_ref().map(Record::head).transpose()
    }

    /// Reads the state, where that was not done yet.
    pub(super) fn read_state(&mut self) -> Result<(), Failure> {
        if self.state.is_none() {
            let stored = self.record.as_ref().map(Record::state).transpose()?;
            self.state = Some(stored.unwrap_or_default());
        }
        Ok(())
    }

    /// Takes a page in that was read, if it is not known.
    pub(super) fn take_in(&mut self, page: Page) {
        if self.pages.iter().all(|known| known.page.seq() != page.seq()) {
            self.pages.push(StoredPage { page, is_changed: false });
        }
    }

    /// Those that a write wants of the events which were read or are to be added: the ones with
    /// the ids, or the ones written after a revision.
    pub(super) fn events(&self, ids: &[Rc<str>], since: Revision) -> Vec<Row> {
        let mut events = Vec::new();
        let read = self.pages.iter().map(|stored| &stored.page.rows);
        for rows in read.chain([&self.new]) {
            for row in rows {
                if row.revision > since || ids.contains(&row.id) {
                    events.push(row.clone());
                }
            }
        }
        events
    }

    /// Takes a change of the session in, and events: added, or in the place of those that have
    /// their ids.
    pub(super) fn change(&mut self, change: SessionChange, events: Vec<Row>) {
        if let Some(record) = &self.record {
            record.set_head(change.head);
        }
        if let Some(state) = &mut self.state {
            state.apply(change.state);
        }
        self.is_changed = true;
        for event in events {
            self.write(event);
        }
    }

    fn write(&mut self, row: Row) {
        for stored in &mut self.pages {
            if let Some(known) = stored.page.rows.iter_mut().find(|known| known.id == row.id) {
                *known = row;
                stored.is_changed = true;
                return;
            }
        }
        match self.new.iter_mut().find(|known| known.id == row.id) {
            Some(known) => *known = row,
            None => self.new.push(row),
        }
    }

    /// Puts what has changed; returns whether there are enough single events for a page.
    pub(super) fn put(&mut self, transaction: &Transaction) -> bool {
        let pages = mem::take(&mut self.pages);
        let new = mem::take(&mut self.new);
        let Some(record) = self.record.as_ref().filter(|_| self.is_changed) else {
            return false;
        };
        let mut is_replaced = new.iter().any(|row| row.seq != row.revision);
        for stored in pages.iter().filter(|stored| stored.is_changed) {
            transaction.put(EVENTS, &stored.page.record());
            is_replaced = true;
        }
        if is_replaced {
            record.set_number("replaced", record.count("revision"));
        }
        let mut open = record.count("open");
        for added in records_of(record.count("number"), new) {
            // Not `put`: where there is something already, something is wrong.
            transaction.add(EVENTS, &added);
            open += 1.0;
        }
        record.set_number("open", open);
        if let Some(state) = &self.state {
            record.set_state(state);
        }
        transaction.put(SESSIONS, record);
        open >= PAGE as f64
    }
}
