//! What is counted for the whole database.

use js_sys::ArrayIntoIter;

use crate::session::Revision;
use crate::storage::indexed_db::record::Record;
use crate::storage::indexed_db::schema::META;
use crate::storage::indexed_db::transaction::Transaction;

const KEY: &str = "sequence";

/// The next session's number, and the highest revision that was ever deleted.
pub(super) struct Sequence {
    record: Record,
    is_changed: bool,
}

impl Sequence {
    pub(super) fn ask(transaction: &Transaction) {
        transaction.get(META, &KEY.into());
    }

    pub(super) fn read(answers: &mut ArrayIntoIter) -> Self {
        let record = Record::next(answers).unwrap_or_else(|| {
            let record = Record::empty();
            record.set_text("key", KEY);
            record.set_number("next", 1.0);
            record.set_number("floor", 0.0);
            record
        });
        Self { record, is_changed: false }
    }

    pub(super) fn floor(&self) -> Revision {
        self.record.count("floor") as Revision
    }

    /// A number that no session has or had.
    pub(super) fn next(&mut self) -> f64 {
        let number = self.record.count("next").max(1.0);
        self.record.set_number("next", number + 1.0);
        self.is_changed = true;
        number
    }

    /// Takes the revision of what is deleted.
    pub(super) fn raise_floor(&mut self, deleted: &Record) {
        let revision = deleted.count("revision");
        if revision > self.record.count("floor") {
            self.record.set_number("floor", revision);
            self.is_changed = true;
        }
    }

    pub(super) fn put(&self, transaction: &Transaction) {
        if self.is_changed {
            transaction.put(META, &self.record);
        }
    }
}
