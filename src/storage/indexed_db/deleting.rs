//! Deleting sessions and states. A session's events go by one range: neither read nor counted,
//! however many there are.

use js_sys::Array;
use wasm_bindgen::JsValue;

use crate::session::Revision;
use crate::storage::indexed_db::access::Access;
use crate::storage::indexed_db::failure::Failure;
use crate::storage::indexed_db::keys;
use crate::storage::indexed_db::record::Record;
use crate::storage::indexed_db::schema::{BY_USER, COUNTS, EVENTS, META, SESSIONS, STATES};
use crate::storage::indexed_db::sequence::{Counts, Sequence};
use crate::storage::indexed_db::transaction::{Transaction, result};
use crate::storage::{Deletion, Target};

/// Deletes; what is not there is no error. Returns the floor.
pub(super) async fn delete(access: &Access, deletion: &Deletion) -> Result<Revision, Failure> {
    access.twice(|| Box::pin(delete_once(access, deletion))).await
}

async fn delete_once(access: &Access, deletion: &Deletion) -> Result<Revision, Failure> {
    let stores: &[&str] = match deletion {
        Deletion::Session(_) => &[META, SESSIONS, EVENTS, COUNTS],
        Deletion::User { .. } => &[META, SESSIONS, EVENTS, COUNTS, STATES],
        Deletion::UserState { .. } | Deletion::AppState { .. } => &[META, STATES],
    };
    let transaction = access.begin(stores, access.writing()).await?;
    let sequence = match deletion {
        Deletion::Session(key) => {
            let request =
                transaction.asked(transaction.store(SESSIONS)?.get(&keys::session(key)))?;
            delete_sessions(&transaction, &key.clone().into(), request).await?
        }
        Deletion::User { app_name, user_id } => {
            let prefix = keys::scope(app_name, Some(user_id));
            let range = keys::within(&prefix).map_err(|thrown| Failure::of_transaction(&thrown))?;
            let index = transaction.index(SESSIONS, BY_USER)?;
            let request = transaction.asked(index.get_all_with_key(&range))?;
            let target = owner(app_name, Some(user_id));
            let mut sequence = delete_sessions(&transaction, &target, request).await?;
            delete_state(&transaction, &prefix, &mut sequence).await?;
            sequence
        }
        Deletion::UserState { app_name, user_id } => {
            let mut sequence = read_sequence(&transaction).await?;
            let key = keys::scope(app_name, Some(user_id));
            delete_state(&transaction, &key, &mut sequence).await?;
            sequence
        }
        Deletion::AppState { app_name } => {
            let mut sequence = read_sequence(&transaction).await?;
            delete_state(&transaction, &keys::scope(app_name, None), &mut sequence).await?;
            sequence
        }
    };
    sequence.put(&transaction)?;
    transaction.commit().await?;
    Ok(sequence.floor)
}

async fn read_sequence(transaction: &Transaction) -> Result<Sequence, Failure> {
    let request = Sequence::ask(transaction)?;
    transaction.answered().await?;
    Sequence::read(&request)
}

/// Deletes the sessions that `request` finds: one record, or a list of them.
async fn delete_sessions(
    transaction: &Transaction,
    target: &Target,
    request: web_sys::IdbRequest,
) -> Result<Sequence, Failure> {
    let mut counts = Counts::default();
    counts.ask(transaction, [target].into_iter())?;
    let mut sequence = read_sequence(transaction).await?;
    counts.read()?;
    let found = result(&request)?;
    let records = if Array::is_array(&found) { Array::from(&found) } else { Array::of1(&found) };
    let (sessions, events) = (transaction.store(SESSIONS)?, transaction.store(EVENTS)?);
    for record in records.iter().filter_map(Record::found) {
        sequence.raise_floor(record.count("revision") as Revision);
        let names = ["appName", "userId", "sessionId"].map(|member| record.get(member));
        let key = names.into_iter().collect::<Array>();
        transaction.asked(sessions.delete(&key))?;
        let number = Array::of1(&JsValue::from_f64(record.count("number")));
        let range = keys::within(&number).map_err(|thrown| Failure::of_transaction(&thrown))?;
        transaction.asked(events.delete(&range))?;
        counts.add(target, -1.0);
    }
    counts.put(transaction)?;
    Ok(sequence)
}

async fn delete_state(
    transaction: &Transaction,
    key: &JsValue,
    sequence: &mut Sequence,
) -> Result<(), Failure> {
    let states = transaction.store(STATES)?;
    let request = transaction.asked(states.get(key))?;
    transaction.answered().await?;
    if let Some(record) = Record::found(result(&request)?) {
        sequence.raise_floor(record.count("revision") as Revision);
        transaction.asked(states.delete(key))?;
    }
    Ok(())
}

fn owner(app_name: &str, user_id: Option<&str>) -> Target {
    Target { app_name: app_name.to_owned(), user_id: user_id.map(str::to_owned), session_id: None }
}
