//! The rows of a group of writes: which ones its members need, how they are read, and how the
//! changed ones are put.

use std::collections::BinaryHeap;

use adk_session::internals::random_seed;
use adk_session::session::{Revision, SessionKey};
use adk_session::state::ByOwner;
use adk_session::storage::Call;
use adk_session::write::{Decide, Target};
use js_sys::Array;
use wasm_bindgen::{JsCast, JsValue};

use crate::indexed_db::connection::transaction::Transaction;
use crate::indexed_db::reading::ask_changed;
use crate::indexed_db::records::failure::Failure;
use crate::indexed_db::records::keys;
use crate::indexed_db::records::page::PageRecord;
use crate::indexed_db::records::schema::{BY_ID, EVENTS};
use crate::indexed_db::writing::owner_buffer::OwnerBuffer;
use crate::indexed_db::writing::sequence::Sequence;
use crate::indexed_db::writing::session_buffer::SessionBuffer;
use crate::object::JsObject;

/// One write of a group.
pub(crate) struct Member<'a> {
    pub(super) write: &'a mut dyn Decide,
    pub(super) call: &'a dyn Call,
    /// Identifies the session that this write creates, apart from others with the same key.
    pub(super) token: f64,
    /// The result of this write, if the transaction as a whole succeeds.
    pub(crate) done: Result<(), Failure>,
}

impl<'a> Member<'a> {
    pub(crate) fn new(write: &'a mut dyn Decide, call: &'a dyn Call) -> Self {
        let creates = write.plan().creates;
        let token = if creates { f64::from(random_seed() as u32) } else { 0.0 };
        Self { write, call, token, done: Ok(()) }
    }
}

/// The extra checks that a transaction makes before it writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Checks {
    /// Look up new events' ids. Most are new indeed, and the unique index refuses the others.
    pub(crate) ids: bool,
    /// Read the floor of revisions. Only new rows need it.
    pub(crate) floor: bool,
    /// An earlier attempt may have been committed although its result was lost.
    pub(crate) is_retry: bool,
}

/// A group in its transaction.
pub(super) struct Group<'a> {
    pub(super) transaction: &'a Transaction,
    pub(super) checks: Checks,
    pub(super) sessions: Vec<SessionBuffer>,
    pub(super) owners: Vec<OwnerBuffer>,
    pub(super) wants_sequence: bool,
    pub(super) sequence: Option<Sequence>,
    /// Whether a write that stored nothing must be decided again, with its ids looked up: its
    /// events may be stored already.
    pub(super) must_look_up: bool,
}

impl<'a> Group<'a> {
    /// Requests the rows that the members need: the first round.
    pub(super) fn new(
        transaction: &'a Transaction,
        members: &[Member<'_>],
        checks: Checks,
    ) -> Self {
        let mut group = Self {
            transaction,
            checks,
            sessions: Vec::new(),
            owners: Vec::new(),
            wants_sequence: checks.floor,
            sequence: None,
            must_look_up: false,
        };
        for member in members {
            group.add(member);
        }
        group.wants_sequence |= group.sessions.len() + group.owners.len() == 0;
        for buffer in &group.sessions {
            buffer.ask(transaction);
        }
        for buffer in &group.owners {
            buffer.ask(transaction);
        }
        if group.wants_sequence {
            Sequence::ask(transaction);
        }
        group
    }

    /// Makes the buffers that a member needs.
    fn add(&mut self, member: &Member<'_>) {
        let plan = member.write.plan();
        let Target { app_name, user_id, session_id } = &plan.target;
        if let Some((user_id, session_id)) = user_id.as_ref().zip(session_id.as_ref()) {
            let index = self.session_index(&plan.target).unwrap_or_else(|| {
                self.sessions.push(SessionBuffer::new(SessionKey::stored(
                    app_name.clone(),
                    user_id.clone(),
                    session_id.clone(),
                )));
                self.sessions.len() - 1
            });
            if let Some(buffer) = self.sessions.get_mut(index) {
                buffer.since = buffer.since.min(plan.since);
            }
        }
        self.wants_sequence |= plan.creates;
        let ByOwner { user, app } = plan.scopes.shared;
        let wants_user = user && user_id.is_some();
        for (user_id, wants_state) in [(user_id.as_deref(), wants_user), (None, app)] {
            if !wants_state && !plan.creates {
                continue;
            }
            let index = self.owner_index(app_name, user_id).unwrap_or_else(|| {
                self.owners.push(OwnerBuffer::new(app_name, user_id));
                self.owners.len() - 1
            });
            if let Some(buffer) = self.owners.get_mut(index) {
                buffer.wants_state |= wants_state;
            }
        }
    }

    pub(super) fn session_index(&self, target: &Target) -> Option<usize> {
        self.sessions.iter().position(|buffer| buffer.is(target))
    }

    pub(super) fn owner_index(&self, app_name: &str, user_id: Option<&str>) -> Option<usize> {
        self.owners.iter().position(|buffer| buffer.is(app_name, user_id))
    }

    pub(super) fn read_rows(&mut self, results: Array) {
        let mut results = results.into_iter();
        for buffer in &mut self.sessions {
            buffer.read(&mut results);
        }
        for buffer in &mut self.owners {
            buffer.read(&mut results);
        }
        if self.wants_sequence {
            self.sequence = Some(Sequence::read(&mut results));
        }
    }

    pub(super) fn needs_floor(&self) -> bool {
        self.sequence.is_none()
            && (self.sessions.iter().any(|buffer| buffer.record.is_none())
                || self.owners.iter().any(OwnerBuffer::misses_state))
    }

    /// Requests the keys of the records that hold events with the members' ids. Most writes need no
    /// such round. Returns the index of the session for each request.
    pub(super) fn request_keys(&self, members: &[Member<'_>]) -> Vec<usize> {
        let mut requested = Vec::new();
        for member in members {
            let plan = member.write.plan();
            if !self.checks.ids && plan.ids_are_new {
                continue;
            }
            let Some(session) = self.session_index(&plan.target) else { continue };
            let Some((_, number)) = self.stored(session) else { continue };
            let index = self.transaction.index(EVENTS, BY_ID);
            for id in &plan.event_ids {
                let id = JsValue::from_str(&keys::event_id(number, id));
                let index = index.clone();
                self.transaction.ask(index.and_then(|index| index.get_key(&id)));
                requested.push(session);
            }
        }
        requested
    }

    /// Requests the records with those keys, each only once since a page holds many events, and the
    /// events changed since each session's revision. Returns the index of the session for each request.
    pub(super) fn request_events(&self, keys_for: &[usize], keys: &Array) -> Vec<usize> {
        let mut found = BinaryHeap::new();
        for (index, key) in keys_for.iter().zip(keys.iter()) {
            // `[number, seq]`.
            if let Some(key) = JsObject::found(key) {
                found.push((key.count("1") as Revision, *index as u32));
            }
        }
        let mut requested = Vec::new();
        let mut last = None;
        while let Some(next) = found.pop() {
            let index = next.1 as usize;
            if last.replace(next) != Some(next)
                && let Some((_, number)) = self.stored(index)
            {
                self.transaction.get_all(EVENTS, &keys::pair(number, next.0 as f64), None);
                requested.push(index);
            }
        }
        for (index, buffer) in self.sessions.iter().enumerate() {
            if let Some((record, _)) = self.stored(index) {
                let requests = ask_changed(self.transaction, record, buffer.since, None);
                requested.extend([index].repeat(requests));
            }
        }
        requested
    }

    /// Returns a stored session and its number; `None` if it is missing or damaged.
    fn stored(&self, index: usize) -> Option<(&JsObject, f64)> {
        let record = self.sessions.get(index)?.record.as_ref()?;
        record.head().ok()?;
        Some((record, record.count("number")))
    }

    /// Takes the events that were read. A damaged record is skipped, so that it does not block new events.
    pub(super) fn read_events(&mut self, requested: &[usize], results: &Array) {
        for (index, records) in requested.iter().zip(results.iter()) {
            let Some(buffer) = self.sessions.get_mut(*index) else {
                continue;
            };
            for record in records.unchecked_into::<Array>().iter().filter_map(JsObject::found) {
                if let Ok(page) = PageRecord::read(&record) {
                    buffer.take_in(page);
                }
            }
        }
    }

    /// Puts all changed records. Returns the sessions that have enough open records for a page.
    pub(super) fn put(&mut self) -> Vec<SessionKey> {
        let mut full = Vec::new();
        for buffer in &mut self.sessions {
            if buffer.put(self.transaction) {
                full.push(buffer.key.clone());
            }
        }
        for buffer in &mut self.owners {
            buffer.put(self.transaction);
        }
        if let Some(sequence) = &self.sequence {
            sequence.put(self.transaction);
        }
        full
    }
}
