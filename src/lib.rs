//! Sessions, scoped state and instruction templates for agents built with the Agent Development
//! Kit (ADK). The rules are written once, for Rust programs and, compiled to WebAssembly, for
//! JavaScript.
//!
//! | module | what it holds |
//! |---|---|
//! | [`session`] | the keys of sessions, the revisions that order their changes, windows of events |
//! | [`event`] | the steps of a conversation |
//! | [`state`] | the four scopes, deltas, stored state |
//! | [`mod@write`] | the rules of every write: which rows it needs, its changes, its result |
//! | [`storage`] | the interface to storages with its four verbs, and the storage in memory |
//! | [`service`] | a session service over any storage |
//! | [`instruction`] | templates with state values in braces |
//! | [`invocation`] | runs of agents on a session, for programs without an ADK |
//! | [`error`] | the errors and their codes |
//!
//! `invocation` uses `service`, and `service` uses the other modules. No other module uses these
//! two.

#[cfg(target_arch = "wasm32")]
mod bindings;
pub mod error;
pub mod event;
pub mod instruction;
pub mod invocation;
mod json;
mod names;
mod platform;
mod room;
pub mod service;
pub mod session;
pub mod state;
pub mod storage;
pub mod write;

pub use error::Error;
pub use event::{Event, EventActions};
pub use instruction::{Template, TemplateContext, inject_session_state};
pub use invocation::{ArtifactService, Context, Invocation, ReadonlyContext};
pub use service::{
    CreateRequest, DeleteRequest, GetRequest, InMemorySessionService, ListRequest, Session,
    SessionService,
};
pub use session::SessionKey;
pub use state::{
    KEY_PREFIX_APP, KEY_PREFIX_TEMP, KEY_PREFIX_USER, REMOVED, ReadonlyState, State, StateMap,
};

/// The Rust of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
