//! The storage that was chosen at run time.
//!
//! One enum rather than a generic service a storage: the rules then stand in the wasm once, and
//! not once for each storage.

use wasm_bindgen::JsValue;

use crate::session::Window;
use crate::storage::foreign::ForeignStorage;
use crate::storage::memory::{MemoryStorage, MemoryText};
use crate::storage::{
    Changes, Decide, Deletion, EventRow, Found, ListRequest, Listing, Rows, Storage, Target,
    WriteRequest,
};

/// See the module.
pub enum ChosenStorage {
    Memory(MemoryStorage),
    Foreign(ForeignStorage),
}

/// An event's text where that storage wants it: in wasm, or left in JavaScript.
#[derive(Clone, PartialEq)]
pub enum ChosenText {
    Memory(MemoryText),
    Foreign(JsValue),
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
            ChosenText::Foreign(text) => text.as_string().unwrap_or_default().into(),
        }
    }
}

impl From<JsValue> for ChosenText {
    fn from(text: JsValue) -> Self {
        Self::Foreign(text)
    }
}

impl From<ChosenText> for JsValue {
    fn from(text: ChosenText) -> Self {
        match text {
            ChosenText::Memory(text) => text.with(Self::from_str),
            ChosenText::Foreign(text) => text,
        }
    }
}

/// A decision over chosen texts, asked in a storage's own.
struct Translated<D>(D);

impl<T, D> Decide<T> for Translated<D>
where
    T: Into<ChosenText> + From<ChosenText>,
    D: Decide<ChosenText>,
{
    fn decide(&mut self, found: Found<'_, T>) -> Option<Changes<T>> {
        let changes = self.0.decide(Found {
            session: found.session,
            user: found.user,
            app: found.app,
            events: translate(found.events),
            changed: translate(found.changed),
            floor: found.floor,
        })?;
        Some(Changes {
            session: changes.session,
            user: changes.user,
            app: changes.app,
            events: translate(changes.events),
        })
    }
}

fn translate<T: Into<U>, U>(rows: Vec<EventRow<T>>) -> Vec<EventRow<U>> {
    let translated = rows.into_iter().map(|row| EventRow {
        id: row.id,
        seq: row.seq,
        revision: row.revision,
        timestamp: row.timestamp,
        text: row.text.into(),
    });
    translated.collect()
}

fn never<T>(answer: Result<T, std::convert::Infallible>) -> T {
    match answer {
        Ok(answer) => answer,
        Err(never) => match never {},
    }
}

impl Storage for ChosenStorage {
    type Text = ChosenText;
    type Failure = JsValue;

    async fn create<D: Decide<ChosenText> + 'static>(
        &self,
        request: WriteRequest,
        decision: D,
    ) -> Result<D, JsValue> {
        let decision = Translated(decision);
        Ok(match self {
            Self::Memory(memory) => never(memory.create(request, decision).await).0,
            Self::Foreign(foreign) => foreign.create(request, decision).await?.0,
        })
    }

    async fn append<D: Decide<ChosenText> + 'static>(
        &self,
        request: WriteRequest,
        decision: D,
    ) -> Result<D, JsValue> {
        let decision = Translated(decision);
        Ok(match self {
            Self::Memory(memory) => never(memory.append(request, decision).await).0,
            Self::Foreign(foreign) => foreign.append(request, decision).await?.0,
        })
    }

    async fn read(&self, target: Target, window: Window) -> Result<Rows<ChosenText>, JsValue> {
        Ok(match self {
            Self::Memory(memory) => never(memory.read(target, window).await).map_texts(),
            Self::Foreign(foreign) => foreign.read(target, window).await?.map_texts(),
        })
    }

    async fn list(&self, request: ListRequest) -> Result<Listing, JsValue> {
        match self {
            Self::Memory(memory) => Ok(never(memory.list(request).await)),
            Self::Foreign(foreign) => foreign.list(request).await,
        }
    }

    async fn delete(&self, deletion: Deletion) -> Result<(), JsValue> {
        match self {
            Self::Memory(memory) => never(memory.delete(deletion).await),
            Self::Foreign(foreign) => foreign.delete(deletion).await?,
        }
        Ok(())
    }
}

impl<T: Into<ChosenText>> Rows<T> {
    fn map_texts(self) -> Rows<ChosenText> {
        Rows {
            session: self.session,
            user: self.user,
            app: self.app,
            events: self.events.into_iter().map(Into::into).collect(),
        }
    }
}
