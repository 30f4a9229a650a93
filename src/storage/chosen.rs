//! The storage that was chosen at run time.
//!
//! One enum rather than a generic service a storage: the rules then stand in the wasm once, and
//! not once for each storage.

use std::future::Future;

use wasm_bindgen::JsValue;

use crate::session::{Revision, Window};
use crate::storage::answer::Answer;
use crate::storage::foreign::ForeignStorage;
use crate::storage::memory::{MemoryStorage, MemoryText};
use crate::storage::{Decide, Deletion, ListRequest, Listing, Rows, Storage, Target, WriteRequest};

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
            Self::Foreign(foreign) => foreign.read(target, window),
        }
    }

    fn list(&self, request: ListRequest) -> impl Future<Output = Result<Listing, JsValue>> {
        match self {
            Self::Memory(memory) => Answer::now(memory.listing(&request)),
            Self::Foreign(foreign) => foreign.list(request),
        }
    }

    fn delete(
        &self,
        deletion: Deletion,
    ) -> impl Future<Output = Result<Option<Revision>, JsValue>> {
        match self {
            Self::Memory(memory) => Answer::now(Some(memory.remove(&deletion))),
            Self::Foreign(foreign) => foreign.delete(&deletion),
        }
    }
}
