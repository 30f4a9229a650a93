//! Sessions, scoped state and instruction templates for agents built with the Agent Development
//! Kit (ADK). The rules are written once, for Rust programs and, compiled to WebAssembly, for
//! JavaScript. The library knows no JavaScript: the crate `adk-session-wasm` has the storage in
//! IndexedDB, and the bindings of the npm package.
//!
//! | module | what it holds |
//! |---|---|
//! | [`session`] | the keys of sessions, points in time, and the revisions that order changes |
//! | [`event`] | the steps of a conversation |
//! | [`state`] | the four scopes, deltas, stored state |
//! | [`mod@write`] | the rules of every write: which rows it needs, its changes, its result |
//! | [`read`] | windows of events, pages of lists, and the rows of both |
//! | [`storage`] | the interface to storages with its five verbs |
//! | [`memory`] | the storage in memory |
//! | [`service`] | a session service over any storage |
//! | [`template`] | templates with state values in braces |
//! | [`invocation`] | runs of agents on a session, for programs without an ADK |
//! | [`error`] | the errors and their codes |
//!
//! `core` holds the rules. `memory` uses them, `service` uses `memory`, and `invocation` uses `service`. `host` has
//! what differs between systems.

#[cfg(any(test, feature = "testing"))]
#[path = "../conformance/rust/mod.rs"]
pub mod conformance;
mod core;
mod host;
#[doc(hidden)]
pub mod internals;
pub mod invocation;
pub mod memory;
pub mod service;

pub use crate::core::{error, event, read, session, state, storage, template, write};
pub use error::Error;
pub use event::{Event, EventActions};
pub use invocation::{ArtifactService, Context, Invocation, ReadonlyContext};
pub use read::{ListOrder, ListPlace, PageEnd};
pub use service::{
    CreateRequest, DeleteRequest, EventCursor, EventPage, Events, GetRequest,
    InMemorySessionService, ListEventsRequest, ListPage, ListRequest, Session, SessionInfo,
    SessionPosition, SessionService, TokenUsage,
};
pub use session::{SessionKey, Timestamp};
pub use state::{KEY_PREFIX_APP, KEY_PREFIX_TEMP, KEY_PREFIX_USER, REMOVED, ReadonlyState, State};
pub use template::{Template, TemplateContext, inject_session_state};
