//! Deleting sessions and states. A session's events go by one range: neither read nor counted,
//! however many there are.

use js_sys::Array;
use wasm_bindgen::{JsCast, JsValue};

use crate::session::Revision;
use crate::storage::Deletion;
use crate::storage::indexed_db::access::Access;
use crate::storage::indexed_db::failure::Failure;
use crate::storage::indexed_db::keys;
use crate::storage::indexed_db::record::Record;
use crate::storage::indexed_db::schema::{BY_USER, COUNTS, EVENTS, META, SESSIONS, STATES};
use crate::storage::indexed_db::sequence::{Sequence, put_count};
use crate::storage::indexed_db::transaction::Transaction;

/// Deletes; what is not there is no error. Returns the floor.
pub(super) async fn delete(access: &Access, deletion: &Deletion) -> Result<JsValue, Failure> {
    access.twice(&|| Box::pin(delete_once(access, deletion))).await
}

async fn delete_once(access: &Access, deletion: &Deletion) -> Result<JsValue, Failure> {
    let stores: &[&str] = match deletion {
        Deletion::Session(_) => &[META, SESSIONS, EVENTS, COUNTS],
        Deletion::User { .. } => &[META, SESSIONS, EVENTS, COUNTS, STATES],
        Deletion::UserState { .. } | Deletion::AppState { .. } => &[META, STATES],
    };
    let transaction = access.write(&keys::list(stores)).await?;
    let removal = Removal::ask(&transaction, deletion);
    let answers = transaction.answered().await?;
    let floor = removal.make(&transaction, &answers);
    transaction.commit().await?;
    Ok(JsValue::from_f64(floor as f64))
}

/// What is to be deleted.
struct Removal {
    app: JsValue,
    /// The user, or the app where no user is named.
    owner: JsValue,
    has_sessions: bool,
    has_state: bool,
}

impl Removal {
    fn ask(transaction: &Transaction, deletion: &Deletion) -> Self {
        Sequence::ask(transaction);
        let (app_name, user_id, has_state) = match deletion {
            Deletion::Session(key) => (&key.app_name, Some(&key.user_id), false),
            Deletion::User { app_name, user_id } | Deletion::UserState { app_name, user_id } => {
                (app_name, Some(user_id), true)
            }
            Deletion::AppState { app_name } => (app_name, None, true),
        };
        let app = keys::scope(app_name, None);
        let owner = keys::scope(app_name, user_id.map(String::as_str));
        let has_sessions = match deletion {
            Deletion::Session(key) => {
                transaction.get(SESSIONS, &keys::session(key));
                true
            }
            Deletion::User { .. } => {
                transaction.find(SESSIONS, BY_USER, &keys::within(&owner));
                true
            }
            Deletion::UserState { .. } | Deletion::AppState { .. } => false,
        };
        if has_sessions {
            transaction.get(COUNTS, &app);
            transaction.get(COUNTS, &owner);
        }
        if has_state {
            transaction.get(STATES, &owner);
        }
        Self { app, owner, has_sessions, has_state }
    }

    fn make(self, transaction: &Transaction, answers: &Array) -> Revision {
        let mut answers = answers.clone().into_iter();
        let mut sequence = Sequence::read(&mut answers);
        if self.has_sessions {
            // One record, or a list of them.
            let found = answers.next().unwrap_or_default();
            let records =
                if Array::is_array(&found) { found.unchecked_into() } else { Array::of1(&found) };
            let mut deleted = 0.0;
            for record in records.iter().filter_map(Record::found) {
                sequence.raise_floor(&record);
                transaction.delete(SESSIONS, &keys::session(&record.session_key()));
                let number = Array::of1(&JsValue::from_f64(record.count("number")));
                transaction.delete(EVENTS, &keys::within(&number));
                deleted += 1.0;
            }
            for key in [&self.app, &self.owner] {
                let count = Record::next(&mut answers).map_or(0.0, |count| count.count("sessions"));
                if deleted > 0.0 {
                    put_count(transaction, key, count - deleted);
                }
            }
        }
        if self.has_state
            && let Some(record) = Record::next(&mut answers)
        {
            sequence.raise_floor(&record);
            transaction.delete(STATES, &self.owner);
        }
        sequence.put(transaction);
        sequence.floor()
    }
}
