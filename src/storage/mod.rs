//! The seam below which data is kept.
//!
//! A storage has four verbs and knows no rule. Each verb is one transaction. `write` reads, asks the
//! [`Write`] what to change, and changes that. Everything that a session
//! service promises is decided above the seam, so two storages cannot disagree.
//!
//! # What an implementation must do
//! 1. Each verb happens whole or not at all, and no other write comes between its reading and its
//!    writing.
//! 2. It calls [`Write::decide`] with what it read and writes exactly the [`Changes`] that come
//!    back, or nothing where none come. It may call it again when it has to start over; only the
//!    last answer counts.
//! 3. It resolves only when the write is as durable as the storage makes things.
//! 4. Texts come back as they were given: states to the letter, events as the same JSON value. Ids
//!    compare exactly.
//! 5. Events are ordered by `seq`. Event ids are unique within a session.
//! 6. Where the session or a state that was asked for is not there, [`Found::floor`] is not below
//!    the revision of anything it ever deleted: one number for the whole storage is enough.
//! 7. A list costs what it returns: totals are counted on create and delete, and no session is
//!    read which stands beyond `offset + limit`.

#[cfg(target_arch = "wasm32")]
pub(crate) mod answer;
#[cfg(target_arch = "wasm32")]
pub(crate) mod chosen;
#[cfg(any(test, feature = "testing"))]
pub mod conformance;
#[cfg(target_arch = "wasm32")]
pub(crate) mod guarded;
#[cfg(target_arch = "wasm32")]
mod indexed_db;
mod memory;
#[cfg(target_arch = "wasm32")]
pub(crate) mod shared_write;

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

/// What `read` returns.
#[derive(Debug, Clone)]
pub struct Rows {
    /// The session, if one was asked for and is there.
    pub session: Option<SessionRow>,
    /// The user's state, if a user or session was asked for and there is any.
    pub user: Option<ScopeRow>,
    /// The app's state, if there is any.
    pub app: Option<ScopeRow>,
    /// The texts of the events in the window, by `seq`.
    pub events: Vec<EventText>,
}

/// Which sessions `list` returns: ordered by last update, ties by id in UTF-16 order (as
/// JavaScript compares strings), then by user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListRequest {
    /// The app.
    pub app_name: String,
    /// Only this user's sessions.
    pub user_id: Option<String>,
    /// The exact reverse of the ascending order.
    pub descending: bool,
    /// The part of the list that is wanted.
    pub page: Page,
    /// Whether the total is wanted; else [`Listing::total`] may be anything.
    pub with_total: bool,
}

/// What `list` returns. `R`: the sessions as rows, or in whatever shape the storage has them.
#[derive(Debug, Clone)]
pub struct Listing<R = Vec<SessionRow>> {
    /// The sessions of the page.
    pub sessions: R,
    /// The states of the users of those sessions, each user once.
    pub users: Vec<(String, ScopeRow)>,
    /// The app's state.
    pub app: Option<ScopeRow>,
    /// How many sessions there are in all.
    pub total: usize,
}

/// What `delete` deletes. What is not there is no error.
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

/// Where sessions are kept. See the module for what an implementation must do.
///
/// The futures are not `Send`: the core runs on one thread, as JavaScript does.
#[allow(async_fn_in_trait, reason = "a Send bound would shut out every storage in a browser")]
pub trait Storage {
    /// [`Listing`], except where whoever asks makes sessions of stored records himself.
    type Listing;
    /// How the storage itself fails.
    type Failure;

    /// Carries out a write, and hands it back with what it did.
    async fn write(&self, write: Write) -> Result<Write, Self::Failure>;

    /// Reads a session with a window of its events, or a user's or an app's state.
    async fn read(&self, target: Target, window: Window) -> Result<Rows, Self::Failure>;

    /// Reads a page of sessions, without their events.
    async fn list(&self, request: ListRequest) -> Result<Self::Listing, Self::Failure>;

    /// Deletes. Answers with [`Found::floor`] as the deletion left it: below any revision that will
    /// be given to what comes after, and so what orders the deletion among all other changes.
    /// `None` where the storage cannot tell.
    async fn delete(&self, deletion: Deletion) -> Result<Option<Revision>, Self::Failure>;

    /// The keys of all sessions with that bare id, or `None` where the storage keeps no such
    /// index. Not one of the verbs: only the Rust API, which takes a bare id, asks for it.
    fn find(&self, session_id: &str) -> Option<Vec<SessionKey>> {
        let _ = session_id;
        None
    }
}
