//! A group of writes in one transaction. One or two rounds read the rows for all of them. Each
//! write is decided on the result of the writes before it. In the end all changed rows are put.
//!
//! A group is not atomic: each write succeeds or fails by itself. If the shared transaction fails,
//! nothing of the group is stored, and the caller stores its writes one by one.

use std::cell::Cell;

use adk_session::session::SessionKey;
use adk_session::write::{Plan, Repetition};

use crate::indexed_db::connection::access::Access;
use crate::indexed_db::connection::transaction::Mode;
use crate::indexed_db::records::failure::Failure;
use crate::indexed_db::records::schema::{EVENTS, META, SESSIONS, STATES};
use crate::indexed_db::writing::group_rows::{Checks, Group, Member};

/// Writes and commits a group. Sets `full` to the sessions that now have enough open records for a
/// page. A write that is alone is tried again if that may help.
pub(crate) async fn write(
    access: &Access,
    members: &mut [Member<'_>],
    full: &mut Vec<SessionKey>,
) -> Result<(), Failure> {
    let mut checks = Checks::default();
    loop {
        let has_put = Cell::new(false);
        let written = write_once(access, members, checks, full, &has_put);
        let written = access.run_once(Box::pin(written)).await;
        let (Err(failure), [member]) = (&written, &*members) else {
            return written;
        };
        // An id may be stored already, and only a lookup shows it.
        let may_be_stored = failure.is_constraint() && !checks.ids;
        // Before the puts a broken connection has stored nothing, so nothing counts twice.
        let Plan { target, repetition, .. } = member.write.plan();
        let is_safe = !has_put.get() || *repetition != Repetition::CountsTwice;
        let is_lost = failure.is_loss() && !checks.is_retry && is_safe;
        let is_page_left =
            failure.is_page_left_in_commit() && *repetition == Repetition::Recognized;
        if !(may_be_stored || is_lost || is_page_left || failure.is_page_left()) {
            return written.map_err(|failure| failure.of_session(target));
        }
        member.call.count_retry()?;
        checks.is_retry |= is_lost || is_page_left;
        checks.ids = true;
    }
}

/// Sets `has_put` before it requests the first change.
async fn write_once(
    access: &Access,
    members: &mut [Member<'_>],
    mut checks: Checks,
    full: &mut Vec<SessionKey>,
    has_put: &Cell<bool>,
) -> Result<(), Failure> {
    loop {
        let transaction = access.begin(Mode::Write, &stores(members, checks)).await?;
        let mut group = Group::new(&transaction, members, checks);
        group.read_rows(transaction.results().await?);
        if let Some(sequence) = &group.sequence {
            sequence.check(&transaction).await?;
        }
        if group.needs_floor() {
            checks.floor = true;
            continue;
        }
        let requested = group.request_keys(members);
        let requested = group.request_events(&requested, &transaction.results().await?);
        group.read_events(&requested, &transaction.results().await?);
        for member in &mut *members {
            member.done = group.decide(member);
        }
        if group.must_look_up {
            checks.ids = true;
            continue;
        }
        has_put.set(true);
        *full = group.put();
        transaction.commit().await?;
        return Ok(());
    }
}

/// Returns the stores that these writes may touch.
fn stores(members: &[Member<'_>], checks: Checks) -> Vec<&'static str> {
    let mut stores = Vec::new();
    let (mut sessions, mut states, mut sequence) = (false, false, checks.floor);
    for member in members {
        let plan = member.write.plan();
        sessions |= plan.target.session_id.is_some();
        states |= plan.creates || plan.scopes.shared.values().contains(&true);
        sequence |= plan.creates;
    }
    if sessions {
        stores.extend([SESSIONS, EVENTS]);
    }
    if states {
        stores.push(STATES);
    }
    if sequence || stores.is_empty() {
        stores.push(META);
        // The sequence is checked against the sessions.
        if !sessions {
            stores.push(SESSIONS);
        }
    }
    stores
}
