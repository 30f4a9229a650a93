//! Putting single events together into pages.
//!
//! One transaction: a crash within leaves the events as they were, all of them and each once. What
//! is sealed stands before everything that is still open, so a session's record only has to say
//! where that ends.

use js_sys::Array;
use wasm_bindgen::{JsCast, JsValue};

use crate::session::SessionKey;
use crate::storage::indexed_db::connection::access::Access;
use crate::storage::indexed_db::connection::transaction::Transaction;
use crate::storage::indexed_db::records::failure::Failure;
use crate::storage::indexed_db::records::keys;
use crate::storage::indexed_db::records::object::Record;
use crate::storage::indexed_db::records::page::{PAGE, PAGE_TEXT, Page};
use crate::storage::indexed_db::records::schema::{EVENTS, SESSIONS};

/// Records to look at in one transaction, at most.
const LARGEST: u32 = 4 * PAGE as u32;

/// UTF-16 code units of texts to read in one transaction, about: more than one page.
const LARGEST_TEXT: u32 = 16 * PAGE_TEXT;

/// Records to read at once as long as nothing tells how large they are.
const FIRST: u32 = 8;

/// Seals the open events of a session, but for the last ones that fill no page.
pub(crate) async fn seal(access: &Access, key: &SessionKey) -> Result<JsValue, Failure> {
    access.once(Box::pin(seal_once(access, key))).await
}

async fn seal_once(access: &Access, key: &SessionKey) -> Result<JsValue, Failure> {
    let transaction = access.write(&keys::list(&[SESSIONS, EVENTS])).await?;
    transaction.get(SESSIONS, &keys::session(key));
    if let Some(session) = Record::found(transaction.answered().await?.get(0)) {
        session.head()?;
        let mut sealing = Sealing::of(&transaction, session);
        let mut size = FIRST;
        loop {
            transaction.get_all(EVENTS, &sealing.rest(), Some(size));
            let records: Array = transaction.answered().await?.pop().unchecked_into();
            sealing.take(&records);
            if records.length() < size {
                // All were read, whatever the session's record says of their number.
                sealing.left = sealing.gathered;
                break;
            }
            if sealing.is_enough() {
                break;
            }
            size = sealing.next_size();
        }
        sealing.finish();
        // The single events go with the commit: not before their page is known to be there.
        transaction.answered().await?;
        transaction.commit().await?;
    }
    Ok(JsValue::UNDEFINED)
}

struct Sealing<'a> {
    transaction: &'a Transaction,
    session: Record,
    number: f64,
    /// The last `seq` that is sealed, and the last one that was read.
    sealed: f64,
    read: f64,
    /// Open records.
    left: f64,
    /// The page that some records are to become, the first one's `seq`, and how many there are.
    page: Page,
    first: f64,
    gathered: f64,
    /// Records that were read, and the length of their texts.
    records: u32,
    length: u32,
}

impl<'a> Sealing<'a> {
    fn of(transaction: &'a Transaction, session: Record) -> Self {
        let (number, sealed) = (session.count("number"), session.count("sealed"));
        Self {
            transaction,
            number,
            sealed,
            read: sealed,
            left: session.count("open"),
            page: Page::empty(number),
            first: 0.0,
            gathered: 0.0,
            records: 0,
            length: 0,
            session,
        }
    }

    /// The range that was not read yet.
    fn rest(&self) -> JsValue {
        keys::from(self.number, self.read + 1.0)
    }

    fn is_enough(&self) -> bool {
        self.records >= LARGEST || self.length >= LARGEST_TEXT
    }

    /// How many records to read next, if they are as large as those before.
    fn next_size(&self) -> u32 {
        let average = self.length / self.records.max(1) + 1;
        let rest = LARGEST_TEXT.saturating_sub(self.length) / average;
        rest.min(LARGEST.saturating_sub(self.records)).max(1)
    }

    fn take(&mut self, records: &Array) {
        for record in records.iter().filter_map(Record::found) {
            let seq = record.count("seq");
            self.records += 1;
            match Page::read(&record) {
                Ok(page) => {
                    self.length = self.length.saturating_add(page.length());
                    if self.gathered > 0.0 && !self.page.has_room(page.length()) {
                        self.close();
                    }
                    if self.gathered == 0.0 {
                        self.first = seq;
                    }
                    self.gathered += 1.0;
                    self.page.append(page);
                    self.read = seq;
                    if !self.page.has_room(0) {
                        self.close();
                    }
                }
                // It stays where it is, for its reader to be told. What was gathered stays as well.
                Err(_) => {
                    self.gathered += 1.0;
                    self.read = seq;
                    self.leave();
                }
            }
        }
    }

    /// Seals what was gathered.
    fn close(&mut self) {
        // One alone is a full page already.
        if self.gathered > 1.0 {
            let record = self.page.record();
            let singles = keys::span(self.number, self.first, self.read);
            self.transaction.delete(EVENTS, &singles);
            self.transaction.put(EVENTS, &record);
        }
        self.leave();
    }

    /// Leaves what was gathered as it is.
    fn leave(&mut self) {
        self.page = Page::empty(self.number);
        self.left -= self.gathered;
        self.gathered = 0.0;
        self.sealed = self.read;
    }

    fn finish(&self) {
        self.session.set_number("sealed", self.sealed);
        self.session.set_number("open", self.left.max(0.0));
        self.transaction.put(SESSIONS, &self.session);
    }
}
