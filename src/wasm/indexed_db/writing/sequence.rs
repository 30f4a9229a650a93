//! Counters of the whole database.

use adk_session::internals;
use adk_session::session::Revision;
use js_sys::{Array, ArrayIntoIter};
use wasm_bindgen::{JsCast, JsValue};

use crate::indexed_db::connection::transaction::Transaction;
use crate::indexed_db::records::failure::Failure;
use crate::indexed_db::records::schema::{META, SESSIONS};
use crate::object::JsObject;

const KEY: &str = "sequence";

const NAME: &str = "sequence of session numbers";

/// The next session's number, and the floor: the highest revision that was ever deleted.
pub(crate) struct Sequence {
    record: JsObject,
    is_new: bool,
    is_changed: bool,
}

impl Sequence {
    pub(crate) fn ask(transaction: &Transaction) {
        transaction.get(META, &KEY.into());
    }

    pub(crate) fn read(results: &mut ArrayIntoIter) -> Self {
        if let Some(record) = JsObject::next(results) {
            return Self { record, is_new: false, is_changed: false };
        }
        let record = JsObject::empty();
        record.set_text("key", KEY);
        record.set_number("next", 1.0);
        record.set_number("floor", 0.0);
        Self { record, is_new: true, is_changed: false }
    }

    /// Fails with `corrupt_record` if the record is damaged, or if it is missing although there are
    /// sessions: a number in use could be given out again. The transaction must include the store
    /// of the sessions.
    pub(crate) async fn check(&self, transaction: &Transaction) -> Result<(), Failure> {
        let reason = if self.is_new {
            transaction.get_all(SESSIONS, &JsValue::UNDEFINED, Some(1));
            let sessions: Array = transaction.results().await?.pop().unchecked_into();
            (sessions.length() > 0).then_some("it is missing, and there are sessions")
        } else {
            let is_count = |member| self.record.counter(member).is_some();
            (!(is_count("next") && is_count("floor"))).then_some("it is damaged")
        };
        let fix = "; export the sessions, and delete the database";
        let corrupt = |reason| Failure::corrupt(NAME.into(), format!("{reason}{fix}"));
        reason.map_or(Ok(()), |reason| Err(corrupt(reason)))
    }

    pub(crate) fn floor(&self) -> Revision {
        self.record.count("floor") as Revision
    }

    /// Returns a number that no session has or had. It is at least the clock's milliseconds. So
    /// even if an old record was restored by hand, earlier sessions have lower numbers.
    pub(crate) fn next(&mut self) -> f64 {
        let number = self.record.count("next").max(internals::now().trunc());
        self.record.set_number("next", number + 1.0);
        self.is_changed = true;
        number
    }

    /// Raises the floor to the revision of a deleted record. A damaged revision is ignored, since
    /// it could leave no room for later ones.
    pub(crate) fn raise_floor(&mut self, deleted: &JsObject) {
        let revision = deleted.counter("revision").unwrap_or_default();
        if revision > self.record.count("floor") {
            self.record.set_number("floor", revision);
            self.is_changed = true;
        }
    }

    pub(crate) fn put(&self, transaction: &Transaction) {
        if self.is_changed {
            transaction.put(META, &self.record);
        }
    }
}
