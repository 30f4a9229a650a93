//! The storage that was chosen at run time.
//!
//! One enum rather than a generic service a storage: the rules then stand in the wasm once, and
//! not once for each storage.

use std::future::Future;

use js_sys::Array;
use wasm_bindgen::JsValue;

use crate::error::Error;
use crate::room::require_room;
use crate::session::{Revision, Window};
use crate::storage::answer::{Answer, Later};
use crate::storage::foreign::{ForeignStorage, push_numbers, read_floor};
use crate::storage::indexed_db::{self, IndexedDbStorage};
use crate::storage::javascript_text::JavaScriptText;
use crate::storage::lent::Lent;
use crate::storage::memory::{MemoryStorage, MemoryText};
use crate::storage::{
    Changes, Decide, Deletion, EventRow, EventText, Found, ListRequest, Listing, Rows, Storage,
    Target, WriteRequest,
};

/// See the module.
pub enum ChosenStorage {
    Memory(MemoryStorage),
    IndexedDb(IndexedDbStorage),
    Foreign(ForeignStorage),
}

/// An event's text where that storage wants it: in wasm, or left in JavaScript. What a read of a
/// storage in JavaScript gives may be the record of several.
#[derive(Clone)]
pub enum ChosenText {
    Memory(MemoryText),
    JavaScript(JavaScriptText),
}

impl EventText for ChosenText {
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Memory(one), Self::Memory(other)) => one.is_same(other),
            (Self::JavaScript(one), Self::JavaScript(other)) => one.is_same(other),
            _ => false,
        }
    }
}

impl From<MemoryText> for ChosenText {
    fn from(text: MemoryText) -> Self {
        Self::Memory(text)
    }
}

impl From<ChosenText> for MemoryText {
    fn from(text: ChosenText) -> Self {
        match text {
            ChosenText::Memory(text) => text,
            ChosenText::JavaScript(text) => String::from(text).into(),
        }
    }
}

impl From<JsValue> for ChosenText {
    fn from(text: JsValue) -> Self {
        Self::JavaScript(text.into())
    }
}

impl From<ChosenText> for JsValue {
    fn from(text: ChosenText) -> Self {
        match text {
            ChosenText::Memory(text) => text.with(Self::from_str),
            ChosenText::JavaScript(text) => text.into(),
        }
    }
}

/// A decision on [`ChosenText`]s, asked by a storage that has JavaScript's.
pub struct InJavaScript<D>(pub D);

impl<D: Decide<ChosenText>> Decide<JavaScriptText> for InJavaScript<D> {
    fn decide(&mut self, found: Found<'_, JavaScriptText>) -> Option<Changes<JavaScriptText>> {
        let Found { session, state, user, app, events, changed, floor } = found;
        let (events, changed) = (chosen(events), chosen(changed));
        let found = Found { session, state, user, app, events, changed, floor };
        let Changes { session, user, app, events } = self.0.decide(found)?;
        let mut written = Vec::new();
        for row in events {
            written.push(row.map(|text| JsValue::from(text).into()));
        }
        Some(Changes { session, user, app, events: written })
    }
}

fn chosen(rows: Vec<EventRow<JavaScriptText>>) -> Vec<EventRow<ChosenText>> {
    let mut chosen = Vec::new();
    for row in rows {
        chosen.push(row.map(ChosenText::JavaScript));
    }
    chosen
}

impl ChosenStorage {
    fn write<D: Decide<ChosenText> + 'static>(
        &self,
        creates: bool,
        request: WriteRequest,
        mut decision: D,
    ) -> Answer<D> {
        let lend = |decision| Lent::new(InJavaScript(decision));
        let (lent, written): (_, Later) = match self {
            Self::Memory(memory) => {
                let written = memory.write(request, &mut decision);
                return Answer::now(written.map(|()| decision));
            }
            Self::IndexedDb(indexed_db) => {
                let lent = lend(decision);
                let written = indexed_db.ask(creates, request, lent.asked());
                (lent, Box::pin(written))
            }
            Self::Foreign(foreign) => {
                let lent = lend(decision);
                let written = foreign.write(creates, &request, lent.asked());
                (lent, written)
            }
        };
        Answer::later(written, move |_| Ok(lent.take_back()?.0))
    }
}

/// A list as JavaScript gets it. The states of users and of the app stand in it once: a text a session of
/// all that it shows would take more memory than there is.
pub struct ChosenListing {
    /// Records as the storage has them, or of memory `[sessionId, userId, created, revision,
    /// lastUpdateTime, state]` each. States are those of the sessions alone.
    pub sessions: JsValue,
    /// The app's state, then pairs of a user's id and state; names without prefix.
    pub shared: Array,
    pub total: usize,
}

impl From<Listing<JsValue>> for ChosenListing {
    fn from(Listing { sessions, users, app, total }: Listing<JsValue>) -> Self {
        let shared = Array::of1(&app.map_or(JsValue::UNDEFINED, |app| app.state.to_json().into()));
        for (user_id, user) in users {
            shared.push(&user_id.into());
            shared.push(&user.state.to_json().into());
        }
        Self { sessions, shared, total }
    }
}

fn listed_in_memory(memory: &MemoryStorage, request: &ListRequest) -> Result<ChosenListing, Error> {
    let rows = Array::new();
    let listing = memory.each_listed(request, &mut |user_id, session_id, head, state| {
        let row = Array::of2(&session_id.into(), &user_id.into());
        push_numbers(&row, &[head.created as f64, head.revision as f64, head.last_update_time]);
        row.push(&state.try_to_json()?.into());
        rows.push(&row);
        Ok(())
    })?;
    let Listing { users, app, total, .. } = listing;
    let states = app.iter().chain(users.iter().map(|(_, user)| user));
    require_room(states.map(|row| row.state.size()).max().unwrap_or_default())?;
    Ok(Listing { sessions: rows.into(), users, app, total }.into())
}

impl Storage for ChosenStorage {
    type Text = ChosenText;
    type Listing = ChosenListing;
    type Failure = JsValue;

    fn create<D: Decide<ChosenText> + 'static>(
        &self,
        request: WriteRequest,
        decision: D,
    ) -> impl Future<Output = Result<D, JsValue>> {
        self.write(true, request, decision)
    }

    fn append<D: Decide<ChosenText> + 'static>(
        &self,
        request: WriteRequest,
        decision: D,
    ) -> impl Future<Output = Result<D, JsValue>> {
        self.write(false, request, decision)
    }

    fn read(
        &self,
        target: Target,
        window: Window,
    ) -> impl Future<Output = Result<Rows<ChosenText>, JsValue>> {
        match self {
            Self::Memory(memory) => Answer::now(memory.rows(&target, window)),
            Self::IndexedDb(indexed_db) => {
                Answer::later(Box::pin(indexed_db.read_records(target, window)), indexed_db::rows)
            }
            Self::Foreign(foreign) => foreign.read(target, window),
        }
    }

    fn list(&self, request: ListRequest) -> impl Future<Output = Result<ChosenListing, JsValue>> {
        match self {
            Self::Memory(memory) => Answer::now(listed_in_memory(memory, &request)),
            Self::IndexedDb(indexed_db) => {
                let records = indexed_db.list_records(request);
                Answer::later(Box::pin(records), |read| {
                    let (sessions, shared, total) = indexed_db::listed_texts(read)?;
                    Ok(ChosenListing { sessions, shared, total })
                })
            }
            Self::Foreign(foreign) => foreign.list(request),
        }
    }

    fn delete(
        &self,
        deletion: Deletion,
    ) -> impl Future<Output = Result<Option<Revision>, JsValue>> {
        match self {
            Self::Memory(memory) => Answer::now(Ok(Some(memory.remove(&deletion)))),
            Self::IndexedDb(indexed_db) => {
                Answer::later(Box::pin(indexed_db.remove(deletion)), read_floor)
            }
            Self::Foreign(foreign) => foreign.delete(&deletion),
        }
    }
}
