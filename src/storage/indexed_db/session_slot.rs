//! A session within a group of writes: as it is stored, and as the writes so far leave it.

use std::rc::Rc;

use crate::session::{NEVER, Revision, SessionHead, SessionKey};
use crate::state::ScopedState;
use crate::storage::EventRow;
use crate::storage::indexed_db::failure::Failure;
use crate::storage::indexed_db::page::{PAGE, Page, records_of};
use crate::storage::indexed_db::record::SessionRecord;
use crate::storage::indexed_db::schema::{EVENTS, SESSIONS};
use crate::storage::indexed_db::transaction::Transaction;
use crate::storage::javascript_text::JavaScriptText;

type Row = EventRow<JavaScriptText>;

/// See the module.
pub(super) struct SessionSlot {
    pub(super) key: SessionKey,
    pub(super) stored: Option<Result<SessionRecord, Failure>>,
    /// Read where it is to be changed.
    pub(super) state: Option<Result<ScopedState, Failure>>,
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
            stored: None,
            state: None,
            since: NEVER,
            is_changed: false,
            pages: Vec::new(),
            new: Vec::new(),
        }
    }

    /// The stored record, where there is one that can be read.
    pub(super) fn record(&self) -> Option<&SessionRecord> {
        self.stored.as_ref()?.as_ref().ok()
    }

    pub(super) fn head(&self) -> Option<SessionHead> {
        self.record().map(|record| record.head)
    }

    /// Takes a page in that was read, if it is not known.
    pub(super) fn take_in(&mut self, page: Page) {
        if self.pages.iter().all(|known| known.page.seq() != page.seq()) {
            self.pages.push(StoredPage { page, is_changed: false });
        }
    }

    fn rows(&self) -> impl Iterator<Item = &Row> {
        self.pages.iter().flat_map(|stored| &stored.page.rows).chain(&self.new)
    }

    /// The events with these ids, among those that were read or are to be added.
    pub(super) fn events(&self, ids: &[Rc<str>]) -> Vec<Row> {
        let mut events = Vec::new();
        for id in ids {
            events.extend(self.rows().find(|row| row.id == *id).cloned());
        }
        events
    }

    pub(super) fn changed(&self, since: Revision) -> Vec<Row> {
        if since == NEVER {
            return Vec::new();
        }
        self.rows().filter(|row| row.revision > since).cloned().collect()
    }

    /// Adds an event, or replaces the one that has its id.
    pub(super) fn write(&mut self, row: Row) {
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
    pub(super) fn put(self, transaction: &Transaction) -> Result<bool, Failure> {
        let Some(Ok(stored)) = self.stored else {
            return Ok(false);
        };
        let SessionRecord { record, head, number, .. } = stored;
        let replaced = self.pages.iter().any(|stored| stored.is_changed)
            || self.new.iter().any(|row| row.seq != row.revision);
        if replaced {
            record.set_number("replaced", head.revision as f64);
        }
        let mut open = record.count("open");
        let events = transaction.store(EVENTS)?;
        for added in records_of(number, self.new) {
            // Not `put`: where there is something already, something is wrong.
            transaction.asked(events.add(&added))?;
            open += 1.0;
        }
        for stored in self.pages.iter().filter(|stored| stored.is_changed) {
            transaction.asked(events.put(&stored.page.record()))?;
        }
        record.set_number("open", open);
        if let Some(Ok(state)) = self.state {
            record.set_text("state", &state.to_json());
        }
        transaction.asked(transaction.store(SESSIONS)?.put(&record))?;
        Ok(open >= PAGE as f64)
    }
}
