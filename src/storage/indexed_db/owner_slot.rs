//! An app or a user within a group of writes: its state and its count of sessions, as they are
//! stored, and as the writes so far leave them.

use js_sys::ArrayIntoIter;

use crate::storage::indexed_db::failure::Failure;
use crate::storage::indexed_db::keys;
use crate::storage::indexed_db::record::Record;
use crate::storage::indexed_db::schema::{COUNTS, STATES};
use crate::storage::indexed_db::sequence::put_count;
use crate::storage::indexed_db::transaction::Transaction;
use crate::storage::{ScopeChange, ScopeRow};

/// See the module.
pub(super) struct OwnerSlot {
    app_name: String,
    /// `None`: the app.
    user_id: Option<String>,
    pub(super) wants_state: bool,
    pub(super) wants_count: bool,
    stored: Option<Record>,
    /// What is stored, where it was read, and what has become of it.
    pub(super) row: Option<ScopeRow>,
    is_changed: bool,
    stored_sessions: f64,
    pub(super) new_sessions: f64,
}

impl OwnerSlot {
    pub(super) fn new(app_name: &str, user_id: Option<&str>) -> Self {
        Self {
            app_name: app_name.to_owned(),
            user_id: user_id.map(str::to_owned),
            wants_state: false,
            wants_count: false,
            stored: None,
            row: None,
            is_changed: false,
            stored_sessions: 0.0,
            new_sessions: 0.0,
        }
    }

    pub(super) fn is(&self, app_name: &str, user_id: Option<&str>) -> bool {
        self.app_name == app_name && self.user_id.as_deref() == user_id
    }

    pub(super) fn ask(&self, transaction: &Transaction) {
        let key = keys::scope(&self.app_name, self.user_id.as_deref());
        if self.wants_state {
            transaction.get(STATES, &key);
        }
        if self.wants_count {
            transaction.get(COUNTS, &key);
        }
    }

    pub(super) fn read(&mut self, answers: &mut ArrayIntoIter) {
        if self.wants_state {
            self.stored = Record::next(answers);
            self.row = None;
        }
        if self.wants_count {
            let count = Record::next(answers);
            self.stored_sessions = count.map_or(0.0, |count| count.count("sessions"));
        }
    }

    /// Takes over what an earlier write left, and returns the record that must then be stored. `None`
    /// where it does not tell.
    pub(super) fn resume(&mut self, left: &mut [Self]) -> Option<Record> {
        let mut left = left.iter_mut();
        let left = left.find(|left| left.is(&self.app_name, self.user_id.as_deref()))?;
        self.stored = left.stored.clone();
        self.row = left.row.take();
        left.stored.take()
    }

    /// Whether a state was looked for that is not there.
    pub(super) fn misses_state(&self) -> bool {
        self.wants_state && self.stored.is_none()
    }

    /// Reads the stored state, where it was not read yet.
    pub(super) fn read_state(&mut self) -> Result<(), Failure> {
        if let Some(stored) = self.stored.as_ref().filter(|_| self.row.is_none()) {
            self.row = Some(stored.scope_row()?);
        }
        Ok(())
    }

    pub(super) fn change(&mut self, change: ScopeChange) {
        let row = self.row.get_or_insert_default();
        row.revision = change.revision;
        row.state.apply(change.state);
        self.is_changed = true;
    }

    pub(super) fn put(&mut self, transaction: &Transaction) {
        let key = keys::scope(&self.app_name, self.user_id.as_deref());
        if let Some(row) = self.row.as_ref().filter(|_| self.is_changed) {
            let record = Record::empty();
            record.set("key", &key);
            record.set_number("revision", row.revision as f64);
            record.set_state(&row.state);
            transaction.put(STATES, &record);
            self.stored = Some(record);
        }
        if self.new_sessions > 0.0 {
            put_count(transaction, &key, self.stored_sessions + self.new_sessions);
        }
    }
}
