//! The interface to storages.
//!
//! A storage has four verbs and knows no rule of a session service. Each verb is one transaction.
//! `write` reads rows, asks the [`Write`] for the changes, and writes them. All rules are decided
//! above this interface, so two storages cannot disagree.
//!
//! # What an implementation must do
//! 1. Each verb succeeds as a whole or changes nothing. No other write comes between its reads and
//!    its writes.
//! 2. `write` calls [`Write::decide`] with the rows that it read. It writes exactly the returned
//!    [`Changes`], or nothing if there are none. When it retries, it calls `decide` again; only the
//!    last result counts.
//! 3. A verb resolves only when its write is as durable as the storage can make it.
//! 4. Texts are returned as they were stored: states unchanged, events as the same JSON value. Ids
//!    compare exactly.
//! 5. Events are ordered by `seq`. Event ids are unique within a session.
//! 6. If the session or a requested state does not exist, [`Found::floor`] must be at least the
//!    revision of everything that was ever deleted. One number for the whole storage is enough.
//! 7. The cost of a list grows only with `offset + limit`. Totals are counted on create and delete, and
//!    no session beyond `offset + limit` is read.

#[cfg(any(test, feature = "testing"))]
pub mod conformance;
#[cfg(target_arch = "wasm32")]
pub(crate) mod guarded;
#[cfg(target_arch = "wasm32")]
pub(crate) mod indexed_db;
mod memory;

#[cfg(all(target_arch = "wasm32", feature = "testing"))]
pub use indexed_db::Step;
#[cfg(target_arch = "wasm32")]
pub use indexed_db::{IndexedDbOptions, IndexedDbStorage};
pub use memory::MemoryStorage;

pub use crate::event::EventText;
pub use crate::json::is_same_json;
use crate::session::{Page, Revision, SessionKey, Window};
pub use crate::write::{
    Changes, EventChange, EventRow, Found, Plan, ScopeChange, ScopeRevisions, ScopeRow, ScopeSet,
    SessionChange, SessionRow, Target, Write,
};

/// The result of `read`.
#[derive(Debug, Clone)]
pub struct Rows {
    /// The session, if one was requested and exists.
    pub session: Option<SessionRow>,
    /// The user's state, if a user or session was requested and the state exists.
    pub user: Option<ScopeRow>,
    /// The app's state, if it exists.
    pub app: Option<ScopeRow>,
    /// The texts of the events in the window, by `seq`.
    pub events: Vec<EventText>,
}

/// The sessions that `list` returns, ordered by last update, then by id, then by user. Ids compare
/// in UTF-16 order, as JavaScript compares strings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListRequest {
    /// The app.
    pub app_name: String,
    /// Only this user's sessions; `None` for all users.
    pub user_id: Option<String>,
    /// Whether the order is reversed, exactly.
    pub descending: bool,
    /// The requested part of the list.
    pub page: Page,
    /// Whether the total is requested; otherwise [`Listing::total`] may be any number.
    pub with_total: bool,
}

/// The result of `list`. `R` holds the sessions, as rows or in the storage's own form.
#[derive(Debug, Clone)]
pub struct Listing<R = Vec<SessionRow>> {
    /// The sessions of the page.
    pub sessions: R,
    /// The states of these sessions' users, each user once.
    pub users: Vec<(String, ScopeRow)>,
    /// The app's state.
    pub app: Option<ScopeRow>,
    /// The number of all sessions of the app or user, not only of the page.
    pub total: usize,
}

/// A deletion. Nothing to delete is no error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deletion {
    /// A session and its events; user and app state stay.
    Session(SessionKey),
    /// A user's state.
    UserState {
        /// The app.
        app_name: String,
        /// The user.
        user_id: String,
    },
    /// A user's sessions and state.
    User {
        /// The app.
        app_name: String,
        /// The user.
        user_id: String,
    },
    /// An app's state.
    AppState {
        /// The app.
        app_name: String,
    },
}

/// A storage of sessions. The module's documentation says what an implementation must do.
///
/// The futures are not `Send`: the core runs on one thread, as JavaScript does.
#[allow(async_fn_in_trait, reason = "a Send bound would shut out every storage in a browser")]
pub trait Storage {
    /// The storage's own errors.
    type Failure;

    /// Carries out a write, and returns it with its result.
    async fn write(&self, write: Write) -> Result<Write, Self::Failure>;

    /// Reads a session with a window of its events, or a user's or an app's state.
    async fn read(&self, target: Target, window: Window) -> Result<Rows, Self::Failure>;

    /// Reads a page of sessions, without their events.
    async fn list(&self, request: ListRequest) -> Result<Listing, Self::Failure>;

    /// Deletes. Returns [`Found::floor`] after the deletion, or `None` if the storage cannot tell.
    /// Later entries get revisions above the floor, so it orders the deletion among all other
    /// changes.
    async fn delete(&self, deletion: Deletion) -> Result<Option<Revision>, Self::Failure>;

    /// Returns the keys of all sessions with that id, or `None` if the storage has no such index.
    /// Only the Rust API, which takes a bare id, calls it.
    fn find(&self, session_id: &str) -> Option<Vec<SessionKey>> {
        let _ = session_id;
        None
    }
}

/// Carries out a write, and repeats it while its decision needs more rows.
pub(crate) async fn carry_out<S: Storage>(storage: &S, write: Write) -> Result<Write, S::Failure> {
    repeat(storage, storage.write(write).await).await
}

/// Repeats a write while its decision needs more rows. `written` is the outcome of its first
/// attempt.
pub(crate) async fn repeat<S: Storage>(
    storage: &S,
    mut written: Result<Write, S::Failure>,
) -> Result<Write, S::Failure> {
    loop {
        let mut write = written?;
        if !write.again() {
            return Ok(write);
        }
        written = storage.write(write).await;
    }
}
