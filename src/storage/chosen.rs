//! The storage that was chosen at run time.
//!
//! One enum rather than a generic service a storage: the rules then stand in the wasm once, and
//! not once for each storage.

use std::future::Future;
use std::rc::Rc;

use wasm_bindgen::JsValue;

use crate::session::{Revision, Window};
use crate::storage::answer::Answer;
use crate::storage::foreign::ForeignStorage;
use crate::storage::indexed_db::IndexedDbStorage;
use crate::storage::javascript_text::JavaScriptText;
use crate::storage::memory::{MemoryStorage, MemoryText};
use crate::storage::{
    Changes, Decide, Deletion, EventRow, Found, ListRequest, Listing, Rows, Storage, Target,
    WriteRequest,
};

/// See the module.
pub enum ChosenStorage {
    Memory(MemoryStorage),
    // Counted, since a future over it may outlive the call.
    IndexedDb(Rc<IndexedDbStorage>),
    Foreign(ForeignStorage),
}

/// An event's text where that storage wants it: in wasm, or left in JavaScript. What a read of a
/// storage in JavaScript gives may be the record of several.
#[derive(Clone, PartialEq)]
pub enum ChosenText {
    Memory(MemoryText),
    JavaScript(JavaScriptText),
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
struct InJavaScript<D>(D);

impl<D: Decide<ChosenText>> Decide<JavaScriptText> for InJavaScript<D> {
    fn decide(&mut self, found: Found<'_, JavaScriptText>) -> Option<Changes<JavaScriptText>> {
        let chosen = |rows: Vec<EventRow<JavaScriptText>>| {
            rows.into_iter().map(|row| row.map(ChosenText::JavaScript)).collect()
        };
        let Changes { session, user, app, events } = self.0.decide(Found {
            session: found.session,
            user: found.user,
            app: found.app,
            events: chosen(found.events),
            changed: chosen(found.changed),
            floor: found.floor,
        })?;
        let events = events.into_iter().map(|row| row.map(|text| JsValue::from(text).into()));
        Some(Changes { session, user, app, events: events.collect() })
    }
}

impl ChosenStorage {
    fn write<D: Decide<ChosenText> + 'static>(
        &self,
        creates: bool,
        request: WriteRequest,
        mut decision: D,
    ) -> Answer<D> {
        match self {
            Self::Memory(memory) => {
                memory.write(request, &mut decision);
                Answer::now(decision)
            }
            Self::IndexedDb(indexed_db) => {
                let indexed_db = Rc::clone(indexed_db);
                Answer::of(async move {
                    let decision = indexed_db.write(creates, request, InJavaScript(decision));
                    Ok(decision.await?.0)
                })
            }
            Self::Foreign(foreign) => foreign.write(creates, request, decision),
        }
    }
}

impl Storage for ChosenStorage {
    type Text = ChosenText;
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
                let indexed_db = Rc::clone(indexed_db);
                Answer::of(async move { indexed_db.records(target, window).await })
            }
            Self::Foreign(foreign) => foreign.read(target, window),
        }
    }

    fn list(&self, request: ListRequest) -> impl Future<Output = Result<Listing, JsValue>> {
        match self {
            Self::Memory(memory) => Answer::now(memory.listing(&request)),
            Self::IndexedDb(indexed_db) => {
                let indexed_db = Rc::clone(indexed_db);
                Answer::of(async move { indexed_db.list(request).await })
            }
            Self::Foreign(foreign) => foreign.list(request),
        }
    }

    fn delete(
        &self,
        deletion: Deletion,
    ) -> impl Future<Output = Result<Option<Revision>, JsValue>> {
        match self {
            Self::Memory(memory) => Answer::now(Some(memory.remove(&deletion))),
            Self::IndexedDb(indexed_db) => {
                let indexed_db = Rc::clone(indexed_db);
                Answer::of(async move { indexed_db.delete(deletion).await })
            }
            Self::Foreign(foreign) => foreign.delete(&deletion),
        }
    }
}
