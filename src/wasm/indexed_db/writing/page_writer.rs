//! Puts single events together into page records.
//!
//! The work is one transaction: a crash leaves the events as they were, each stored exactly once.
//! The single events that are not in a page record yet are called open. They follow the events of all
//! page records, so a session's record stores only the `seq` at which these end.

use std::cell::RefCell;
use std::rc::Rc;

use adk_session::session::SessionKey;
use js_sys::Array;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::spawn_local;

use crate::indexed_db::connection::access::Access;
use crate::indexed_db::connection::transaction::{Mode, Transaction};
use crate::indexed_db::records::failure::Failure;
use crate::indexed_db::records::keys;
use crate::indexed_db::records::page::{PAGE, PAGE_TEXT, PageRecord};
use crate::indexed_db::records::schema::{EVENTS, SESSIONS};
use crate::object::JsObject;

/// The most records to read in one transaction.
const LARGEST: u32 = 4 * PAGE as u32;

/// About the most UTF-16 code units of text to read in one transaction: more than one page.
const LARGEST_TEXT: u32 = 16 * PAGE_TEXT;

/// How many records to read first, while their size is unknown.
const FIRST: u32 = 8;

/// Writes page records in the background, for each session at most once at a time.
pub(crate) struct PageWriter {
    access: Rc<Access>,
    /// The sessions whose page records are to be written, or are being written.
    pending: RefCell<Vec<SessionKey>>,
}

impl PageWriter {
    pub(crate) fn new(access: Rc<Access>) -> Rc<Self> {
        Rc::new(Self { access, pending: RefCell::default() })
    }

    /// Begins to write the page records of a session, unless it is among the pending ones.
    pub(crate) fn write_pages(self: &Rc<Self>, key: SessionKey) {
        if self.pending.borrow().contains(&key) {
            return;
        }
        self.pending.borrow_mut().push(key.clone());
        let page_writer = Rc::clone(self);
        spawn_local(async move {
            let access = &page_writer.access;
            let written = access.run_once(Box::pin(write_pages(access, &key)));
            // No caller waits for it. If it failed, the next append requests it again.
            drop(access.run_in_turn(Box::pin(written)).await);
            page_writer.pending.borrow_mut().retain(|pending| *pending != key);
        });
    }
}

/// Puts the open events of a session into page records, except the last ones if they do not fill a page.
async fn write_pages(access: &Access, key: &SessionKey) -> Result<(), Failure> {
    let transaction = access.begin(Mode::Write, &[SESSIONS, EVENTS]).await?;
    transaction.get(SESSIONS, &keys::session(key));
    if let Some(session) = JsObject::found(transaction.results().await?.get(0)) {
        session.head()?;
        let mut builder = PageBuilder::of(&transaction, session);
        let mut size = FIRST;
        loop {
            transaction.get_all(EVENTS, &builder.rest(), Some(size));
            let records: Array = transaction.results().await?.pop().unchecked_into();
            builder.gather(&records);
            if records.length() < size {
                // All open records were read: their number replaces the count in the session's
                // record.
                builder.remaining = builder.gathered;
                break;
            }
            if builder.is_enough() {
                break;
            }
            size = builder.next_size();
        }
        builder.finish();
        // The commit deletes the single events, so it waits until their page is known to be
        // written.
        transaction.results().await?;
        transaction.commit().await?;
    }
    Ok(())
}

struct PageBuilder<'a> {
    transaction: &'a Transaction,
    session: JsObject,
    number: f64,
    /// The last `seq` that is in a page record, and the last `seq` that was read.
    paged: f64,
    read: f64,
    /// How many open records remain.
    remaining: f64,
    /// The page that is being gathered, the `seq` of its first record, and how many records it has.
    page: PageRecord,
    first: f64,
    gathered: f64,
    /// How many records were read, and the length of their texts.
    records: u32,
    length: u32,
}

impl<'a> PageBuilder<'a> {
    fn of(transaction: &'a Transaction, session: JsObject) -> Self {
        let (number, paged) = (session.count("number"), session.count("paged"));
        Self {
            transaction,
            number,
            paged,
            read: paged,
            remaining: session.count("open"),
            page: PageRecord::empty(number),
            first: 0.0,
            gathered: 0.0,
            records: 0,
            length: 0,
            session,
        }
    }

    /// Returns the range of records not read yet.
    fn rest(&self) -> JsValue {
        keys::from(self.number, self.read + 1.0)
    }

    fn is_enough(&self) -> bool {
        self.records >= LARGEST || self.length >= LARGEST_TEXT
    }

    /// Returns how many records to read next, assuming the average size of those before.
    fn next_size(&self) -> u32 {
        let average = self.length / self.records.max(1) + 1;
        let rest = LARGEST_TEXT.saturating_sub(self.length) / average;
        rest.min(LARGEST.saturating_sub(self.records)).max(1)
    }

    fn gather(&mut self, records: &Array) {
        for record in records.iter().filter_map(JsObject::found) {
            let seq = record.count("seq");
            self.records += 1;
            match PageRecord::read(&record) {
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
                // A damaged record stays as it is, so that its reader gets the error. The records
                // gathered before it stay single as well.
                Err(_) => {
                    self.gathered += 1.0;
                    self.read = seq;
                    self.pass();
                }
            }
        }
    }

    /// Puts the gathered records into one page record.
    fn close(&mut self) {
        // A single record is a full page already.
        if self.gathered > 1.0 {
            let record = self.page.record();
            let singles = keys::span(self.number, self.first, self.read);
            self.transaction.delete(EVENTS, &singles);
            self.transaction.put(EVENTS, &record);
        }
        self.pass();
    }

    /// Leaves the gathered records as they are, and counts them as page records.
    fn pass(&mut self) {
        self.page = PageRecord::empty(self.number);
        self.remaining -= self.gathered;
        self.gathered = 0.0;
        self.paged = self.read;
    }

    fn finish(&self) {
        self.session.set_number("paged", self.paged);
        self.session.set_number("open", self.remaining.max(0.0));
        self.transaction.put(SESSIONS, &self.session);
    }
}
