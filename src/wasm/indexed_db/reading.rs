//! Reads a session with some of its events. Only the records that hold those events are read.

use std::collections::BinaryHeap;
use std::mem;

use adk_session::read::{PageEdges, Read, Rows};
use adk_session::session::{Revision, Timestamp};
use adk_session::state::ByOwner;
use adk_session::storage::Call;
use adk_session::write::Target;
use js_sys::Array;
use wasm_bindgen::{JsCast, JsValue};

use crate::indexed_db::connection::access::Access;
use crate::indexed_db::connection::transaction::{Mode, Transaction};
use crate::indexed_db::records::failure::Failure;
use crate::indexed_db::records::keys;
use crate::indexed_db::records::page::{
    EventFilter, PageRecord, count_admitted, cut, edge_of, seq_of,
};
use crate::indexed_db::records::schema::{
    BY_ID, BY_REPLACEMENT, BY_TIME, EVENTS, SESSIONS, STATES,
};
use crate::object::JsObject;

/// Which records of events are read.
pub(crate) enum EventsRead {
    Of(Read),
    /// Those at the session's markers, and at the event with that id. The result has no edges if it is not stored,
    /// or if places of markers are lost.
    #[cfg(feature = "bindings")]
    Markers(Option<String>),
}

/// The records of a session, of its user and of its app.
#[derive(Default)]
pub(super) struct ReadRecords {
    app: Option<JsObject>,
    user: Option<JsObject>,
    session: Option<JsObject>,
    /// Records of one event, or of a page of many. They are cut to the events that are read.
    events: Array,
    /// Present if a page is read, and its end is stored.
    edges: Option<PageEdges>,
}

/// Reads a session with some of its events, or states.
pub(super) async fn read(
    access: &Access,
    target: &Target,
    read: &EventsRead,
    call: &dyn Call,
) -> Result<ReadRecords, Failure> {
    access.run_with_retries(call, || read_once(access, target, read)).await
}

impl ReadRecords {
    /// Converts all but the events. Those that are read as rows become rows.
    pub(super) fn rows(self, read: &EventsRead) -> Result<Rows<Array>, Failure> {
        let Self { app, user, session, mut events, edges } = self;
        let mut rows = Vec::new();
        if let EventsRead::Of(read @ (Read::Since { .. } | Read::Ids(_))) = read {
            let mut seqs = Vec::new();
            for record in mem::take(&mut events).iter().filter_map(JsObject::found) {
                let page = PageRecord::read(&record)?;
                // A page with several of the events was found for each.
                if !seqs.contains(&page.seq()) {
                    seqs.push(page.seq());
                    rows.extend(page.rows.into_iter().filter(|row| read.asks_for(row)));
                }
            }
        }
        let row_of = |record: Option<JsObject>| {
            Ok::<_, Failure>(record.as_ref().map(JsObject::shared_row).transpose()?.flatten())
        };
        Ok(Rows {
            edges,
            session: session.as_ref().map(JsObject::session_row).transpose()?,
            shared: ByOwner { user: row_of(user)?, app: row_of(app)? },
            events,
            rows,
        })
    }
}

async fn read_once(
    access: &Access,
    target: &Target,
    read: &EventsRead,
) -> Result<ReadRecords, Failure> {
    let Target { app_name, user_id, session_id } = target;
    let user_id = user_id.as_deref();
    let key = user_id.zip(session_id.as_deref());
    let is_none = matches!(read, EventsRead::Of(Read::Last { limit: Some(0), .. }));
    let wants_events = key.is_some() && !is_none;
    let stores: &[&str] = match (key, wants_events) {
        (None, _) => &[STATES],
        (Some(_), false) => &[SESSIONS, STATES],
        (Some(_), true) => &[SESSIONS, STATES, EVENTS],
    };
    let transaction = access.begin(Mode::Read, stores).await?;
    transaction.get(STATES, &keys::owner(app_name, None));
    if user_id.is_some() {
        transaction.get(STATES, &keys::owner(app_name, user_id));
    }
    if let Some((user_id, session_id)) = key {
        transaction.get(SESSIONS, &keys::list(&[app_name, user_id, session_id]));
    }
    let found = transaction.results().await?;
    let [app, user, session] = [0, 1, 2].map(|index| JsObject::stored(found.get(index)));
    let mut records = ReadRecords { app, user, session, ..ReadRecords::default() };
    if let Some(session) = records.session.as_ref().filter(|_| wants_events) {
        // Damaged numbers could make the read endless, or return another session's events.
        session.head()?;
        (records.events, records.edges) = read_events(&transaction, session, read).await?;
    }
    Ok(records)
}

/// Requests the records with the events that were written after a revision, and returns the number of
/// requests. `most` limits the records of new events.
pub(super) fn ask_changed(
    transaction: &Transaction,
    session: &JsObject,
    since: Revision,
    most: Option<u32>,
) -> usize {
    if session.revision() <= since {
        return 0;
    }
    let range = keys::from(session.count("number"), keys::after(since));
    transaction.get_all(EVENTS, &range, most);
    if session.count("replaced") <= since as f64 {
        return 1;
    }
    transaction.find(EVENTS, BY_REPLACEMENT, &range);
    2
}

/// Requests the record with the event of that id. Returns the key of the event in the index.
fn ask_event(transaction: &Transaction, session: &JsObject, id: &str) -> JsValue {
    let key = JsValue::from_str(&keys::event_id(session.count("number"), id));
    transaction.ask(transaction.index(EVENTS, BY_ID).and_then(|index| index.get(&key)));
    key
}

/// Returns the records, and the edges of a page or of markers whose end is stored.
async fn read_events(
    transaction: &Transaction,
    session: &JsObject,
    read: &EventsRead,
) -> Result<(Array, Option<PageEdges>), Failure> {
    let (mut page, mut reads_rows) = (None, false);
    let (mut limit, mut after, mut event_id) = (None, None, None);
    match read {
        EventsRead::Of(Read::Since { revision, limit }) => {
            ask_changed(transaction, session, *revision, limit.map(|limit| limit as u32));
            reads_rows = true;
        }
        EventsRead::Of(Read::Ids(ids)) => {
            for id in ids {
                ask_event(transaction, session, id);
            }
            reads_rows = true;
        }
        EventsRead::Of(Read::Last { limit: last, after: time }) => {
            (limit, after) = (*last, time.map(Timestamp::as_millis));
        }
        EventsRead::Of(Read::Page(asked)) => {
            (page, limit) = (Some(asked), Some(asked.limit));
            event_id = asked.end.event().map(|id| &**id);
        }
        #[cfg(feature = "bindings")]
        EventsRead::Markers(id) => event_id = id.as_deref(),
    }
    let is_forward = page.is_some_and(|page| page.end.is_forward());
    let with_count = page.is_some_and(|page| page.with_count);
    let mut filter = EventFilter { after, ..EventFilter::ALL };
    let mut end_record = None;
    if with_count {
        let range = keys::event_ids(session.count("number"));
        let index = transaction.index(EVENTS, BY_ID);
        transaction.ask(index.and_then(|index| index.count_with_key(&range)));
    }
    let id = event_id.map(|id| ask_event(transaction, session, id));
    let results = transaction.results().await?;
    if reads_rows {
        return Ok((results.flat(1), None));
    }
    let count = results.get(0).as_f64().map(|count| count as usize).filter(|_| with_count);
    if let Some(id) = id {
        let Some(record) = JsObject::found(results.get(u32::from(with_count))) else {
            return Ok((Array::new(), None));
        };
        let seq = seq_of(&record, &id).ok_or_else(|| record.damaged("it is damaged"))?;
        let bound = if is_forward { &mut filter.above } else { &mut filter.below };
        *bound = seq;
        end_record = Some(record);
    }
    #[cfg(feature = "bindings")]
    if matches!(read, EventsRead::Markers(_)) {
        let seq = end_record.is_some().then_some(filter.below);
        let Some(seqs) = ask_markers(transaction, session, seq) else {
            return Ok((Array::new(), None));
        };
        let records = marker_records(&transaction.results().await?, &seqs);
        return Ok((records, Some(PageEdges::default())));
    }
    let follows = end_record.is_some() && is_forward;
    // A page is read with one event more, which tells whether there are older ones.
    let reach = limit.map(|limit| limit.saturating_add(usize::from(page.is_some())));
    let records = match after {
        Some(after) => read_from_time(transaction, session, filter, reach, after).await?,
        None => read_range(transaction, session, filter, reach, end_record, is_forward).await?,
    };
    let take = limit.unwrap_or(usize::MAX);
    let skip =
        if is_forward { 0 } else { count_all_admitted(&records, filter).saturating_sub(take) };
    let events = cut_records(records, filter, skip, take);
    let edges = page.map(|_| PageEdges {
        first: edge_of(events.get(0), false),
        last: edge_of(events.get(events.length().saturating_sub(1)), true),
        has_older: follows || skip > 0,
        count,
    });
    Ok((events, edges))
}

/// Requests the records with the session's markers, and the record with the event at `seq`. Returns
/// the `seq`s of these events; `None` if one may be missing.
#[cfg(feature = "bindings")]
fn ask_markers(
    transaction: &Transaction,
    session: &JsObject,
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
#[cfg(feature = "bindings")]
fn marker_records(results: &Array, seqs: &[Revision]) -> Array {
    let events = Array::new();
    for (index, seq) in seqs.iter().enumerate() {
        let found: Array = results.get(index as u32).unchecked_into();
        let seq = *seq as f64;
        let filter = EventFilter { above: seq - 1.0, below: seq + 1.0, ..EventFilter::ALL };
        if let Some(record) =
            JsObject::found(found.get(0)).and_then(|record| cut(record, filter, 0, 1))
        {
            events.push(&record);
        }
    }
    events
}

/// Cuts the records to `take` admitted events after the first `skip` ones.
fn cut_records(records: Array, filter: EventFilter, mut skip: usize, mut take: usize) -> Array {
    let events = Array::new();
    let is_whole = filter == EventFilter::ALL && take == usize::MAX;
    for record in records.iter().filter_map(JsObject::found) {
        // A page that lost its marks can still be read as a whole.
        if is_whole {
            events.push(&record.into());
            continue;
        }
        let admitted = count_admitted(&record, filter);
        let skipped = skip.min(admitted);
        skip -= skipped;
        let taken = take.min(admitted - skipped);
        take -= taken;
        if let Some(rest) = cut(record, filter, skipped, taken) {
            events.push(&rest);
        }
    }
    events
}

/// Reads the records that hold the last `limit` admitted events, or the first ones (`is_forward`), and
/// perhaps some more. Without a limit, reads all. `end_record` is the record with the event that the page
/// ends or begins at.
///
/// Each event has a revision of its own as its `seq`. So `n` revisions hold at most `n` events, and
/// exactly `n` if each change added one. If they hold too few, the reach is doubled. A record's key
/// is the `seq` of its last event, so a range includes the record that it begins in. The record that
/// it ends in is requested too.
async fn read_range(
    transaction: &Transaction,
    session: &JsObject,
    filter: EventFilter,
    limit: Option<usize>,
    end_record: Option<JsObject>,
    is_forward: bool,
) -> Result<Array, Failure> {
    let [number, created] = ["number", "created"].map(|name| session.count(name));
    let newest = session.count("revision").min(filter.below - 1.0);
    let edge = end_record.as_ref().map(|end_record| end_record.count("seq"));
    let mut start = edge.unwrap_or(created);
    let mut end = edge.map_or(f64::INFINITY, |edge| edge - 1.0);
    let mut records: Array = end_record.into_iter().collect();
    let mut reach = limit.map_or(f64::INFINITY, |limit| limit as f64);
    while limit.is_none_or(|limit| count_all_admitted(&records, filter) < limit) {
        if is_forward {
            end = start + reach;
            start += 1.0;
            transaction.get_all(EVENTS, &keys::from(number, end + 1.0), Some(1));
        } else {
            start = (newest - reach + 1.0).max(0.0);
        }
        transaction.get_all(EVENTS, &keys::span(number, start, end), None);
        let results = transaction.results().await?;
        let within: Array = results.pop().unchecked_into();
        let is_last = if is_forward {
            let next: Array = results.get(0).unchecked_into();
            records = records.concat(&within).concat(&next);
            start = JsObject::found(next.get(0)).map_or(f64::INFINITY, |next| next.count("seq"));
            start == f64::INFINITY
        } else {
            records = within.concat(&records);
            end = start - 1.0;
            end < created
        };
        if is_last {
            break;
        }
        reach *= 2.0;
    }
    Ok(records)
}

/// Reads the records that hold events of that time or later, as far back as the limit needs.
async fn read_from_time(
    transaction: &Transaction,
    session: &JsObject,
    filter: EventFilter,
    limit: Option<usize>,
    after: f64,
) -> Result<Array, Failure> {
    let range = keys::from(session.count("number"), after);
    let Some(limit) = limit else {
        transaction.find(EVENTS, BY_TIME, &range);
        return Ok(by_seq(transaction.results().await?.get(0), "seq"));
    };
    let index = transaction.index(EVENTS, BY_TIME);
    transaction.ask(index.and_then(|index| index.get_all_keys_with_key(&range)));
    // Each key is `[number, seq]`.
    let keys = by_seq(transaction.results().await?.get(0), "1");
    let mut records = Array::new();
    let mut end = keys.length();
    // Each record holds at least one such event, and a page may hold many.
    let mut size = 4;
    while end > 0 && count_all_admitted(&records, filter) < limit {
        let start = end.saturating_sub(size);
        for index in start..end {
            transaction.get(EVENTS, &keys.get(index));
        }
        records = transaction.results().await?.concat(&records);
        end = start;
        size *= 2;
    }
    Ok(records)
}

/// Returns how many events of the records the filter admits.
fn count_all_admitted(records: &Array, filter: EventFilter) -> usize {
    let mut count = 0;
    for record in records.iter().filter_map(JsObject::found) {
        count += count_admitted(&record, filter);
    }
    count
}

/// Sorts by `seq`, which is the given member of each item.
fn by_seq(found: JsValue, member: &str) -> Array {
    let found: Array = found.unchecked_into();
    let mut seqs = BinaryHeap::new();
    for (index, thing) in found.iter().enumerate() {
        if let Some(thing) = JsObject::found(thing) {
            seqs.push((thing.count(member) as Revision, index as u32));
        }
    }
    let ordered = Array::new();
    // The heap gives the greatest `seq` first.
    while let Some((_, index)) = seqs.pop() {
        ordered.push(&found.get(index));
    }
    ordered.reverse()
}
