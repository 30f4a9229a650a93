//! An app or a user within a group of writes: its state and its count of sessions, as they are
//! stored, and as the writes so far leave them.

use js_sys::ArrayIntoIter;
use wasm_bindgen::JsValue;

use crate::storage::indexed_db::connection::transaction::Transaction;
use crate::storage::indexed_db::records::failure::Failure;
use crate::storage::indexed_db::records::keys;
use crate::storage::indexed_db::records::object::Record;
use crate::storage::indexed_db::records::schema::STATES;
use crate::storage::{ScopeChange, ScopeRow};

/// See the module.
pub(crate) struct OwnerSlot {
    app_name: String,
    /// `None`: the app.
    user_id: Option<String>,
    /// Both as the store has them.
    key: JsValue,
    pub(crate) wants_state: bool,
    /// A record of our own, in which what changes is set before it is put.
    stored: Option<Record>,
    /// What is stored, where it was read, and what has become of it.
    pub(crate) row: Option<ScopeRow>,
    is_changed: bool,
    /// Whether all that is from an earlier write, and not read since.
    is_left: bool,
    /// Whether this write is about it.
    pub(crate) is_wanted: bool,
    pub(crate) new_sessions: f64,
}

impl OwnerSlot {
    pub(crate) fn new(app_name: &str, user_id: Option<&str>) -> Self {
        Self {
            app_name: app_name.to_owned(),
            user_id: user_id.map(str::to_owned),
            key: keys::scope(app_name, user_id),
            wants_state: false,
            stored: None,
            row: None,
            is_changed: false,
            is_left: false,
            is_wanted: false,
            new_sessions: 0.0,
        }
    }

    /// Leaves it for another write.
    pub(crate) fn leave(&mut self) {
        self.wants_state = false;
        self.is_wanted = false;
        self.is_changed = false;
        self.is_left = true;
        self.new_sessions = 0.0;
    }

    pub(crate) fn is(&self, app_name: &str, user_id: Option<&str>) -> bool {
        self.app_name == app_name && self.user_id.as_deref() == user_id
    }

    pub(crate) fn ask(&self, transaction: &Transaction) {
        transaction.get(STATES, &self.key);
    }

    pub(crate) fn read(&mut self, answers: &mut ArrayIntoIter) {
        self.stored = Record::next(answers);
        self.row = None;
        self.is_left = false;
    }

    /// The record that must be stored for what an earlier write left to hold. `None` where it does not
    /// tell, or where there is no state: that takes the floor, which is not left.
    pub(crate) fn left(&self) -> Option<&Record> {
        self.stored.as_ref().filter(|_| self.is_left && self.row.is_some())
    }

    /// Whether a state was looked for that is not there.
    pub(crate) fn misses_state(&self) -> bool {
        self.wants_state && !self.stored.as_ref().is_some_and(Record::has_state)
    }

    /// Reads the stored state, where it was not read yet.
    pub(crate) fn read_state(&mut self) -> Result<(), Failure> {
        if let Some(stored) = self.stored.as_ref().filter(|_| self.row.is_none()) {
            self.row = stored.scope_row()?;
        }
        Ok(())
    }

    pub(crate) fn change(&mut self, change: ScopeChange) {
        let row = self.row.get_or_insert_default();
        row.revision = change.revision;
        row.state.apply(change.state);
        self.is_changed = true;
    }

    pub(crate) fn put(&mut self, transaction: &Transaction) {
        if !self.is_changed && self.new_sessions == 0.0 {
            return;
        }
        let is_new = self.stored.is_none();
        let record = self.stored.get_or_insert_with(|| Record::scope(&self.key));
        if let Some(row) = self.row.as_ref().filter(|_| self.is_changed) {
            record.set_number("revision", row.revision as f64);
            record.set_state(&row.state);
        }
        if is_new || self.new_sessions > 0.0 {
            record.add_sessions(self.new_sessions);
        }
        transaction.put(STATES, record);
    }
}
