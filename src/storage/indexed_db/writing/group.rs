//! A group of writes in one transaction. One or two rounds read the rows for all of them. Each
//! write is decided on the result of the writes before it. In the end all changed rows are put.

use std::mem;

use js_sys::Array;
use wasm_bindgen::JsValue;

use crate::session::SessionKey;
use crate::storage::indexed_db::connection::access::Access;
use crate::storage::indexed_db::records::failure::Failure;
use crate::storage::indexed_db::records::schema::{EVENTS, META, SESSIONS, STATES};
use crate::storage::indexed_db::writing::group_rows::{Checks, Group, Member, RowCache, text_of};
use crate::storage::indexed_db::writing::owner_buffer::OwnerBuffer;
use crate::storage::indexed_db::writing::session_buffer::SessionBuffer;

/// Writes and commits a group. Sets `full` to the sessions that now have enough open records for a
/// page, and `cache` to the rows after the write.
pub(crate) async fn write(
    access: &Access,
    members: &mut [Member],
    mut checks: Checks,
    cache: &mut RowCache,
    full: &mut Vec<SessionKey>,
) -> Result<JsValue, Failure> {
    let mut was_mistaken = false;
    loop {
        let transaction = access.write(&stores(members, checks)).await?;
        let mut group = Group::new(&transaction, members, checks, mem::take(cache));
        let rows = transaction.end_round();
        let expected = group.cached(members);
        if expected.is_none() {
            group.read_rows(transaction.results_of(rows.clone()).await?);
            if let Some(sequence) = &group.sequence {
                sequence.check(&transaction).await?;
            }
            if group.needs_floor() {
                checks.floor = true;
                continue;
            }
            let requested = group.request_keys(members);
            let requested = group.request_events(&requested, &transaction.answered().await?);
            group.read_events(&requested, &transaction.answered().await?);
        }
        for member in &mut *members {
            member.done = group.decide(member);
        }
        if group.must_look_up {
            checks.ids = true;
            continue;
        }
        *full = group.put();
        if let Some(expected) = expected {
            let found = transaction.results_of(rows).await?;
            if text_of(&found) != Some(expected) {
                was_mistaken = true;
                continue;
            }
        }
        group.sessions.iter_mut().for_each(SessionBuffer::keep);
        group.owners.iter_mut().for_each(OwnerBuffer::keep);
        let written = RowCache { sessions: group.sessions, owners: group.owners };
        transaction.commit().await?;
        // If others write as well, the next attempt from the cache would fail again.
        if !was_mistaken {
            *cache = written;
        }
        return Ok(JsValue::UNDEFINED);
    }
}

/// Returns the stores that these writes may touch.
fn stores(members: &[Member], checks: Checks) -> JsValue {
    let (mut sessions, mut states, mut creates) = (false, false, false);
    for Member { plan, .. } in members {
        sessions |= plan.target.session_id.is_some();
        states |= plan.scopes.user || plan.scopes.app || plan.creates;
        creates |= plan.creates;
    }
    let sequence = creates || checks.floor || !(sessions || states);
    let needed = [
        // The sequence is checked against the sessions, so it needs their store.
        (SESSIONS, sessions || sequence),
        (EVENTS, sessions),
        (STATES, states),
        (META, sequence),
    ];
    let stores = Array::new();
    for (store, is_needed) in needed {
        if is_needed {
            stores.push(&store.into());
        }
    }
    stores.into()
}
