//! Reading a session with a window of its events. Only those records are read which hold what is
//! returned.

use js_sys::Array;
use wasm_bindgen::JsValue;

use crate::session::Window;
use crate::storage::indexed_db::access::Access;
use crate::storage::indexed_db::failure::Failure;
use crate::storage::indexed_db::keys;
use crate::storage::indexed_db::page::{admitted, cut};
use crate::storage::indexed_db::record::{Record, SessionRecord, read_scope};
use crate::storage::indexed_db::schema::{BY_TIME, EVENTS, SESSIONS, STATES};
use crate::storage::indexed_db::transaction::{Mode, Transaction, result};
use crate::storage::{Rows, ScopeRow, SessionRow, Target};

/// Reads; the events as the records that hold them, cut to the window.
pub(super) async fn read(
    access: &Access,
    target: &Target,
    window: Window,
) -> Result<Rows<Record>, Failure> {
    access.twice(|| Box::pin(read_once(access, target, window))).await
}

async fn read_once(
    access: &Access,
    target: &Target,
    window: Window,
) -> Result<Rows<Record>, Failure> {
    let Target { app_name, user_id, session_id } = target;
    let key = user_id.as_deref().zip(session_id.as_deref());
    let wants_events = key.is_some() && window.last != Some(0);
    let stores: &[&str] = match (key, wants_events) {
        (None, _) => &[STATES],
        (Some(_), false) => &[SESSIONS, STATES],
        (Some(_), true) => &[SESSIONS, STATES, EVENTS],
    };
    let transaction = access.begin(stores, Mode::Read).await?;
    let session = match key {
        Some((user_id, session_id)) => {
            let key = keys::list(&[app_name, user_id, session_id]);
            Some(transaction.asked(transaction.store(SESSIONS)?.get(&key))?)
        }
        None => None,
    };
    let states = transaction.store(STATES)?;
    let user = match user_id {
        Some(user_id) => {
            Some(transaction.asked(states.get(&keys::scope(app_name, Some(user_id))))?)
        }
        None => None,
    };
    let app = transaction.asked(states.get(&keys::scope(app_name, None)))?;
    transaction.answered().await?;

    let session = match session {
        Some(request) => Record::found(result(&request)?).map(SessionRecord::read).transpose()?,
        None => None,
    };
    let events = match &session {
        Some(session) if wants_events => read_events(&transaction, session, window).await?,
        _ => Vec::new(),
    };
    let user = match user {
        Some(request) => scope(&request)?,
        None => None,
    };
    let session = session.map(|session| {
        let state = session.state()?;
        Ok(SessionRow { key: session.key, head: session.head, state })
    });
    Ok(Rows { session: session.transpose()?, user, app: scope(&app)?, events })
}

/// The state that a request has found.
pub(super) fn scope(request: &web_sys::IdbRequest) -> Result<Option<ScopeRow>, Failure> {
    Record::found(result(request)?).map(|record| read_scope(&record)).transpose()
}

async fn read_events(
    transaction: &Transaction,
    session: &SessionRecord,
    window: Window,
) -> Result<Vec<Record>, Failure> {
    let records = match window {
        Window { last: None, after: None } => {
            return all(transaction, keys::from(session.number, 0.0)).await;
        }
        Window { last: Some(last), after: None } => last_of(transaction, session, last).await?,
        Window { last, after: Some(after) } => {
            admitted_of(transaction, session, last, after).await?
        }
    };
    let total: usize = records.iter().map(|record| admitted(record, window)).sum();
    let mut skip = window.last.map_or(0, |last| total.saturating_sub(last));
    let mut events = Vec::with_capacity(records.len());
    for record in records {
        let count = admitted(&record, window);
        let skipped = skip.min(count);
        skip -= skipped;
        events.extend(cut(record, window, skipped));
    }
    Ok(events)
}

/// The records that hold the last so many events, and perhaps some more.
///
/// Each event took a revision, so the last `n` are not before the last `n` revisions, and if none
/// was ever replaced they are just these. A record's key is its last event's, so the range begins
/// with the record in which they begin.
async fn last_of(
    transaction: &Transaction,
    session: &SessionRecord,
    last: usize,
) -> Result<Vec<Record>, Failure> {
    let head = session.head;
    let (first, mut reach) = (head.created as f64, last as f64);
    let mut records: Vec<Record> = Vec::new();
    let mut end = f64::INFINITY;
    loop {
        let start = (head.revision as f64 - reach + 1.0).max(0.0);
        let range = keys::span(session.number, start, end);
        let mut earlier = all(transaction, range).await?;
        earlier.append(&mut records);
        records = earlier;
        let found: usize = records.iter().map(|record| admitted(record, Window::ALL)).sum();
        if found >= last || start < first {
            return Ok(records);
        }
        end = start - 1.0;
        reach *= 2.0;
    }
}

/// The records that hold events of that time or later, and are needed for the last so many.
async fn admitted_of(
    transaction: &Transaction,
    session: &SessionRecord,
    last: Option<usize>,
    after: f64,
) -> Result<Vec<Record>, Failure> {
    let throws = |thrown| Failure::of_transaction(&thrown);
    let index = transaction.index(EVENTS, BY_TIME)?;
    let range = keys::from(session.number, after).map_err(throws)?;
    let window = Window { last: None, after: Some(after) };
    let Some(last) = last else {
        let request = transaction.asked(index.get_all_with_key(&range))?;
        transaction.answered().await?;
        let mut records = Vec::new();
        for record in records_of(&request)? {
            in_order(&mut records, record, |record| record.count("seq"));
        }
        return Ok(records);
    };
    let request = transaction.asked(index.get_all_keys_with_key(&range))?;
    transaction.answered().await?;
    let mut seqs: Vec<f64> = Vec::new();
    for key in Array::from(&result(&request)?).iter() {
        let seq = Array::from(&key).get(1).as_f64().unwrap_or_default();
        in_order(&mut seqs, seq, |seq| *seq);
    }
    // Each of them holds one such event at least, and a page may hold many.
    let store = transaction.store(EVENTS)?;
    let mut records: Vec<Record> = Vec::new();
    let mut size = 4;
    while !seqs.is_empty() {
        let batch = seqs.split_off(seqs.len().saturating_sub(size));
        let requests: Result<Vec<_>, _> = batch
            .iter()
            .map(|seq| transaction.asked(store.get(&keys::pair(session.number, *seq))))
            .collect();
        let requests = requests?;
        transaction.answered().await?;
        let mut earlier = Vec::with_capacity(requests.len() + records.len());
        for request in &requests {
            earlier.extend(Record::found(result(request)?));
        }
        earlier.append(&mut records);
        records = earlier;
        if records.iter().map(|record| admitted(record, window)).sum::<usize>() >= last {
            break;
        }
        size *= 2;
    }
    Ok(records)
}

async fn all(
    transaction: &Transaction,
    range: Result<web_sys::IdbKeyRange, JsValue>,
) -> Result<Vec<Record>, Failure> {
    let range = range.map_err(|thrown| Failure::of_transaction(&thrown))?;
    let request = transaction.asked(transaction.store(EVENTS)?.get_all_with_key(&range))?;
    transaction.answered().await?;
    records_of(&request)
}

fn records_of(request: &web_sys::IdbRequest) -> Result<Vec<Record>, Failure> {
    Ok(Array::from(&result(request)?).iter().filter_map(Record::found).collect())
}

/// Puts a thing to its place. By their times events stand nearly in their order, so that there is
/// little to be moved.
fn in_order<T>(things: &mut Vec<T>, thing: T, key: impl Fn(&T) -> f64) {
    let place = things.partition_point(|earlier| key(earlier) < key(&thing));
    things.insert(place, thing);
}
