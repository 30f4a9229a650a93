//! A group of writes in one transaction. One or two rounds read the rows for all of them. Each
//! write is decided on the result of the writes before it. In the end all changed rows are put.

use std::collections::BinaryHeap;
use std::mem;

use js_sys::{Array, JSON};
use wasm_bindgen::{JsCast, JsValue};

use crate::session::{Revision, SessionKey};
use crate::state::{ScopedState, StateChanges};
use crate::storage::indexed_db::connection::access::Access;
use crate::storage::indexed_db::connection::signal::{Done, Signal};
use crate::storage::indexed_db::connection::transaction::Transaction;
use crate::storage::indexed_db::records::failure::Failure;
use crate::storage::indexed_db::records::keys;
use crate::storage::indexed_db::records::object::Record;
use crate::storage::indexed_db::records::page::Page;
use crate::storage::indexed_db::records::schema::{
    BY_ID, BY_REPLACEMENT, EVENTS, META, SESSIONS, STATES,
};
use crate::storage::indexed_db::writing::owner_slot::OwnerSlot;
use crate::storage::indexed_db::writing::sequence::Sequence;
use crate::storage::indexed_db::writing::session_slot::SessionSlot;
use crate::storage::shared_write::SharedWrite;
use crate::write::{Found, Plan, Target};

/// One write in the queue.
pub(crate) struct Member {
    pub(crate) plan: Plan,
    /// Identifies the session that this write creates, apart from others with the same key.
    pub(crate) token: f64,
    pub(crate) write: SharedWrite,
    /// The result of this write, if the transaction as a whole succeeds.
    pub(crate) done: Done,
    /// Settles the caller.
    pub(crate) settled: Signal,
}

/// The extra checks that a transaction makes before it writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Care {
    /// Look up new events' ids. Most are new indeed, and the unique index refuses the others.
    pub(crate) ids: bool,
    /// Read the floor of revisions. Only new rows need it.
    pub(crate) floor: bool,
    /// An earlier attempt may have been committed although its result was lost.
    pub(crate) again: bool,
}

/// The rows that a write left behind: a cache, valid if nobody has written them since.
///
/// The next append to the same session usually finds exactly these rows. So it writes without
/// waiting for the rows, and compares them only before it commits. That saves a tenth of an append,
/// since the browser need not wait for us. If the rows differ, nothing is written: the attempt
/// starts over with the stored rows.
#[derive(Default)]
pub(crate) struct Left {
    sessions: Vec<SessionSlot>,
    owners: Vec<OwnerSlot>,
}

/// Writes and commits a group. Sets `full` to the sessions that now have enough open records for a
/// page, and `left` to the rows after the write.
pub(crate) async fn write(
    access: &Access,
    members: &mut [Member],
    mut care: Care,
    left: &mut Left,
    full: &mut Vec<SessionKey>,
) -> Result<JsValue, Failure> {
    let mut was_mistaken = false;
    loop {
        let transaction = access.write(&stores(members, care)).await?;
        let mut group = Group::new(&transaction, members, care, mem::take(left));
        let rows = transaction.end_round();
        let expected = group.left(members);
        if expected.is_none() {
            group.read_rows(transaction.results_of(rows.clone()).await?);
            if let Some(sequence) = &group.sequence {
                sequence.check(&transaction).await?;
            }
            if group.needs_floor() {
                care.floor = true;
                continue;
            }
            let asked_for = group.ask_keys(members);
            let asked_for = group.ask_events(&asked_for, &transaction.answered().await?);
            group.read_events(&asked_for, &transaction.answered().await?);
        }
        for member in &mut *members {
            member.done = group.ask(member);
        }
        if group.must_look {
            care.ids = true;
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
        group.sessions.iter_mut().for_each(SessionSlot::leave);
        group.owners.iter_mut().for_each(OwnerSlot::leave);
        let written = Left { sessions: group.sessions, owners: group.owners };
        transaction.commit().await?;
        // If others write as well, the next attempt from the cache would fail again.
        if !was_mistaken {
            *left = written;
        }
        return Ok(JsValue::UNDEFINED);
    }
}

/// Fails if a state would be too large with the changes.
fn check_size(state: Option<&ScopedState>, changes: &StateChanges) -> Done {
    let checked = match state {
        Some(state) => state.check_size(changes),
        None => ScopedState::default().check_size(changes),
    };
    checked.map_err(|error| Failure::thrown(error.into()))
}

/// Returns the JSON of some records in one call; reading each member would take about fifty.
fn text_of(records: &Array) -> Option<JsValue> {
    // Records that were changed by hand may hold values that JSON refuses.
    JSON::stringify(records).ok().map(JsValue::from)
}

/// Returns the stores that these writes may touch.
fn stores(members: &[Member], care: Care) -> JsValue {
    let (mut sessions, mut states, mut creates) = (false, false, false);
    for Member { plan, .. } in members {
        sessions |= plan.target.session_id.is_some();
        states |= plan.scopes.user || plan.scopes.app || plan.creates;
        creates |= plan.creates;
    }
    let sequence = creates || care.floor || !(sessions || states);
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

/// A group in its transaction.
struct Group<'a> {
    transaction: &'a Transaction,
    care: Care,
    sessions: Vec<SessionSlot>,
    owners: Vec<OwnerSlot>,
    wants_sequence: bool,
    sequence: Option<Sequence>,
    /// Whether a write that stored nothing must be decided again, with its ids looked up: its
    /// events may be stored already.
    must_look: bool,
}

impl<'a> Group<'a> {
    /// Requests the rows that the members need: the first round.
    fn new(transaction: &'a Transaction, members: &[Member], care: Care, earlier: Left) -> Self {
        let mut group = Self {
            transaction,
            care,
            sessions: earlier.sessions,
            owners: earlier.owners,
            wants_sequence: care.floor,
            sequence: None,
            must_look: false,
        };
        for member in members {
            group.name(member);
        }
        group.sessions.retain(|slot| slot.is_wanted);
        group.owners.retain(|slot| slot.is_wanted);
        group.wants_sequence |= group.sessions.len() + group.owners.len() == 0;
        for slot in &group.sessions {
            slot.ask(transaction);
        }
        for slot in &group.owners {
            slot.ask(transaction);
        }
        if group.wants_sequence {
            Sequence::ask(transaction);
        }
        group
    }

    /// Makes or marks the slots that a member needs.
    fn name(&mut self, Member { plan, .. }: &Member) {
        let Target { app_name, user_id, session_id } = &plan.target;
        if let Some((user_id, session_id)) = user_id.as_ref().zip(session_id.as_ref()) {
            let position = self.session_position(&plan.target).unwrap_or_else(|| {
                self.sessions.push(SessionSlot::new(SessionKey {
                    app_name: app_name.clone(),
                    user_id: user_id.clone(),
                    session_id: session_id.clone(),
                }));
                self.sessions.len() - 1
            });
            if let Some(slot) = self.sessions.get_mut(position) {
                slot.since = slot.since.min(plan.since);
                slot.is_wanted = true;
            }
        }
        self.wants_sequence |= plan.creates;
        let wants_user = plan.scopes.user && user_id.is_some();
        for (user_id, wants_state) in [(user_id.as_deref(), wants_user), (None, plan.scopes.app)] {
            if !wants_state && !plan.creates {
                continue;
            }
            let position = self.owner_position(app_name, user_id).unwrap_or_else(|| {
                self.owners.push(OwnerSlot::new(app_name, user_id));
                self.owners.len() - 1
            });
            if let Some(slot) = self.owners.get_mut(position) {
                slot.wants_state |= wants_state;
                slot.is_wanted = true;
            }
        }
    }

    fn session_position(&self, target: &Target) -> Option<usize> {
        self.sessions.iter().position(|slot| slot.is(target))
    }

    fn owner_position(&self, app_name: &str, user_id: Option<&str>) -> Option<usize> {
        self.owners.iter().position(|slot| slot.is(app_name, user_id))
    }

    fn read_rows(&mut self, answers: Array) {
        let mut answers = answers.into_iter();
        for slot in &mut self.sessions {
            slot.read(&mut answers);
        }
        for slot in &mut self.owners {
            slot.read(&mut answers);
        }
        if self.wants_sequence {
            self.sequence = Some(Sequence::read(&mut answers));
        }
    }

    /// Returns the JSON of the records that must still be stored for the cache to be valid, in the
    /// order of the requests. Returns `None` if the cache lacks something that a member needs.
    fn left(&self, members: &[Member]) -> Option<JsValue> {
        let may_find_events = |member: &Member| self.care.ids || !member.plan.ids_are_new;
        if self.wants_sequence || members.iter().any(may_find_events) {
            return None;
        }
        let expected = Array::new();
        for slot in &self.sessions {
            expected.push(slot.left()?);
        }
        for slot in &self.owners {
            expected.push(slot.left()?);
        }
        text_of(&expected)
    }

    fn needs_floor(&self) -> bool {
        self.sequence.is_none()
            && (self.sessions.iter().any(|slot| slot.record.is_none())
                || self.owners.iter().any(OwnerSlot::misses_state))
    }

    /// Requests the keys of the records that hold events with the members' ids. Most writes need no
    /// such round. Returns the index of the session for each request.
    fn ask_keys(&self, members: &[Member]) -> Vec<usize> {
        let mut asked_for = Vec::new();
        for Member { plan, .. } in members {
            if !self.care.ids && plan.ids_are_new {
                continue;
            }
            let Some((position, _, number)) =
                self.session_position(&plan.target).and_then(|position| self.stored(position))
            else {
                continue;
            };
            let index = self.transaction.index(EVENTS, BY_ID);
            for id in &plan.event_ids {
                let id = JsValue::from_str(&keys::event_id(number, id));
                let index = index.clone();
                self.transaction.ask(index.and_then(|index| index.get_key(&id)));
                asked_for.push(position);
            }
        }
        asked_for
    }

    /// Requests the records with those keys, each only once since a page holds many events, and the
    /// events changed since each session's revision. Returns the index of the session for each
    /// request.
    fn ask_events(&self, keys_for: &[usize], keys: &Array) -> Vec<usize> {
        let mut found = BinaryHeap::new();
        for (position, key) in keys_for.iter().zip(keys.iter()) {
            // `[number, seq]`.
            if let Some(key) = Record::found(key) {
                found.push((key.count("1") as Revision, *position as u32));
            }
        }
        let mut asked_for = Vec::new();
        let mut last = None;
        while let Some(next) = found.pop() {
            let position = next.1 as usize;
            if last.replace(next) != Some(next)
                && let Some((_, _, number)) = self.stored(position)
            {
                self.transaction.get_all(EVENTS, &keys::pair(number, next.0 as f64), None);
                asked_for.push(position);
            }
        }
        for (position, slot) in self.sessions.iter().enumerate() {
            let Some((_, record, number)) = self.stored(position) else {
                continue;
            };
            if record.revision() <= slot.since {
                continue;
            }
            let range = keys::from(number, keys::after(slot.since));
            self.transaction.get_all(EVENTS, &range, None);
            asked_for.push(position);
            if record.count("replaced") > slot.since as f64 {
                self.transaction.find(EVENTS, BY_REPLACEMENT, &range);
                asked_for.push(position);
            }
        }
        asked_for
    }

    /// Returns a stored session and its number; `None` if it is missing or damaged.
    fn stored(&self, position: usize) -> Option<(usize, &Record, f64)> {
        let record = self.sessions.get(position)?.record.as_ref()?;
        record.head().ok()?;
        Some((position, record, record.count("number")))
    }

    fn read_events(&mut self, asked_for: &[usize], answers: &Array) {
        for (position, records) in asked_for.iter().zip(answers.iter()) {
            let Some(slot) = self.sessions.get_mut(*position) else {
                continue;
            };
            for record in records.unchecked_into::<Array>().iter().filter_map(Record::found) {
                // A damaged record is skipped, so that it does not block new events.
                if let Ok(page) = Page::read(&record) {
                    slot.take_in(page);
                }
            }
        }
    }

    /// Decides one member's write, and applies its changes to the rows that the next member sees.
    fn ask(&mut self, member: &Member) -> Done {
        let Member { plan, token, .. } = member;
        let Target { app_name, user_id, .. } = &plan.target;
        let session = self.session_position(&plan.target);
        let user = user_id.as_deref().filter(|_| plan.scopes.user);
        let user = user.and_then(|user_id| self.owner_position(app_name, Some(user_id)));
        let app = self.owner_position(app_name, None).filter(|_| plan.scopes.app);

        let mut head = None;
        let (mut events, mut changed) = (Vec::new(), Vec::new());
        if let Some(slot) = session.and_then(|position| self.sessions.get_mut(position)) {
            head = slot.head()?;
            let is_maker = |record: &Record| record.number("token") == Some(*token);
            if self.care.again && plan.creates && slot.record.as_ref().is_some_and(is_maker) {
                return Ok(());
            }
            if plan.scopes.session {
                slot.read_state()?;
            }
            events = slot.events(&plan.event_ids);
            changed = slot.changed(plan.since);
        }
        for position in [user, app] {
            if let Some(slot) = position.and_then(|position| self.owners.get_mut(position)) {
                slot.read_state()?;
            }
        }
        let row = |position: Option<usize>| self.owners.get(position?)?.row.as_ref();
        let slot = session.filter(|_| plan.scopes.session);
        let slot = slot.and_then(|position| self.sessions.get(position));
        let found = Found {
            session: head,
            state: slot.and_then(SessionSlot::state),
            user: row(user),
            app: row(app),
            events,
            changed,
            floor: self.sequence.as_ref().map_or(0, Sequence::floor),
        };
        let decided = member.write.with(|write| {
            let changes = write.decide(found)?;
            let events = changes.events.iter().filter_map(|event| write.row(event)).collect();
            Some((changes, events))
        });
        let decided = decided.map_err(|error| Failure::thrown(error.into()))?;
        let Some((changes, events)) = decided else {
            let is_blind = plan.ids_are_new && !self.care.ids;
            self.must_look |= head.is_some() && is_blind;
            return Ok(());
        };
        // All sizes are checked before any change is applied: a refused write changes nothing.
        for (position, change) in [(user, &changes.user), (app, &changes.app)] {
            if let Some(change) = change {
                check_size(row(position).map(|row| &row.state), &change.state)?;
            }
        }
        if let Some(change) = &changes.session {
            let slot = session.and_then(|position| self.sessions.get(position));
            check_size(slot.and_then(SessionSlot::state), &change.state)?;
        }
        for (position, change) in [(user, changes.user), (app, changes.app)] {
            let slot = position.and_then(|position| self.owners.get_mut(position));
            if let Some((slot, change)) = slot.zip(change) {
                slot.change(change);
            }
        }
        let slot = session.and_then(|position| self.sessions.get_mut(position));
        if let Some((slot, change)) = slot.zip(changes.session) {
            if slot.record.is_none() {
                let number = self.sequence.as_mut().map_or(0.0, Sequence::next);
                slot.create(number, *token, change.head);
                for owner in &mut self.owners {
                    if owner.is(app_name, user_id.as_deref()) || owner.is(app_name, None) {
                        owner.new_sessions += 1.0;
                    }
                }
            }
            slot.change(change, events);
        }
        Ok(())
    }

    /// Puts all changed records. Returns the sessions that have enough open records for a page.
    fn put(&mut self) -> Vec<SessionKey> {
        let mut full = Vec::new();
        for slot in &mut self.sessions {
            if slot.put(self.transaction) {
                full.push(slot.key.clone());
            }
        }
        for slot in &mut self.owners {
            slot.put(self.transaction);
        }
        if let Some(sequence) = &self.sequence {
            sequence.put(self.transaction);
        }
        full
    }
}
