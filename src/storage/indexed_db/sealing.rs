//! Putting single events together into pages.
//!
//! One transaction: a crash within leaves the events as they were, all of them and each once. What
//! is sealed stands before everything that is still open, so a session's record only has to say
//! where that ends.

use js_sys::Array;

use crate::session::SessionKey;
use crate::storage::indexed_db::access::Access;
use crate::storage::indexed_db::failure::Failure;
use crate::storage::indexed_db::keys;
use crate::storage::indexed_db::page::{PAGE, Page};
use crate::storage::indexed_db::record::Record;
use crate::storage::indexed_db::schema::{EVENTS, SESSIONS};
use crate::storage::indexed_db::transaction::result;

/// Records to look at in one go, at the most.
const LARGEST: u32 = 4 * PAGE as u32;

/// Seals the open events of a session, but for the last ones that fill no page.
pub(super) async fn seal(access: &Access, key: &SessionKey) -> Result<(), Failure> {
    access.once(Box::pin(seal_once(access, key))).await
}

async fn seal_once(access: &Access, key: &SessionKey) -> Result<(), Failure> {
    let throws = |thrown| Failure::of_transaction(&thrown);
    let transaction = access.begin(&[SESSIONS, EVENTS], access.writing()).await?;
    let (sessions, events) = (transaction.store(SESSIONS)?, transaction.store(EVENTS)?);
    let request = transaction.asked(sessions.get(&keys::session(key)))?;
    transaction.answered().await?;
    let Some(session) = Record::found(result(&request)?) else {
        return Ok(());
    };
    let number = session.count("number");
    let open = keys::from(number, session.count("sealed") + 1.0).map_err(throws)?;
    let request = transaction.asked(events.get_all_with_key_and_limit(&open, LARGEST))?;
    transaction.answered().await?;
    let records = Array::from(&result(&request)?);

    let mut sealed = session.count("sealed");
    // Records that are to become a page, and how many of all there are.
    let mut gathered: Vec<Page> = Vec::new();
    let mut left = session.count("open");
    for record in records.iter().filter_map(Record::found) {
        let seq = record.count("seq");
        let is_damaged = match Page::read(&record) {
            Ok(page) => {
                gathered.push(page);
                false
            }
            // It stays where it is, for its reader to be told. What was gathered stays as well.
            Err(_) => true,
        };
        let size: usize = gathered.iter().map(|page| page.rows.len()).sum();
        if !is_damaged && size < PAGE {
            continue;
        }
        left -= gathered.len() as f64 + f64::from(u8::from(is_damaged));
        sealed = seq;
        let [first, _, ..] = gathered.as_slice() else {
            // A full page already.
            gathered.clear();
            continue;
        };
        if !is_damaged {
            let range = keys::span(number, first.seq() as f64, seq).map_err(throws)?;
            transaction.asked(events.delete(&range))?;
            let rows = gathered.drain(..).flat_map(|page| page.rows).collect();
            transaction.asked(events.put(&Page::new(number, rows).record()))?;
        }
        gathered.clear();
    }
    session.set_number("sealed", sealed);
    session.set_number("open", left.max(0.0));
    transaction.asked(sessions.put(&session))?;
    transaction.commit().await
}
