//! Putting single events together into pages.
//!
//! One transaction: a crash within leaves the events as they were, all of them and each once. What
//! is sealed stands before everything that is still open, so a session's record only has to say
//! where that ends.

use js_sys::Array;
use wasm_bindgen::{JsCast, JsValue};

use crate::session::SessionKey;
use crate::storage::indexed_db::access::Access;
use crate::storage::indexed_db::failure::Failure;
use crate::storage::indexed_db::keys;
use crate::storage::indexed_db::page::{PAGE, Page};
use crate::storage::indexed_db::record::Record;
use crate::storage::indexed_db::schema::{EVENTS, SESSIONS};
use crate::storage::indexed_db::transaction::Transaction;

/// Records to look at in one go, at the most.
const LARGEST: u32 = 4 * PAGE as u32;

/// Seals the open events of a session, but for the last ones that fill no page.
pub(super) async fn seal(access: &Access, key: &SessionKey) -> Result<JsValue, Failure> {
    access.once(Box::pin(seal_once(access, key))).await
}

async fn seal_once(access: &Access, key: &SessionKey) -> Result<JsValue, Failure> {
    let transaction = access.write(&keys::list(&[SESSIONS, EVENTS])).await?;
    transaction.get(SESSIONS, &keys::session(key));
    if let Some(session) = Record::found(transaction.answered().await?.get(0)) {
        let open = keys::from(session.count("number"), session.count("sealed") + 1.0);
        transaction.get_all(EVENTS, &open, Some(LARGEST));
        let records = transaction.answered().await?.get(0);
        put_together(&transaction, &session, records);
        transaction.commit().await?;
    }
    Ok(JsValue::UNDEFINED)
}

fn put_together(transaction: &Transaction, session: &Record, records: JsValue) {
    let number = session.count("number");
    let mut sealed = session.count("sealed");
    let mut left = session.count("open");
    // The page that some records are to become, the first one's `seq`, and how many there are.
    let mut page = Page::new(number, Vec::new());
    let (mut first, mut gathered) = (0.0, 0.0);
    for record in records.unchecked_into::<Array>().iter().filter_map(Record::found) {
        let seq = record.count("seq");
        first = if page.rows.is_empty() { seq } else { first };
        gathered += 1.0;
        let is_damaged = match Page::read(&record) {
            Ok(mut read) => {
                page.rows.append(&mut read.rows);
                false
            }
            // It stays where it is, for its reader to be told. What was gathered stays as well.
            Err(_) => true,
        };
        if !is_damaged && page.rows.len() < PAGE {
            continue;
        }
        left -= gathered;
        sealed = seq;
        // One alone is a full page already.
        if !is_damaged && gathered > 1.0 {
            transaction.delete(EVENTS, &keys::span(number, first, seq));
            transaction.put(EVENTS, &page.record());
        }
        page.rows.clear();
        gathered = 0.0;
    }
    session.set_number("sealed", sealed);
    session.set_number("open", left.max(0.0));
    transaction.put(SESSIONS, session);
}
