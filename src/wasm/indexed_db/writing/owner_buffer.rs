//! An app or a user within a group of writes: its stored record, and its state and count of
//! sessions after the group's writes so far.

use adk_session::storage::{SharedChange, SharedRow};
use js_sys::ArrayIntoIter;
use wasm_bindgen::JsValue;

use crate::indexed_db::connection::transaction::Transaction;
use crate::indexed_db::records::failure::Failure;
use crate::indexed_db::records::keys;
use crate::indexed_db::records::schema::STATES;
use crate::object::JsObject;

/// An app's or user's record and state within a group.
pub(crate) struct OwnerBuffer {
    app_name: String,
    /// `None` for the app itself.
    user_id: Option<String>,
    /// The key in the store.
    key: JsValue,
    pub(crate) wants_state: bool,
    /// Our copy of the stored record; `put` sets the changes in it.
    stored: Option<JsObject>,
    /// The state, once read, with the changes of the group's writes so far.
    pub(crate) row: Option<SharedRow>,
    is_changed: bool,
    pub(crate) new_sessions: f64,
}

impl OwnerBuffer {
    pub(crate) fn new(app_name: &str, user_id: Option<&str>) -> Self {
        Self {
            app_name: app_name.to_owned(),
            user_id: user_id.map(str::to_owned),
            key: keys::owner(app_name, user_id),
            wants_state: false,
            stored: None,
            row: None,
            is_changed: false,
            new_sessions: 0.0,
        }
    }

    pub(crate) fn is(&self, app_name: &str, user_id: Option<&str>) -> bool {
        self.app_name == app_name && self.user_id.as_deref() == user_id
    }

    pub(crate) fn ask(&self, transaction: &Transaction) {
        transaction.get(STATES, &self.key);
    }

    pub(crate) fn read(&mut self, results: &mut ArrayIntoIter) {
        self.stored = JsObject::next(results);
    }

    /// Whether a member needs a state that is not stored.
    pub(crate) fn misses_state(&self) -> bool {
        self.wants_state && !self.stored.as_ref().is_some_and(JsObject::has_state)
    }

    /// Reads the stored state, unless it was read already.
    pub(crate) fn read_state(&mut self) -> Result<(), Failure> {
        if let Some(stored) = self.stored.as_ref().filter(|_| self.row.is_none()) {
            self.row = stored.shared_row()?;
        }
        Ok(())
    }

    pub(crate) fn change(&mut self, change: SharedChange) {
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
        let record = self.stored.get_or_insert_with(|| JsObject::owner(&self.key));
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
