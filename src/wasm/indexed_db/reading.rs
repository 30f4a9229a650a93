//! Reads a session with a window of its events. Only the records that hold those events are read.

use std::collections::BinaryHeap;

use js_sys::Array;
use wasm_bindgen::{JsCast, JsValue};

use crate::core::read::Rows;
use crate::core::read::Window;
use crate::core::session::Revision;
use crate::core::write::Target;
use crate::wasm::indexed_db::connection::access::Access;
use crate::wasm::indexed_db::connection::transaction::Transaction;
use crate::wasm::indexed_db::records::failure::Failure;
use crate::wasm::indexed_db::records::keys;
use crate::wasm::indexed_db::records::object::Record;
use crate::wasm::indexed_db::records::page::{admitted, cut};
use crate::wasm::indexed_db::records::schema::{BY_TIME, EVENTS, SESSIONS, STATES};

/// Reads the records of the app's state, the user's state, the session and its events. Event
/// records are cut to the window. Returns a list for [`rows`].
pub(super) async fn read(
    access: &Access,
    target: &Target,
    window: Window,
) -> Result<JsValue, Failure> {
    access.twice(&|| Box::pin(read_once(access, target, window))).await
}

/// Converts the list that [`read`] returned.
pub(super) fn rows(read: JsValue) -> Result<Rows, Failure> {
    let mut read = read.unchecked_into::<Array>().into_iter();
    let [app, user, session] = [(); 3].map(|()| Record::next(&mut read));
    let mut events = Vec::new();
    for record in read {
        events.push(record.into());
    }
    Ok(Rows {
        session: session.as_ref().map(Record::session_row).transpose()?,
        user: user.as_ref().map(Record::shared_row).transpose()?.flatten(),
        app: app.as_ref().map(Record::shared_row).transpose()?.flatten(),
        events,
    })
}

async fn read_once(access: &Access, target: &Target, window: Window) -> Result<JsValue, Failure> {
    let Target { app_name, user_id, session_id } = target;
    let user_id = user_id.as_deref();
    let key = user_id.zip(session_id.as_deref());
    let wants_events = key.is_some() && window.last != Some(0);
    let stores: &[&str] = match (key, wants_events) {
        (None, _) => &[STATES],
        (Some(_), false) => &[SESSIONS, STATES],
        (Some(_), true) => &[SESSIONS, STATES, EVENTS],
    };
    let transaction = access.begin_read(&keys::list(stores)).await?;
    transaction.get(STATES, &keys::owner(app_name, None));
    if user_id.is_some() {
        transaction.get(STATES, &keys::owner(app_name, user_id));
    }
    if let Some((user_id, session_id)) = key {
        transaction.get(SESSIONS, &keys::list(&[app_name, user_id, session_id]));
    }
    let found = transaction.answered().await?;
    if let Some(session) = Record::found(found.get(2)).filter(|_| wants_events) {
        // Damaged numbers could make the read endless, or return another session's events.
        session.head()?;
        let events = read_events(&transaction, &session, window).await?;
        return Ok(found.concat(&events).into());
    }
    Ok(found.into())
}

async fn read_events(
    transaction: &Transaction,
    session: &Record,
    window: Window,
) -> Result<Array, Failure> {
    let records = match window.after {
        None => last_of(transaction, session, window.last).await?,
        Some(after) => admitted_of(transaction, session, window, after).await?,
    };
    let mut skip = match window.last {
        None => 0,
        Some(last) => count(&records, window).saturating_sub(last),
    };
    let events = Array::new();
    for record in records.iter().filter_map(Record::found) {
        let admitted = admitted(&record, window);
        let skipped = skip.min(admitted);
        skip -= skipped;
        if let Some(rest) = cut(record, window, skipped) {
            events.push(&rest);
        }
    }
    Ok(events)
}

/// Returns the records that hold the last `last` events and perhaps some more, or all records.
///
/// Each event has a revision of its own as its `seq`. So the last `n` revisions hold at most `n`
/// events, and exactly `n` if each change added one. If they hold too few, the reach is doubled. A
/// record's key is the `seq` of its last event, so the range includes the record that it begins in.
async fn last_of(
    transaction: &Transaction,
    session: &Record,
    last: Option<usize>,
) -> Result<Array, Failure> {
    let number = session.count("number");
    let mut records = Array::new();
    let mut reach = last.map_or(f64::INFINITY, |last| last as f64);
    let mut end = f64::INFINITY;
    loop {
        let start = (session.count("revision") - reach + 1.0).max(0.0);
        transaction.get_all(EVENTS, &keys::span(number, start, end), None);
        let earlier: Array = transaction.answered().await?.get(0).unchecked_into();
        records = earlier.concat(&records);
        let is_enough = last.is_none_or(|last| count(&records, Window::ALL) >= last);
        if is_enough || start < session.count("created") {
            return Ok(records);
        }
        end = start - 1.0;
        reach *= 2.0;
    }
}

/// Returns the records that hold events of that time or later, as far back as the window's limit
/// needs.
async fn admitted_of(
    transaction: &Transaction,
    session: &Record,
    window: Window,
    after: f64,
) -> Result<Array, Failure> {
    let range = keys::from(session.count("number"), after);
    let Some(last) = window.last else {
        transaction.find(EVENTS, BY_TIME, &range);
        return Ok(by_seq(transaction.answered().await?.get(0), "seq"));
    };
    let index = transaction.index(EVENTS, BY_TIME);
    transaction.ask(index.and_then(|index| index.get_all_keys_with_key(&range)));
    // Each key is `[number, seq]`.
    let keys = by_seq(transaction.answered().await?.get(0), "1");
    let mut records = Array::new();
    let mut end = keys.length();
    // Each record holds at least one such event, and a page may hold many.
    let mut size = 4;
    while end > 0 && count(&records, window) < last {
        let start = end.saturating_sub(size);
        for index in start..end {
            transaction.get(EVENTS, &keys.get(index));
        }
        records = transaction.answered().await?.concat(&records);
        end = start;
        size *= 2;
    }
    Ok(records)
}

/// Returns how many events of the records the window admits.
fn count(records: &Array, window: Window) -> usize {
    let mut count = 0;
    for record in records.iter().filter_map(Record::found) {
        count += admitted(&record, window);
    }
    count
}

/// Sorts by `seq`, which is the given member of each item.
fn by_seq(found: JsValue, member: &str) -> Array {
    let found: Array = found.unchecked_into();
    let mut seqs = BinaryHeap::new();
    for (place, thing) in found.iter().enumerate() {
        if let Some(thing) = Record::found(thing) {
            seqs.push((thing.count(member) as Revision, place as u32));
        }
    }
    let ordered = Array::new();
    // The heap gives the greatest `seq` first.
    while let Some((_, place)) = seqs.pop() {
        ordered.push(&found.get(place));
    }
    ordered.reverse()
}
