//! The JSON text of an event. The rules read it only where events are equal, and where a run was undone.

use std::any::Any;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

use crate::core::event::marker::is_abort_code;
use crate::core::json::{is_same_event, read_text, split_object};
use crate::host::{SendOutsideWasm, SyncOutsideWasm, has_room};

/// An event's text. A clone shares it.
#[derive(Debug, Clone)]
pub enum EventText {
    /// A text in the program's memory.
    Own(TextSlice),
    /// A text that other code holds, such as a JavaScript string.
    Foreign(Arc<dyn ForeignText>),
}

/// A text outside of the program's memory, for storages whose texts lie elsewhere. It is copied only if
/// it must be compared.
///
/// It is a trait object. A type of the text as a parameter would be one of every row, rule and storage.
/// An append to a storage in JavaScript takes as long with the object (25.1 µs) as with a JavaScript
/// string in its place (25.2 µs), and the wasm is half a kilobyte larger.
pub trait ForeignText: Any + SendOutsideWasm + SyncOutsideWasm {
    /// Returns how many bytes of memory a copy takes at most.
    fn size(&self) -> usize;

    /// Whether the other text is of the same type, and has the same characters.
    fn is_equal(&self, other: &dyn ForeignText) -> bool;

    /// Copies the text.
    fn read(&self) -> String;
}

impl fmt::Debug for dyn ForeignText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ForeignText")
    }
}

impl EventText {
    /// Whether another text is that of this stored event: both are equal as JSON values, except for the `hidden` member
    /// of the stored one's `customMetadata`. Foreign texts that differ and that memory has no room to compare are not.
    pub(crate) fn is_same(&self, other: &Self, hidden: Option<&str>) -> bool {
        if let (Self::Foreign(one), Self::Foreign(other)) = (self, other) {
            let is_equal = one.is_equal(&**other);
            if is_equal || !has_room(one.size() + other.size()) {
                return is_equal;
            }
        }
        self.with(|one| other.with(|other| is_same_event(one, other, hidden)))
    }

    /// Returns which run the event belongs to, and whether it undoes runs. A text that is not an event
    /// belongs to none, and so does a foreign one that memory has no room for.
    #[inline(never)]
    pub(crate) fn rewind_members(&self) -> RewindMembers {
        if let Self::Foreign(text) = self
            && !has_room(text.size())
        {
            return RewindMembers::default();
        }
        self.with(RewindMembers::of)
    }

    /// Passes the text to `reader`.
    pub fn with<R>(&self, reader: impl FnOnce(&str) -> R) -> R {
        match self {
            Self::Own(text) => text.with(reader),
            Self::Foreign(text) => reader(&text.read()),
        }
    }
}

impl From<String> for EventText {
    fn from(text: String) -> Self {
        Self::Own(text.into())
    }
}

impl From<TextSlice> for EventText {
    fn from(text: TextSlice) -> Self {
        Self::Own(text)
    }
}

impl From<EventText> for String {
    fn from(text: EventText) -> Self {
        text.with(str::to_owned)
    }
}

/// The members of an event by which rewinds choose what they undo, and that end runs. An empty text counts as none.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct RewindMembers {
    /// The event's invocation.
    pub invocation: Option<String>,
    /// The invocation before which the event rewinds, if it is the marker of a rewind.
    pub rewinds_before: Option<String>,
    /// Whether it is a summary of `@google/adk`.
    pub is_compacted: bool,
    /// Whether it is the end event of a cancelled run.
    pub is_abort: bool,
}

impl RewindMembers {
    fn of(event: &str) -> Self {
        let mut members = Self::default();
        let split = split_object("event", event, &mut |name, value| match name {
            "invocationId" => members.invocation = read_text(value),
            "isCompacted" => members.is_compacted = value == "true",
            "errorCode" => members.is_abort = is_abort_code(value),
            "actions" => {
                let _is_object = split_object("event", value, &mut |name, value| {
                    if name == "rewindBeforeInvocationId" {
                        members.rewinds_before = read_text(value);
                    }
                });
            }
            _ => {}
        });
        split.map_or_else(|_| Self::default(), |()| members)
    }
}

/// A part of a block of text. A clone copies no text; the block lives as long as any of its parts.
#[derive(Debug, Clone)]
pub struct TextSlice {
    // Blocks only grow at their end, so the range stays valid while others push. The lock ends
    // within each method here and is never held across an await.
    block: Arc<RwLock<String>>,
    start: usize,
    end: usize,
}

impl TextSlice {
    /// Makes a slice of the bytes from `start` to `end` of a block that only grows at its end.
    pub(crate) fn new(block: Arc<RwLock<String>>, start: usize, end: usize) -> Self {
        Self { block, start, end }
    }

    /// Returns a part of this text, by bytes. It shares the block.
    #[doc(hidden)]
    pub fn part(&self, bytes: Range<usize>) -> Self {
        let [start, end] = [bytes.start, bytes.end].map(|byte| self.start + byte);
        Self { block: Arc::clone(&self.block), start, end }
    }

    /// Passes the text to `reader`.
    pub fn with<R>(&self, reader: impl FnOnce(&str) -> R) -> R {
        let block = self.block.read().unwrap_or_else(PoisonError::into_inner);
        reader(block.get(self.start..self.end).unwrap_or_default())
    }

    /// The length in bytes.
    pub fn len(&self) -> usize {
        self.end - self.start
    }

    /// Whether it is the empty text.
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }
}

impl From<String> for TextSlice {
    fn from(text: String) -> Self {
        Self { end: text.len(), start: 0, block: Arc::new(RwLock::new(text)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_has_the_members_of_rewinds() {
        let members = |text: &str| EventText::from(text.to_owned()).rewind_members();
        let event = r#"{"id":"rewindBeforeInvocationId","invocationId":"a\"1","actions":{}}"#;
        let own = RewindMembers { invocation: Some("a\"1".to_owned()), ..RewindMembers::default() };
        assert_eq!(members(event), own);
        let rewind = members(
            r#"{"actions":{"stateDelta":{"rewindBeforeInvocationId":"b"},"rewindBeforeInvocationId":"a"}}"#,
        );
        assert_eq!(rewind.rewinds_before.as_deref(), Some("a"));
        assert!(members(r#"{"invocationId":"","isCompacted":true}"#).is_compacted);
        for none in [
            "",
            "[]",
            r#"{"invocationId":""}"#,
            r#"{"invocationId":7}"#,
            r#"{"actions":"rewindBeforeInvocationId"}"#,
            r#"{"actions":{"rewindBeforeInvocationId":null}}"#,
        ] {
            assert_eq!(members(none), RewindMembers::default(), "{none}");
        }
    }
}
