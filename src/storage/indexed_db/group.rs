//! Writes that share a transaction: what they need is read in one or two rounds, each is decided on
//! what those before it left, and what has come out in the end is put.

use std::cell::RefCell;
use std::rc::Rc;

use wasm_bindgen::JsValue;
use web_sys::IdbRequest;

use crate::session::SessionKey;
use crate::state::ScopedState;
use crate::storage::indexed_db::failure::Failure;
use crate::storage::indexed_db::keys;
use crate::storage::indexed_db::page::Page;
use crate::storage::indexed_db::record::{Record, SessionRecord, read_scope, write_scope};
use crate::storage::indexed_db::schema::{
    BY_ID, BY_REPLACEMENT, COUNTS, EVENTS, META, SESSIONS, STATES,
};
use crate::storage::indexed_db::sequence::{Counts, Sequence};
use crate::storage::indexed_db::session_slot::SessionSlot;
use crate::storage::indexed_db::transaction::{Transaction, result};
use crate::storage::javascript_text::JavaScriptText;
use crate::storage::{Changes, Decide, Found, ScopeChange, ScopeRow, Target, WriteRequest};

/// One write that waits for its turn.
pub(super) struct Member {
    pub(super) request: WriteRequest,
    pub(super) creates: bool,
    /// Tells a session that this write made from any other of that name.
    pub(super) token: f64,
    pub(super) decision: Rc<RefCell<dyn Decide<JavaScriptText>>>,
    /// Why this write alone fails, whatever becomes of the others.
    pub(super) failure: Option<Failure>,
}

/// How thoroughly a transaction looks before it writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Care {
    /// Look new events' ids up. Most are new indeed, and the unique index tells where one is not.
    pub(super) ids: bool,
    /// Read the floor of revisions. Only what is not there needs one.
    pub(super) floor: bool,
    /// A write before may have been committed without our being told.
    pub(super) again: bool,
}

/// What came of an attempt that is to be committed.
pub(super) enum Outcome {
    /// Written, but for the commit; these sessions have enough events for a page.
    Written(Vec<SessionKey>),
    /// It must be done again, with more care.
    Needs(Care),
}

struct ScopeSlot {
    app_name: String,
    user_id: Option<String>,
    row: Option<Result<ScopeRow, Failure>>,
    is_changed: bool,
}

/// See the module.
pub(super) struct Group<'a> {
    transaction: &'a Transaction,
    care: Care,
    sessions: Vec<SessionSlot>,
    scopes: Vec<ScopeSlot>,
    sequence: Option<Sequence>,
    counts: Counts,
    /// Whether something was refused that may be stored already, in which case it is none.
    must_look: bool,
}

/// The stores that these writes may touch.
pub(super) fn stores(members: &[Member], care: Care) -> Vec<&'static str> {
    let any = |wants: fn(&Member) -> bool| members.iter().any(wants);
    let creates = any(|member| member.creates);
    let mut stores = Vec::new();
    if any(|member| member.request.target.session_id.is_some()) {
        stores.extend([SESSIONS, EVENTS]);
    }
    if any(|member| member.request.scopes.user || member.request.scopes.app) {
        stores.push(STATES);
    }
    if creates {
        stores.push(COUNTS);
    }
    if creates || care.floor || stores.is_empty() {
        stores.push(META);
    }
    stores
}

impl<'a> Group<'a> {
    /// Reads what the members need, asks them, and puts what they decided.
    pub(super) async fn write(
        transaction: &'a Transaction,
        members: &mut [Member],
        care: Care,
    ) -> Result<Outcome, Failure> {
        let mut group = Self {
            transaction,
            care,
            sessions: Vec::new(),
            scopes: Vec::new(),
            sequence: None,
            counts: Counts::default(),
            must_look: false,
        };
        group.name(members);
        group.read_rows(members).await?;
        if group.needs_floor() {
            return Ok(Outcome::Needs(Care { floor: true, ..care }));
        }
        group.read_events(members).await?;
        for member in members {
            group.ask(member);
        }
        if group.must_look {
            return Ok(Outcome::Needs(Care { ids: true, ..care }));
        }
        group.put().map(Outcome::Written)
    }

    fn name(&mut self, members: &[Member]) {
        for Member { request, .. } in members {
            let Target { app_name, user_id, .. } = &request.target;
            if let Some(key) = session_key(&request.target) {
                let position = self.session_position(&key);
                let position = position.unwrap_or_else(|| {
                    self.sessions.push(SessionSlot::new(key));
                    self.sessions.len() - 1
                });
                if let Some(slot) = self.sessions.get_mut(position) {
                    slot.since = slot.since.min(request.since);
                }
            }
            let user = user_id.as_deref().filter(|_| request.scopes.user).map(Some);
            let app = request.scopes.app.then_some(None);
            for user_id in user.into_iter().chain(app) {
                if self.scope_position(app_name, user_id).is_none() {
                    self.scopes.push(ScopeSlot {
                        app_name: app_name.clone(),
                        user_id: user_id.map(str::to_owned),
                        row: None,
                        is_changed: false,
                    });
                }
            }
        }
    }

    fn session_position(&self, key: &SessionKey) -> Option<usize> {
        self.sessions.iter().position(|slot| slot.key == *key)
    }

    fn scope_position(&self, app_name: &str, user_id: Option<&str>) -> Option<usize> {
        self.scopes
            .iter()
            .position(|slot| slot.app_name == app_name && slot.user_id.as_deref() == user_id)
    }

    /// The first round.
    async fn read_rows(&mut self, members: &[Member]) -> Result<(), Failure> {
        let transaction = self.transaction;
        let mut sessions = Vec::new();
        let mut scopes = Vec::new();
        if !self.sessions.is_empty() {
            let store = transaction.store(SESSIONS)?;
            for slot in &self.sessions {
                sessions.push(transaction.asked(store.get(&keys::session(&slot.key)))?);
            }
        }
        if !self.scopes.is_empty() {
            let store = transaction.store(STATES)?;
            for slot in &self.scopes {
                let key = keys::scope(&slot.app_name, slot.user_id.as_deref());
                scopes.push(transaction.asked(store.get(&key))?);
            }
        }
        let creates = members.iter().any(|member| member.creates);
        let sequence = if creates || self.care.floor || self.sessions.len() + self.scopes.len() == 0
        {
            Some(Sequence::ask(transaction)?)
        } else {
            None
        };
        if creates {
            let created = members.iter().filter(|member| member.creates);
            self.counts.ask(transaction, created.map(|member| &member.request.target))?;
        }
        transaction.answered().await?;
        for (slot, request) in self.sessions.iter_mut().zip(&sessions) {
            slot.stored = Record::found(result(request)?).map(SessionRecord::read);
        }
        for (slot, request) in self.scopes.iter_mut().zip(&scopes) {
            slot.row = Record::found(result(request)?).map(|record| read_scope(&record));
        }
        self.sequence = sequence.as_ref().map(Sequence::read).transpose()?;
        self.counts.read()
    }

    fn needs_floor(&self) -> bool {
        self.sequence.is_none()
            && (self.sessions.iter().any(|slot| slot.stored.is_none())
                || self.scopes.iter().any(|slot| slot.row.is_none()))
    }

    /// The second round, which most writes do without.
    async fn read_events(&mut self, members: &[Member]) -> Result<(), Failure> {
        if self.sessions.is_empty() {
            return Ok(());
        }
        let transaction = self.transaction;
        let throws = |thrown| Failure::of_transaction(&thrown);
        let store = transaction.store(EVENTS)?;
        let by_id = store.index(BY_ID).map_err(throws)?;
        let mut asked_for: Vec<(usize, IdbRequest)> = Vec::new();
        for Member { request, .. } in members {
            let position = session_key(&request.target).and_then(|key| self.session_position(&key));
            let Some((position, number, _)) = position.and_then(|at| self.stored(at)) else {
                continue;
            };
            if !self.care.ids && request.ids_are_new {
                continue;
            }
            for id in &request.event_ids {
                let id = JsValue::from_str(&keys::event_id(number, id));
                asked_for.push((position, transaction.asked(by_id.get_all_with_key(&id))?));
            }
        }
        for (position, slot) in self.sessions.iter().enumerate() {
            let since = slot.since;
            let Some((_, number, record)) = self.stored(position) else {
                continue;
            };
            if record.head.revision <= since {
                continue;
            }
            let range = keys::from(number, keys::after(since)).map_err(throws)?;
            asked_for.push((position, transaction.asked(store.get_all_with_key(&range))?));
            if record.record.count("replaced") > since as f64 {
                let index = store.index(BY_REPLACEMENT).map_err(throws)?;
                asked_for.push((position, transaction.asked(index.get_all_with_key(&range))?));
            }
        }
        transaction.answered().await?;
        for (position, request) in &asked_for {
            let Some(slot) = self.sessions.get_mut(*position) else {
                continue;
            };
            for record in js_sys::Array::from(&result(request)?).iter() {
                let Some(record) = Record::found(record) else {
                    continue;
                };
                // What is damaged cannot be told of, and must not be in the way of what is new.
                let Ok(page) = Page::read(&record) else {
                    continue;
                };
                slot.take_in(page);
            }
        }
        Ok(())
    }

    fn stored(&self, position: usize) -> Option<(usize, f64, &SessionRecord)> {
        let record = self.sessions.get(position)?.record()?;
        Some((position, record.number, record))
    }

    /// Asks one member, and takes its changes into what the next one finds.
    fn ask(&mut self, member: &mut Member) {
        if let Err(failure) = self.try_ask(member) {
            member.failure = Some(failure);
        }
    }

    fn try_ask(&mut self, member: &Member) -> Result<(), Failure> {
        let Member { request, token, .. } = member;
        let Target { app_name, user_id, .. } = &request.target;
        let session = session_key(&request.target).and_then(|key| self.session_position(&key));
        let user = user_id.as_deref().filter(|_| request.scopes.user);
        let user = user.and_then(|user_id| self.scope_position(app_name, Some(user_id)));
        let app = request.scopes.app.then(|| self.scope_position(app_name, None)).flatten();

        let mut slot = session.and_then(|position| self.sessions.get_mut(position));
        if let Some(slot) = &mut slot {
            let stored = slot.stored.as_ref().map(Result::as_ref).transpose();
            let stored = stored.map_err(Failure::clone)?;
            let is_own = |stored: &SessionRecord| stored.record.number("token") == Some(*token);
            if self.care.again && member.creates && stored.is_some_and(is_own) {
                return Ok(());
            }
            if request.scopes.session && slot.state.is_none() {
                slot.state = Some(stored.map_or(Ok(ScopedState::default()), SessionRecord::state));
            }
            if let Some(Err(failure)) = &slot.state {
                return Err(failure.clone());
            }
        }
        let slot = slot.as_deref();
        let row = |position: Option<usize>| {
            let row = position.and_then(|position| self.scopes.get(position)?.row.as_ref());
            row.map(Result::as_ref).transpose().map_err(Failure::clone)
        };
        let found = Found {
            session: slot.and_then(SessionSlot::head),
            user: row(user)?,
            app: row(app)?,
            events: slot.map_or_else(Vec::new, |slot| slot.events(&request.event_ids)),
            changed: slot.map_or_else(Vec::new, |slot| slot.changed(request.since)),
            floor: self.sequence.as_ref().map_or(0, |sequence| sequence.floor),
        };
        let is_there = found.session.is_some();
        let changes = member.decision.borrow_mut().decide(found);
        let is_blind = request.ids_are_new && !self.care.ids;
        self.must_look |= changes.is_none() && is_there && is_blind;
        if let Some(Changes { session: change, user: user_change, app: app_change, events }) =
            changes
        {
            self.change_scope(user, user_change);
            self.change_scope(app, app_change);
            let slot = session.and_then(|position| self.sessions.get_mut(position));
            if let Some((slot, change)) = slot.zip(change) {
                if slot.stored.is_none() {
                    let number = self.sequence.as_mut().map_or(0.0, Sequence::next);
                    self.counts.add(&request.target, 1.0);
                    slot.stored = Some(Ok(SessionRecord::new(&slot.key, number, *token)));
                }
                if let Some(Ok(stored)) = &mut slot.stored {
                    stored.set_head(change.head);
                }
                if let Some(Ok(state)) = &mut slot.state {
                    state.apply(change.state);
                }
                slot.is_changed = true;
                for event in events {
                    slot.write(event);
                }
            }
        }
        Ok(())
    }

    fn change_scope(&mut self, position: Option<usize>, change: Option<ScopeChange>) {
        let slot = position.and_then(|position| self.scopes.get_mut(position));
        let Some((slot, change)) = slot.zip(change) else {
            return;
        };
        if let Ok(row) = slot.row.get_or_insert_with(|| Ok(ScopeRow::default())) {
            row.revision = change.revision;
            row.state.apply(change.state);
            slot.is_changed = true;
        }
    }

    /// Puts all that has changed; returns the sessions that have enough events for a page.
    fn put(self) -> Result<Vec<SessionKey>, Failure> {
        let mut full = Vec::new();
        for slot in self.sessions.into_iter().filter(|slot| slot.is_changed) {
            let key = slot.key.clone();
            if slot.put(self.transaction)? {
                full.push(key);
            }
        }
        for slot in self.scopes.iter().filter(|slot| slot.is_changed) {
            if let Some(Ok(row)) = &slot.row {
                let record = write_scope(&slot.app_name, slot.user_id.as_deref(), row);
                self.transaction.asked(self.transaction.store(STATES)?.put(&record))?;
            }
        }
        if let Some(sequence) = self.sequence {
            sequence.put(self.transaction)?;
        }
        self.counts.put(self.transaction)?;
        Ok(full)
    }
}

fn session_key(target: &Target) -> Option<SessionKey> {
    let (user_id, session_id) = target.user_id.clone().zip(target.session_id.clone())?;
    Some(SessionKey { app_name: target.app_name.clone(), user_id, session_id })
}
