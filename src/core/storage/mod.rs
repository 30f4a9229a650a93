//! The interface to storages.
//!
//! A storage has five verbs and knows no rule of a session service. Each verb is one transaction.
//! `write` reads rows, lets the write [decide](Decide) on them, and writes the changes. All rules are
//! decided above this interface, so two storages cannot disagree.
//!
//! The rules of a storage, their numbers and allowed exceptions are in
//! `docs/writing_a_storage.md`, as is what differs between TypeScript and Rust.
//! `conformance`, behind the feature `testing`, tests them.
//!
//! A storage gets the changed keys of a state: [`ScopedState::apply`](crate::core::state::ScopedState)
//! applies them.
//!
//! # Example
//! A storage over `BTreeMap`s, and a session service over it:
//!
//! ```
//! use std::collections::{BTreeMap, BTreeSet};
//! use std::sync::{Mutex, MutexGuard, PoisonError};
//!
//! use adk_session::service::StoredSessionService;
//! use adk_session::session::{DescriptionRow, Revision, SessionHead, SessionKey};
//! use adk_session::state::{ByOwner, ScopedState};
//! use adk_session::storage::{
//!     Call, Decide, Decision, Deletion, EventRow, Found, ListPlace, ListQuery, Listing, PageEdges,
//!     Read, Rows, SharedChange, SharedRow, SessionRow, Storage, StorageFuture, Target,
//! };
//! use adk_session::{CreateRequest, Error, Event, GetRequest, SessionService};
//!
//! #[derive(Default)]
//! struct Stored {
//!     head: SessionHead,
//!     state: ScopedState,
//!     description: DescriptionRow,
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
//! struct TreeStorage(Mutex<Maps>);
//!
//! impl TreeStorage {
//!     fn maps(&self) -> MutexGuard<'_, Maps> {
//!         self.0.lock().unwrap_or_else(PoisonError::into_inner)
//!     }
//! }
//!
//! fn session_key(target: &Target) -> Option<SessionKey> {
//!     let (app_name, user_id) = user_key(target)?;
//!     SessionKey::new(app_name, user_id, target.session_id.clone()?).ok()
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
//! // Each verb locks the maps once, so it is one transaction.
//! impl Maps {
//!     fn write(&mut self, write: &mut dyn Decide) {
//!         let plan = write.plan().clone();
//!         let (session_key, user_key) = (session_key(&plan.target), user_key(&plan.target));
//!         let stored = session_key.as_ref().and_then(|key| self.sessions.get(key));
//!         let events = || stored.iter().flat_map(|stored| stored.events.values());
//!         let found = Found {
//!             session: stored.map(|stored| stored.head),
//!             state: stored.map(|stored| stored.state.clone()),
//!             shared: ByOwner {
//!                 user: user_key.as_ref().and_then(|key| self.users.get(key)).cloned(),
//!                 app: self.apps.get(&plan.target.app_name).cloned(),
//!             },
//!             events: events().filter(|row| plan.event_ids.contains(&row.id)).cloned().collect(),
//!             changed: events().filter(|row| row.revision > plan.since).cloned().collect(),
//!             floor: self.floor,
//!         };
//!         let Decision::Done(Some(changes)) = write.decide(found) else { return };
//!         if let Some(change) = changes.shared.app {
//!             apply(self.apps.entry(plan.target.app_name).or_default(), change);
//!         }
//!         if let (Some(change), Some(key)) = (changes.shared.user, user_key) {
//!             apply(self.users.entry(key).or_default(), change);
//!         }
//!         if let (Some(change), Some(key)) = (changes.session, session_key) {
//!             let stored = self.sessions.entry(key).or_default();
//!             stored.head = change.head;
//!             stored.state.apply(change.state);
//!             stored.description.apply(change.description);
//!             let rows = changes.events.into_iter().map(|change| change.row);
//!             stored.events.extend(rows.map(|row| (row.seq, row)));
//!         }
//!     }
//!
//!     fn read(&self, target: &Target, read: &Read) -> Rows {
//!         let session =
//!             session_key(target).and_then(|key| self.sessions.get_key_value(&key));
//!         let rows: Vec<_> = session.iter().flat_map(|(_, stored)| stored.events.values()).collect();
//!         let position_of = |id: &str| rows.iter().position(|row| &*row.id == id);
//!         let positions = read.positions(rows.len(), position_of, |at| rows[at].timestamp);
//!         let id_at = |at: usize| Some(rows[at].id.clone());
//!         let edges = positions.as_ref().map(|at| PageEdges::of(at, rows.len(), id_at));
//!         Rows {
//!             session: session.map(row),
//!             shared: ByOwner {
//!                 user: user_key(target).and_then(|key| self.users.get(&key)).cloned(),
//!                 app: self.apps.get(&target.app_name).cloned(),
//!             },
//!             events: positions.into_iter().flatten().map(|at| (rows[at].timestamp, rows[at].text.clone())).collect(),
//!             edges,
//!             rows: rows.into_iter().filter(|row| read.asks_for(row)).cloned().collect(),
//!         }
//!     }
//!
//!     fn list(&self, request: &ListQuery) -> Listing {
//!         let app_name = &request.app_name;
//!         let is_asked = |key: &SessionKey| {
//!             key.app_name() == app_name && request.user_id.as_deref().is_none_or(|id| id == key.user_id())
//!         };
//!         let mut rows: Vec<_> = self.sessions.iter().filter(|(key, _)| is_asked(key)).map(row).collect();
//!         let place = |SessionRow { key, head, .. }: &SessionRow| {
//!             let by_creation = request.order.by_creation;
//!             let time = if by_creation { head.create_time } else { head.last_update_time };
//!             ListPlace::new(time, key.session_id(), key.user_id())
//!         };
//!         rows.sort_by_cached_key(place);
//!         if request.order.descending {
//!             rows.reverse();
//!         }
//!         let total = rows.len();
//!         if let Some(after) = &request.after {
//!             rows.retain(|row| place(row).follows(after, request.order.descending));
//!         }
//!         let limit = request.limit.unwrap_or(total);
//!         let sessions: Vec<_> = rows.into_iter().skip(request.offset).take(limit).collect();
//!         let ids: BTreeSet<_> = sessions.iter().map(|row| row.key.user_id().to_owned()).collect();
//!         let user = |id: String| {
//!             let row = self.users.get(&(app_name.clone(), id.clone()))?;
//!             Some((id, row.clone()))
//!         };
//!         let users = ids.into_iter().filter_map(user).collect();
//!         Listing { sessions, users, app: self.apps.get(app_name).cloned(), total }
//!     }
//!
//!     fn delete(&mut self, deletion: &Deletion) -> Option<Revision> {
//!         let mut deleted = Vec::new();
//!         match deletion {
//!             Deletion::Session(key) | Deletion::UnchangedSession { key, .. } => {
//!                 let stored = self.sessions.get(key);
//!                 let labels = stored.and_then(|stored| stored.description.labels.as_deref());
//!                 if !deletion.is_allowed(stored.map_or(0, |stored| stored.head.revision), labels) {
//!                     return None;
//!                 }
//!                 deleted.extend(self.sessions.remove(key).map(|stored| stored.head.revision));
//!             }
//!             Deletion::User { app_name, user_id } => {
//!                 self.sessions.retain(|key, stored| {
//!                     let stays = key.app_name() != app_name || key.user_id() != user_id;
//!                     deleted.push(if stays { 0 } else { stored.head.revision });
//!                     stays
//!                 });
//!                 deleted.extend(self.users.remove(&(app_name.clone(), user_id.clone())).map(|row| row.revision));
//!             }
//!             Deletion::UserState { app_name, user_id } => {
//!                 deleted.extend(self.users.remove(&(app_name.clone(), user_id.clone())).map(|row| row.revision));
//!             }
//!             Deletion::AppState { app_name } => {
//!                 deleted.extend(self.apps.remove(app_name).map(|row| row.revision));
//!             }
//!         }
//!         self.floor = deleted.into_iter().fold(self.floor, Revision::max);
//!         Some(self.floor)
//!     }
//! }
//!
//! impl Storage for TreeStorage {
//!     fn write<'a>(
//!         &'a self,
//!         write: &'a mut dyn Decide,
//!         _: &'a dyn Call,
//!     ) -> StorageFuture<'a, ()> {
//!         Box::pin(async move { Ok(self.maps().write(write)) })
//!     }
//!
//!     fn read<'a>(
//!         &'a self,
//!         target: &'a Target,
//!         read: &'a Read,
//!         _: &'a dyn Call,
//!     ) -> StorageFuture<'a, Rows> {
//!         Box::pin(async move { Ok(self.maps().read(target, read)) })
//!     }
//!
//!     fn list<'a>(
//!         &'a self,
//!         request: &'a ListQuery,
//!         _: &'a dyn Call,
//!     ) -> StorageFuture<'a, Listing> {
//!         Box::pin(async move { Ok(self.maps().list(request)) })
//!     }
//!
//!     fn delete<'a>(
//!         &'a self,
//!         deletion: &'a Deletion,
//!         _: &'a dyn Call,
//!     ) -> StorageFuture<'a, Option<Revision>> {
//!         Box::pin(async move { Ok(self.maps().delete(deletion)) })
//!     }
//!
//!     fn find<'a>(
//!         &'a self,
//!         session_id: &'a str,
//!         _: &'a dyn Call,
//!     ) -> StorageFuture<'a, Vec<SessionKey>> {
//!         Box::pin(async move {
//!             let maps = self.maps();
//!             let has_id = |key: &&SessionKey| key.session_id() == session_id;
//!             Ok(maps.sessions.keys().filter(has_id).cloned().collect())
//!         })
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let service = StoredSessionService::over(TreeStorage::default());
//! let (app_name, user_id) = ("shop".to_owned(), "ada".to_owned());
//! let create =
//!     CreateRequest { app_name: app_name.clone(), user_id: user_id.clone(), ..Default::default() };
//! let session = service.create(create).await?;
//! service.append_event(session.id(), Event::new("invocation-1")).await?;
//!
//! let session_id = session.id().to_owned();
//! let get = GetRequest { app_name, user_id, session_id, ..Default::default() };
//! assert_eq!(service.get(get).await?.events().len(), 1);
//!
//! // With the feature `testing`:
//! # #[cfg(feature = "testing")]
//! # {
//! use adk_session::conformance;
//! let report = conformance::run(async || TreeStorage::default()).await;
//! assert!(report.failures.is_empty(), "{report}");
//! # }
//! # Ok::<(), Error>(())
//! # }).unwrap();
//! ```

pub use crate::core::event::EventText;
pub use crate::core::json::is_same_json;
pub use crate::core::read::{
    ListOrder, ListPlace, ListQuery, Listing, PageEdges, PageEnd, PageQuery, Read, Rows, TimedText,
};
pub use crate::core::write::{
    Changes, Decide, Decision, EventChange, EventRow, Found, Plan, Repetition, ScopeSet,
    SessionChange, SessionRow, SharedChange, SharedRevisions, SharedRow, Target,
};

mod deletion;
mod shared;

pub use deletion::Deletion;
pub(crate) use shared::forward_to_pointers;

use crate::core::error::Error;
use crate::core::session::{Revision, SessionKey};
pub use crate::host::{BoxFuture, SendOutsideWasm, SyncOutsideWasm};

/// The call of a service that a verb serves. A storage may ignore it.
pub trait Call: SendOutsideWasm + SyncOutsideWasm {
    /// A storage that waits calls this before it writes anything.
    ///
    /// # Errors
    /// Fails if the caller has given the call up.
    fn check(&self) -> Result<(), Error> {
        Ok(())
    }

    /// A storage calls this before it tries a transaction again.
    ///
    /// # Errors
    /// Fails if it must not be tried again.
    fn count_retry(&self) -> Result<(), Error> {
        Ok(())
    }
}

/// A call that nobody gives up, and whose retries nobody counts.
impl Call for () {}

/// The future of a verb.
pub type StorageFuture<'a, T> = BoxFuture<'a, Result<T, Error>>;

/// A storage of sessions. The module's documentation has an example and says where the rules are.
/// [`StoredSessionService::over`](crate::service::StoredSessionService::over) makes a service of it.
///
/// Its futures are `Send`, except in wasm. A storage that has all at hand, as memory has, gives futures
/// that are ready when they are first polled. Over such a storage, JavaScript gets its results at once.
///
/// A program that chooses its storage when it runs holds an `Arc<dyn Storage>`, which is a storage too.
pub trait Storage: SendOutsideWasm + SyncOutsideWasm {
    /// Decides on a write once, in one transaction. A write that is refused stores nothing, and succeeds:
    /// the caller gets the reason from it. Callers use [`Storage::carry_out`].
    fn write<'a>(&'a self, write: &'a mut dyn Decide, call: &'a dyn Call) -> StorageFuture<'a, ()>;

    /// Carries out a write, and repeats it while its decision needs more rows.
    fn carry_out<'a>(
        &'a self,
        write: &'a mut dyn Decide,
        call: &'a dyn Call,
    ) -> StorageFuture<'a, ()> {
        Box::pin(async move {
            loop {
                self.write(write, call).await?;
                if !write.replan() {
                    return Ok(());
                }
            }
        })
    }

    /// Reads a session with some of its events, or a user's or an app's state.
    fn read<'a>(
        &'a self,
        target: &'a Target,
        read: &'a Read,
        call: &'a dyn Call,
    ) -> StorageFuture<'a, Rows>;

    /// Reads a page of sessions, without their events.
    fn list<'a>(&'a self, request: &'a ListQuery, call: &'a dyn Call)
    -> StorageFuture<'a, Listing>;

    /// Deletes. Returns [`Found::floor`] after the deletion, or `None` if the storage cannot tell or the
    /// session is not as it was listed. Later entries get revisions above the floor, so it orders the
    /// deletion among all other changes.
    fn delete<'a>(
        &'a self,
        deletion: &'a Deletion,
        call: &'a dyn Call,
    ) -> StorageFuture<'a, Option<Revision>>;

    /// Returns the keys of all sessions with that id, in any order.
    ///
    /// Only the Rust API, which takes a bare id, calls it.
    fn find<'a>(
        &'a self,
        session_id: &'a str,
        call: &'a dyn Call,
    ) -> StorageFuture<'a, Vec<SessionKey>>;
}
