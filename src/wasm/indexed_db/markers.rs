//! Reads the markers of a session, and the first events of the invocations that they rewind.

use adk_session::session::Revision;
use js_sys::Array;
use wasm_bindgen::JsCast;

use crate::indexed_db::connection::transaction::Transaction;
use crate::indexed_db::records::keys;
use crate::indexed_db::records::page::{EventFilter, cut};
use crate::indexed_db::records::schema::EVENTS;
use crate::object::Record;

/// Requests the records with the session's markers, and the record with the event at `seq`. Returns
/// the `seq`s of these events; `None` if a place may be missing.
pub(super) fn ask(
    transaction: &Transaction,
    session: &Record,
    seq: Option<f64>,
) -> Option<Vec<Revision>> {
    let mut markers = session.markers();
    if let Some(seq) = seq {
        markers.insert(seq as Revision);
    }
    if markers.is_incomplete {
        return None;
    }
    for seq in &markers.seqs {
        // A record has the key of its last event.
        let rest = keys::from(session.count("number"), *seq as f64);
        transaction.get_all(EVENTS, &rest, Some(1));
    }
    Some(markers.seqs)
}

/// Returns a record for each of the events.
pub(super) fn records(results: &Array, seqs: &[Revision]) -> Array {
    let events = Array::new();
    for (place, seq) in seqs.iter().enumerate() {
        let found: Array = results.get(place as u32).unchecked_into();
        let seq = *seq as f64;
        let filter = EventFilter { above: seq - 1.0, below: seq + 1.0, ..EventFilter::ALL };
        if let Some(record) =
            Record::found(found.get(0)).and_then(|record| cut(record, filter, 0, 1))
        {
            events.push(&record);
        }
    }
    events
}
