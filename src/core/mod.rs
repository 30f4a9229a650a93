//! The rules. They are pure and synchronous: no I/O, and no parsed event.
//!
//! [`event::EventText`] may be a text that other code holds. So texts of IndexedDB and of JavaScript
//! storages stay outside of the wasm. Copying them would take most of the time of a large read.

pub mod error;
pub mod event;
pub(crate) mod json;
pub(crate) mod names;
pub mod read;
pub(crate) mod room;
pub mod session;
pub mod state;
pub mod storage;
pub mod template;
pub mod view_rules;
pub mod write;
