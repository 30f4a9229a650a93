//! Deletes sessions and states. One range deletes all events of a session, without reading or
//! counting them.

use adk_session::session::Revision;
use adk_session::storage::{Call, Deletion};
use js_sys::{Array, ArrayIntoIter};
use wasm_bindgen::{JsCast, JsValue};

use crate::indexed_db::connection::access::Access;
use crate::indexed_db::connection::transaction::{Mode, Transaction};
use crate::indexed_db::records::failure::Failure;
use crate::indexed_db::records::keys;
use crate::indexed_db::records::schema::{EVENTS, META, SESSIONS, STATES};
use crate::indexed_db::writing::sequence::Sequence;
use crate::object::JsObject;

/// Deletes, and succeeds if there is nothing to delete. Returns the floor of revisions, or `None` if the
/// session is not as it was listed.
pub(crate) async fn delete(
    access: &Access,
    deletion: &Deletion,
    call: &dyn Call,
) -> Result<Option<Revision>, Failure> {
    access.run_with_retries(call, || delete_once(access, deletion, call)).await
}

async fn delete_once(
    access: &Access,
    deletion: &Deletion,
    call: &dyn Call,
) -> Result<Option<Revision>, Failure> {
    let stores: &[&str] = match deletion {
        Deletion::Session(_) | Deletion::UnchangedSession { .. } | Deletion::User { .. } => {
            &[META, SESSIONS, EVENTS, STATES]
        }
        Deletion::UserState { .. } | Deletion::AppState { .. } => &[META, SESSIONS, STATES],
    };
    let transaction = access.begin(Mode::Write, stores).await?;
    let removal = Removal::ask(&transaction, deletion);
    let results = transaction.results().await?;
    let mut results = results.into_iter();
    let sequence = Sequence::read(&mut results);
    sequence.check(&transaction).await?;
    call.check()?;
    let floor = removal.make(&transaction, sequence, results, deletion);
    transaction.commit().await?;
    Ok(floor)
}

/// A deletion in progress.
struct Removal {
    has_sessions: bool,
    /// Whether to delete the user's state, or the app's if no user is named.
    has_state: bool,
}

impl Removal {
    fn ask(transaction: &Transaction, deletion: &Deletion) -> Self {
        Sequence::ask(transaction);
        let (app_name, user_id, has_state) = match deletion {
            Deletion::Session(key) | Deletion::UnchangedSession { key, .. } => {
                (key.app_name(), Some(key.user_id()), false)
            }
            Deletion::User { app_name, user_id } | Deletion::UserState { app_name, user_id } => {
                (app_name.as_str(), Some(user_id.as_str()), true)
            }
            Deletion::AppState { app_name } => (app_name.as_str(), None, true),
        };
        let owner = keys::owner(app_name, user_id);
        let has_sessions = match deletion {
            Deletion::Session(key) | Deletion::UnchangedSession { key, .. } => {
                transaction.get_all(SESSIONS, &keys::session(key), None);
                true
            }
            Deletion::User { .. } => {
                // Not by an index: a session with a damaged time is in none.
                transaction.get_all(SESSIONS, &keys::within(&owner), None);
                true
            }
            Deletion::UserState { .. } | Deletion::AppState { .. } => false,
        };
        if has_sessions {
            transaction.get(STATES, &keys::owner(app_name, None));
        }
        transaction.get(STATES, &owner);
        Self { has_sessions, has_state }
    }

    fn make(
        self,
        transaction: &Transaction,
        mut sequence: Sequence,
        mut results: ArrayIntoIter,
        deletion: &Deletion,
    ) -> Option<Revision> {
        let mut deleted = 0.0;
        // The rows of the app, if it is not the owner, and of the owner.
        let mut rows = Vec::new();
        if self.has_sessions {
            let records: Array = results.next().unwrap_or_default().unchecked_into();
            if let Deletion::UnchangedSession { .. } = deletion {
                let record = JsObject::next(&mut records.clone().into_iter());
                record.filter(|record| record.is_unchanged(deletion))?;
            }
            for record in records.iter().filter_map(JsObject::found) {
                sequence.raise_floor(&record);
                transaction.delete(SESSIONS, &keys::session(&record.session_key()));
                // If the number is damaged, nothing shows which events are the session's.
                if let Some(number) = record.session_number() {
                    let records = keys::within(&Array::of1(&JsValue::from_f64(number)));
                    transaction.delete(EVENTS, &records);
                }
                deleted += 1.0;
            }
            rows.push((JsObject::next(&mut results), false));
        }
        rows.push((JsObject::next(&mut results), self.has_state));
        for (row, loses_state) in rows {
            let Some(mut row) = row else {
                continue;
            };
            let loses_state = loses_state && row.has_state();
            if loses_state {
                sequence.raise_floor(&row);
                let rest = JsObject::owner(&row.get("key"));
                rest.add_sessions(row.count("sessions"));
                row = rest;
            }
            if loses_state || deleted > 0.0 {
                row.add_sessions(-deleted);
                put_or_delete(transaction, &row);
            }
        }
        sequence.put(transaction);
        Some(sequence.floor())
    }
}

/// Puts the row of an app or a user, or deletes it if it holds neither state nor sessions.
fn put_or_delete(transaction: &Transaction, row: &JsObject) {
    if row.has_state() || row.count("sessions") > 0.0 {
        transaction.put(STATES, row);
    } else {
        transaction.delete(STATES, &row.get("key"));
    }
}
