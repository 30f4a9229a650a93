//! The interface to storages.
//!
//! A storage has four verbs and knows no rule of a session service. Each verb is one transaction.
//! `write` reads rows, lets the write [decide](Decide) on them, and writes the changes. All rules are
//! decided above this interface, so two storages cannot disagree.
//!
//! The rules of a storage, their numbers and allowed exceptions are in
//! `docs/writing_an_adapter.md`, as is what differs between TypeScript and Rust.
//! [`conformance`](crate::conformance) tests them.
//!
//! A storage gets the changed keys of a state: [`ScopedState::apply`](crate::core::state::ScopedState)
//! applies them.
//!
//! # Example
//! A storage over `BTreeMap`s, and a session service over it:
//!
//! ```
//! use std::cell::RefCell;
//! use std::collections::{BTreeMap, BTreeSet};
//!
//! use adk_session_wasm::service::StoredSessionService;
//! use adk_session_wasm::session::{Description, Revision, SessionHead, SessionKey};
//! use adk_session_wasm::state::ScopedState;
//! use adk_session_wasm::storage::{
//!     Decide, Decision, Deletion, EventRow, Found, ListPlace, ListRequest, Listing, PageEdges, Rows,
//!     SharedChange, SharedRow, SessionRow, Storage, Target, Window,
//! };
//! use adk_session_wasm::{CreateRequest, Error, Event, GetRequest, SessionService};
//!
//! #[derive(Default)]
//! struct Stored {
//!     head: SessionHead,
//!     state: ScopedState,
//!     description: Description,
//!     events: BTreeMap<Revision, EventRow>,
//! }
//!
//! #[derive(Default)]
//! struct Maps {
//!     apps: BTreeMap<String, SharedRow>,
//!     users: BTreeMap<(String, String), SharedRow>,
//!     sessions: BTreeMap<SessionKey, Stored>,
//!     floor: Revision,
//! }
//!
//! #[derive(Default)]
//! struct TreeStorage(RefCell<Maps>);
//!
//! fn session_key(target: &Target) -> Option<SessionKey> {
//!     let (app_name, user_id) = user_key(target)?;
//!     Some(SessionKey { app_name, user_id, session_id: target.session_id.clone()? })
//! }
//!
//! fn user_key(target: &Target) -> Option<(String, String)> {
//!     Some((target.app_name.clone(), target.user_id.clone()?))
//! }
//!
//! fn row((key, stored): (&SessionKey, &Stored)) -> SessionRow {
//!     let (state, description) = (stored.state.clone(), stored.description.clone());
//!     SessionRow { key: key.clone(), head: stored.head, state, description }
//! }
//!
//! fn apply(row: &mut SharedRow, change: SharedChange) {
//!     row.revision = change.revision;
//!     row.state.apply(change.state);
//! }
//!
//! impl Storage for TreeStorage {
//!     // Nothing is awaited while the maps are borrowed, so each verb is one transaction.
//!     async fn write(&self, write: &mut dyn Decide) -> Result<(), Error> {
//!         let maps = &mut *self.0.borrow_mut();
//!         let plan = write.plan().clone();
//!         let (session_key, user_key) = (session_key(&plan.target), user_key(&plan.target));
//!         let stored = session_key.as_ref().and_then(|key| maps.sessions.get(key));
//!         let events = || stored.iter().flat_map(|stored| stored.events.values());
//!         let found = Found {
//!             session: stored.map(|stored| stored.head),
//!             state: stored.map(|stored| stored.state.clone()),
//!             user: user_key.as_ref().and_then(|key| maps.users.get(key)).cloned(),
//!             app: maps.apps.get(&plan.target.app_name).cloned(),
//!             events: events().filter(|row| plan.event_ids.contains(&row.id)).cloned().collect(),
//!             changed: events().filter(|row| row.revision > plan.since).cloned().collect(),
//!             floor: maps.floor,
//!         };
//!         let Decision::Done(Some(changes)) = write.decide(found) else { return Ok(()) };
//!         if let Some(change) = changes.app {
//!             apply(maps.apps.entry(plan.target.app_name).or_default(), change);
//!         }
//!         if let (Some(change), Some(key)) = (changes.user, user_key) {
//!             apply(maps.users.entry(key).or_default(), change);
//!         }
//!         if let (Some(change), Some(key)) = (changes.session, session_key) {
//!             let stored = maps.sessions.entry(key).or_default();
//!             stored.head = change.head;
//!             stored.state.apply(change.state);
//!             stored.description.apply(change.description);
//!             let rows = changes.events.into_iter().map(|change| change.row);
//!             stored.events.extend(rows.map(|row| (row.seq, row)));
//!         }
//!         Ok(())
//!     }
//!
//!     async fn read(&self, target: Target, window: Window) -> Result<Rows, Error> {
//!         let maps = self.0.borrow();
//!         let session =
//!             session_key(&target).and_then(|key| maps.sessions.get_key_value(&key));
//!         let rows: Vec<_> = session.iter().flat_map(|(_, stored)| stored.events.values()).collect();
//!         let position_of = |id: &str| rows.iter().position(|row| &*row.id == id);
//!         let positions = window.positions(rows.len(), position_of, |at| rows[at].timestamp);
//!         let id_at = |at: usize| Some(rows[at].id.clone());
//!         let edges = positions.as_ref().map(|at| PageEdges::of(at, rows.len(), id_at));
//!         Ok(Rows {
//!             session: session.map(row),
//!             user: user_key(&target).and_then(|key| maps.users.get(&key)).cloned(),
//!             app: maps.apps.get(&target.app_name).cloned(),
//!             events: positions.into_iter().flatten().map(|at| rows[at].text.clone()).collect(),
//!             edges,
//!         })
//!     }
//!
//!     async fn list(&self, request: ListRequest) -> Result<Listing, Error> {
//!         let (maps, app_name) = (self.0.borrow(), request.app_name);
//!         let is_asked = |key: &SessionKey| {
//!             key.app_name == app_name && request.user_id.as_ref().is_none_or(|id| *id == key.user_id)
//!         };
//!         let mut rows: Vec<_> = maps.sessions.iter().filter(|(key, _)| is_asked(key)).map(row).collect();
//!         let place = |SessionRow { key, head, .. }: &SessionRow| {
//!             let by_creation = request.order.by_creation;
//!             let time = if by_creation { head.create_time } else { head.last_update_time };
//!             ListPlace::new(time, &key.session_id, &key.user_id)
//!         };
//!         rows.sort_by_cached_key(place);
//!         if request.order.descending {
//!             rows.reverse();
//!         }
//!         let total = rows.len();
//!         if let Some(after) = &request.after {
//!             rows.retain(|row| place(row).follows(after, request.order.descending));
//!         }
//!         let limit = request.page.limit.unwrap_or(total);
//!         let sessions: Vec<_> = rows.into_iter().skip(request.page.offset).take(limit).collect();
//!         let ids: BTreeSet<_> = sessions.iter().map(|row| row.key.user_id.clone()).collect();
//!         let user = |id: String| {
//!             let row = maps.users.get(&(app_name.clone(), id.clone()))?;
//!             Some((id, row.clone()))
//!         };
//!         let users = ids.into_iter().filter_map(user).collect();
//!         Ok(Listing { sessions, users, app: maps.apps.get(&app_name).cloned(), total })
//!     }
//!
//!     async fn delete(&self, deletion: Deletion) -> Result<Option<Revision>, Error> {
//!         let maps = &mut *self.0.borrow_mut();
//!         let mut deleted = Vec::new();
//!         match deletion {
//!             Deletion::Session(key) => {
//!                 deleted.extend(maps.sessions.remove(&key).map(|stored| stored.head.revision));
//!             }
//!             Deletion::User { app_name, user_id } => {
//!                 maps.sessions.retain(|key, stored| {
//!                     let stays = key.app_name != app_name || key.user_id != user_id;
//!                     deleted.push(if stays { 0 } else { stored.head.revision });
//!                     stays
//!                 });
//!                 deleted.extend(maps.users.remove(&(app_name, user_id)).map(|row| row.revision));
//!             }
//!             Deletion::UserState { app_name, user_id } => {
//!                 deleted.extend(maps.users.remove(&(app_name, user_id)).map(|row| row.revision));
//!             }
//!             Deletion::AppState { app_name } => {
//!                 deleted.extend(maps.apps.remove(&app_name).map(|row| row.revision));
//!             }
//!         }
//!         maps.floor = deleted.into_iter().fold(maps.floor, Revision::max);
//!         Ok(Some(maps.floor))
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let service = StoredSessionService::over(TreeStorage::default());
//! let (app_name, user_id) = ("shop".to_owned(), "ada".to_owned());
//! let create =
//!     CreateRequest { app_name: app_name.clone(), user_id: user_id.clone(), ..Default::default() };
//! let session = service.create(create).await?;
//! service.append_event_to(session.key(), Event::new("invocation-1")).await?;
//!
//! let session_id = session.id().to_owned();
//! let get = GetRequest { app_name, user_id, session_id, ..Default::default() };
//! assert_eq!(service.get(get).await?.events().len(), 1);
//! # #[cfg(feature = "testing")]
//! # {
//! #     use adk_session_wasm::conformance;
//! #     let report = conformance::run(async || TreeStorage::default()).await;
//! #     assert!(report.failures.is_empty(), "{report}");
//! # }
//! # Ok::<(), Error>(())
//! # }).unwrap();
//! ```

pub use crate::core::event::EventText;
pub use crate::core::json::is_same_json;
pub use crate::core::read::{
    EventPage, ListOrder, ListPlace, ListRequest, Listing, PageEdges, PageEnd, Rows, Window,
};
pub use crate::core::write::{
    Changes, Decide, Decision, EventChange, EventRow, Found, MOST_CHANGED, Plan, Repetition,
    ScopeSet, SessionChange, SessionRow, SharedChange, SharedRevisions, SharedRow, Target,
};

use crate::core::error::Error;
use crate::core::session::{Revision, SessionKey};

/// A deletion. If there is nothing to delete, it succeeds.
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

/// A storage of sessions. The module's documentation has an example and says where the rules are.
/// [`StoredSessionService::over`](crate::service::StoredSessionService::over) makes a service of it.
///
/// The futures are not `Send`: the core runs on one thread, as JavaScript does.
#[allow(async_fn_in_trait, reason = "a Send bound would shut out every storage in a browser")]
pub trait Storage {
    /// Carries out a write in one transaction. A write that is refused stores nothing, and succeeds:
    /// the caller of `write` gets the reason from it.
    async fn write(&self, write: &mut dyn Decide) -> Result<(), Error>;

    /// Reads a session with a window of its events, or a user's or an app's state.
    async fn read(&self, target: Target, window: Window) -> Result<Rows, Error>;

    /// Reads a page of sessions, without their events.
    async fn list(&self, request: ListRequest) -> Result<Listing, Error>;

    /// Deletes. Returns [`Found::floor`] after the deletion, or `None` if the storage cannot tell.
    /// Later entries get revisions above the floor, so it orders the deletion among all other
    /// changes.
    async fn delete(&self, deletion: Deletion) -> Result<Option<Revision>, Error>;

    /// Whether it carries out [`Plan::truncate_after`]. A storage that does not gets no such write, so
    /// it cannot overlook a removal.
    fn truncates(&self) -> bool {
        false
    }

    /// Returns the keys of all sessions with that id, or `None` if the storage has no such index.
    /// Only the Rust API, which takes a bare id, calls it.
    fn find(&self, session_id: &str) -> Option<Vec<SessionKey>> {
        let _ = session_id;
        None
    }
}

/// Carries out a write, and repeats it while its decision needs more rows.
pub(crate) async fn carry_out<S: Storage>(
    storage: &S,
    write: &mut dyn Decide,
) -> Result<(), Error> {
    storage.write(write).await?;
    while write.replan() {
        storage.write(write).await?;
    }
    Ok(())
}
