//! The rules. They are pure and synchronous: no I/O, no wasm type, and no text of an event.
//!
//! One exception: [`event::EventText`] may hold a JavaScript string, so that texts need not enter
//! the wasm.

pub mod error;
pub mod event;
pub(crate) mod json;
pub(crate) mod names;
pub mod read;
pub mod session;
pub mod state;
pub mod storage;
pub mod template;
pub mod write;
