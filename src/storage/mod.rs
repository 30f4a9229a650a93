//! The seam below which data is kept.
//!
//! A storage has five verbs and knows no rule. Each verb is one transaction: it reads, asks the
//! core's pure, synchronous [`Decide`] what to write, and writes that. Everything that a session
//! service promises is decided above the seam, so two storages cannot disagree.
//!
//! # What an implementation must do
//! 1. Each verb happens whole or not at all, and no other write comes between its reading and its
//!    writing.
//! 2. It calls [`Decide::decide`] with what it read and writes exactly the [`Changes`] that come
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
mod answer;
#[cfg(target_arch = "wasm32")]
pub(crate) mod chosen;
#[cfg(any(test, feature = "testing"))]
pub mod conformance;
#[cfg(target_arch = "wasm32")]
pub(crate) mod foreign;
#[cfg(target_arch = "wasm32")]
pub(crate) mod guarded;
#[cfg(target_arch = "wasm32")]
mod indexed_db;
#[cfg(target_arch = "wasm32")]
mod javascript_text;
#[cfg(target_arch = "wasm32")]
pub(crate) mod lent;
mod memory;

#[cfg(all(target_arch = "wasm32", feature = "testing"))]
pub use indexed_db::Step;
#[cfg(target_arch = "wasm32")]
pub use indexed_db::{IndexedDbOptions, IndexedDbStorage};
#[cfg(target_arch = "wasm32")]
pub use javascript_text::JavaScriptText;
#[cfg(target_arch = "wasm32")]
pub(crate) use memory::Ask;
pub use memory::{MemoryStorage, MemoryText};

use std::rc::Rc;

pub use crate::json::is_same_json;
use crate::session::{Page, Revision, SessionHead, SessionKey, Window};
use crate::state::{Changes as StateChanges, ScopedState};

/// An event as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct EventRow<T> {
    /// Unique within its session.
    pub id: Rc<str>,
    /// The revision that it was appended at: what events are ordered by.
    pub seq: Revision,
    /// The revision that it was last written at; later than `seq` once it was replaced.
    pub revision: Revision,
    /// Milliseconds since 1970, as the event says.
    pub timestamp: f64,
    /// The event's JSON text.
    pub text: T,
}

impl<T> EventRow<T> {
    /// The row with its text kept in another way.
    pub fn map<U>(self, to: impl FnOnce(T) -> U) -> EventRow<U> {
        let Self { id, seq, revision, timestamp, text } = self;
        EventRow { id, seq, revision, timestamp, text: to(text) }
    }
}

/// The state of a user or of an app, as it is stored.
#[derive(Debug, Clone, Default)]
pub struct ScopeRow {
    /// The revision of its last change.
    pub revision: Revision,
    /// Names without prefix.
    pub state: ScopedState,
}

/// A session as it is stored, without its events.
#[derive(Debug, Clone)]
pub struct SessionRow {
    /// What names it.
    pub key: SessionKey,
    /// Its revisions and time.
    pub head: SessionHead,
    /// The state of this session alone.
    pub state: ScopedState,
}

/// What a write needs to know.
#[derive(Debug)]
pub struct Found<'a, T> {
    /// The session, if there is one.
    pub session: Option<SessionHead>,
    /// The session's own state, if it was asked for and is there.
    pub state: Option<&'a ScopedState>,
    /// The user's state, if it was asked for and is there.
    pub user: Option<&'a ScopeRow>,
    /// The app's state, if it was asked for and is there.
    pub app: Option<&'a ScopeRow>,
    /// The stored events that have one of the ids asked for.
    pub events: Vec<EventRow<T>>,
    /// The events written after the revision asked for, in any order. A foreign storage, where others
    /// write who know no revisions, adds those that may have been.
    pub changed: Vec<EventRow<T>>,
    /// No revision up to this one may be given to what is not there yet.
    pub floor: Revision,
}

/// A changed user's or app's state.
#[derive(Debug, PartialEq)]
pub struct ScopeChange {
    /// Its new revision.
    pub revision: Revision,
    /// What changes in it.
    pub state: StateChanges,
}

impl ScopeChange {
    /// The change of a scope that stands at `row`; `None` if nothing changes.
    pub(crate) fn of(row: Option<&ScopeRow>, state: StateChanges, floor: Revision) -> Option<Self> {
        let last = row.map_or(0, |row| row.revision).max(floor);
        (!state.is_empty()).then(|| Self { revision: last + 1, state })
    }
}

/// The new revisions of the states that a write changed beside the session's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ScopeRevisions {
    /// The user's, if it changed.
    pub user: Option<Revision>,
    /// The app's, if it changed.
    pub app: Option<Revision>,
}

/// A new or changed session.
#[derive(Debug, PartialEq)]
pub struct SessionChange {
    /// Its new revisions and time.
    pub head: SessionHead,
    /// What changes in its own state.
    pub state: StateChanges,
}

/// What to write. An event whose id is stored already takes the stored one's place.
#[derive(Debug, PartialEq)]
pub struct Changes<T> {
    /// The session, if it changes.
    pub session: Option<SessionChange>,
    /// The user's state, if it changes.
    pub user: Option<ScopeChange>,
    /// The app's state, if it changes.
    pub app: Option<ScopeChange>,
    /// New and replaced events.
    pub events: Vec<EventRow<T>>,
}

impl<T> Changes<T> {
    /// What it makes of the user's and the app's revision.
    pub fn scope_revisions(&self) -> ScopeRevisions {
        ScopeRevisions {
            user: self.user.as_ref().map(|change| change.revision),
            app: self.app.as_ref().map(|change| change.revision),
        }
    }
}

/// The core's half of a write: pure, synchronous, and repeatable.
pub trait Decide<T> {
    /// Says what to write in the light of what was found; `None`: nothing.
    fn decide(&mut self, found: Found<'_, T>) -> Option<Changes<T>>;

    /// [`Decide::decide`] for a storage that will not ask again: what it would need for that may be
    /// given away.
    fn decide_last(&mut self, found: Found<'_, T>) -> Option<Changes<T>> {
        self.decide(found)
    }
}

/// Which user and app states a write wants to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ScopeSet {
    /// The session's own state: it will be changed.
    pub session: bool,
    /// The user's state.
    pub user: bool,
    /// The app's state.
    pub app: bool,
}

#[cfg(target_arch = "wasm32")]
impl ScopeSet {
    /// For JavaScript: session 1, user 2, app 4.
    pub(crate) fn bits(self) -> u8 {
        u8::from(self.session) | u8::from(self.user) << 1 | u8::from(self.app) << 2
    }
}

/// Names a session, a user or an app: the widest that is `None` ends the name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The app.
    pub app_name: String,
    /// The user of the app.
    pub user_id: Option<String>,
    /// The session of the user.
    pub session_id: Option<String>,
}

impl From<SessionKey> for Target {
    fn from(key: SessionKey) -> Self {
        Self {
            app_name: key.app_name,
            user_id: Some(key.user_id),
            session_id: Some(key.session_id),
        }
    }
}

/// What `create` and `append` read before they ask.
#[derive(Debug, Clone, PartialEq)]
pub struct WriteRequest {
    /// What is written to.
    pub target: Target,
    /// The states that the write changes or shows.
    pub scopes: ScopeSet,
    /// Ids to look up among the stored events.
    pub event_ids: Vec<Rc<str>>,
    /// Whether they are those of events about to be written, and so hardly ever stored already. A
    /// storage that keeps ids unique may ask for a decision as if none were, and look only if the
    /// write then fails.
    pub ids_are_new: bool,
    /// Events written after this revision are wanted.
    pub since: Revision,
}

/// What `read` returns.
#[derive(Debug, Clone)]
pub struct Rows<T> {
    /// The session, if one was asked for and is there.
    pub session: Option<SessionRow>,
    /// The user's state, if a user or session was asked for and there is any.
    pub user: Option<ScopeRow>,
    /// The app's state, if there is any.
    pub app: Option<ScopeRow>,
    /// The texts of the events in the window, by `seq`.
    pub events: Vec<T>,
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

/// The JSON text of an event, wherever it lies.
pub trait EventText: Clone + 'static {
    /// Whether both say the same, as [`is_same_json`] has it.
    fn is_same(&self, other: &Self) -> bool;
}

impl EventText for String {
    fn is_same(&self, other: &Self) -> bool {
        is_same_json(self, other)
    }
}

/// Where sessions are kept. See the module for what an implementation must do.
///
/// The futures are not `Send`: the core runs on one thread, as JavaScript does.
#[allow(async_fn_in_trait, reason = "a Send bound would shut out every storage in a browser")]
pub trait Storage {
    /// The text of an event: a Rust string where the core holds it, a JavaScript string that
    /// never enters wasm where JavaScript does.
    type Text: EventText;
    /// [`Listing`], except where whoever asks makes sessions of stored records himself.
    type Listing;
    /// How the storage itself fails.
    type Failure;

    /// Writes a session that must not be there yet.
    async fn create<D: Decide<Self::Text> + 'static>(
        &self,
        request: WriteRequest,
        decision: D,
    ) -> Result<D, Self::Failure>;

    /// Adds to a session, or changes a user's or an app's state.
    async fn append<D: Decide<Self::Text> + 'static>(
        &self,
        request: WriteRequest,
        decision: D,
    ) -> Result<D, Self::Failure>;

    /// Reads a session with a window of its events, or a user's or an app's state.
    async fn read(&self, target: Target, window: Window)
    -> Result<Rows<Self::Text>, Self::Failure>;

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
