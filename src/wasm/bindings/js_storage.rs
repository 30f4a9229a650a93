//! Storages of the wasm, as the bindings call them. Their writes and deletions are those of
//! [`Storage`]. What they read for JavaScript stays there where it is there already, so the wasm holds
//! no code for the other verbs of [`Storage`].

use std::future::ready;

use adk_session::internals::{list_memory, require_room, state_size};
use adk_session::memory::MemoryStorage;
use adk_session::read::{ListQuery, Listing, Rows, Window};
use adk_session::session::Revision;
use adk_session::storage::{Call, Deletion, Storage, StorageFuture};
use adk_session::write::{Decide, Target};
use js_sys::{Array, Function};
use wasm_bindgen::JsValue;

use crate::bindings::results::{JsListing, listed_session};
use crate::bindings::values::{Fragments, fragments};
use crate::indexed_db::{IndexedDbStorage, ListedTexts, Member};

/// The outcome of each write of a group.
pub(super) type Outcomes = Vec<Result<(), adk_session::Error>>;

pub(super) trait JsStorage {
    /// The same as [`Storage::write`].
    fn write<'a>(&'a self, write: &'a mut dyn Decide, call: &'a dyn Call) -> StorageFuture<'a, ()>;

    /// The same as [`Storage::delete`].
    fn delete<'a>(
        &'a self,
        deletion: &'a Deletion,
        call: &'a dyn Call,
    ) -> StorageFuture<'a, Option<Revision>>;

    /// Whether its futures are ready when they are first polled.
    fn answers_at_once(&self) -> bool {
        false
    }

    /// Opens the storage, so that errors show.
    fn open(&self) -> StorageFuture<'_, ()> {
        Box::pin(ready(Ok(())))
    }

    /// Reads the note of a new database, and changes it; `undefined` if the storage has no notes.
    fn creation_note<'a>(&'a self, _change: Option<&'a Function>) -> StorageFuture<'a, JsValue> {
        Box::pin(ready(Ok(JsValue::UNDEFINED)))
    }

    /// Leaves transactions and upgrades before the browser freezes the page, or continues.
    fn set_page_hidden(&self, _is_hidden: bool) {}

    /// Carries out writes in one transaction, each of which may fail by itself; `None` if the storage
    /// has no groups.
    fn write_many<'a>(
        &'a self,
        _writes: Vec<(&'a mut dyn Decide, &'a dyn Call)>,
    ) -> Option<StorageFuture<'a, Outcomes>> {
        None
    }

    /// Reads as [`Storage::read`] does.
    fn read_fragments<'a>(
        &'a self,
        target: &'a Target,
        window: &'a Window,
        call: &'a dyn Call,
    ) -> StorageFuture<'a, Rows<Fragments>>;

    /// Lists as [`Storage::list`] does.
    fn list_rows<'a>(
        &'a self,
        request: &'a ListQuery,
        call: &'a dyn Call,
    ) -> StorageFuture<'a, JsListing>;
}

/// Carries out a write, and repeats it while its decision needs more rows.
pub(super) async fn carry_out(
    storage: &dyn JsStorage,
    write: &mut dyn Decide,
    call: &dyn Call,
) -> Result<(), adk_session::Error> {
    loop {
        storage.write(write, call).await?;
        if !write.replan() {
            return Ok(());
        }
    }
}

impl JsStorage for MemoryStorage {
    fn write<'a>(&'a self, write: &'a mut dyn Decide, call: &'a dyn Call) -> StorageFuture<'a, ()> {
        Storage::write(self, write, call)
    }

    fn delete<'a>(
        &'a self,
        deletion: &'a Deletion,
        call: &'a dyn Call,
    ) -> StorageFuture<'a, Option<Revision>> {
        Storage::delete(self, deletion, call)
    }

    fn answers_at_once(&self) -> bool {
        true
    }

    fn read_fragments<'a>(
        &'a self,
        target: &'a Target,
        window: &'a Window,
        call: &'a dyn Call,
    ) -> StorageFuture<'a, Rows<Fragments>> {
        Box::pin(async move {
            let rows = self.read(target, window, call).await?;
            let Rows { session, shared, events, edges, changed } = rows;
            Ok(Rows { session, shared, events: fragments(events), edges, changed })
        })
    }

    fn list_rows<'a>(
        &'a self,
        request: &'a ListQuery,
        _: &'a dyn Call,
    ) -> StorageFuture<'a, JsListing> {
        Box::pin(async move {
            let sessions = Array::new();
            let listing = list_memory(self, request, &mut |session| {
                sessions.push(&listed_session(session)?);
                Ok(())
            })?;
            let Listing { users, app, total, .. } = listing;
            let states = app.iter().chain(users.iter().map(|(_, user)| user));
            require_room(states.map(|row| state_size(&row.state)).max().unwrap_or_default())?;
            let app = app.map_or(JsValue::UNDEFINED, |app| app.state.to_json().into());
            let users = users
                .into_iter()
                .map(|(user_id, user)| Array::of2(&user_id.into(), &user.state.to_json().into()));
            Ok(JsListing { sessions, total: total as f64, app, users: users.collect() })
        })
    }
}

impl JsStorage for IndexedDbStorage {
    fn write<'a>(&'a self, write: &'a mut dyn Decide, call: &'a dyn Call) -> StorageFuture<'a, ()> {
        Storage::write(self, write, call)
    }

    fn delete<'a>(
        &'a self,
        deletion: &'a Deletion,
        call: &'a dyn Call,
    ) -> StorageFuture<'a, Option<Revision>> {
        Storage::delete(self, deletion, call)
    }

    fn open(&self) -> StorageFuture<'_, ()> {
        Box::pin(async move { Ok(self.connect().await?) })
    }

    fn creation_note<'a>(&'a self, change: Option<&'a Function>) -> StorageFuture<'a, JsValue> {
        Box::pin(async move { Ok(IndexedDbStorage::creation_note(self, change).await?) })
    }

    fn set_page_hidden(&self, is_hidden: bool) {
        if is_hidden { self.suspend() } else { self.resume() }
    }

    fn write_many<'a>(
        &'a self,
        writes: Vec<(&'a mut dyn Decide, &'a dyn Call)>,
    ) -> Option<StorageFuture<'a, Outcomes>> {
        let members = writes.into_iter().map(|(write, call)| Member::new(write, call)).collect();
        Some(Box::pin(async move {
            let written = self.write_group(members).await?;
            Ok(written.into_iter().map(|done| done.map_err(Into::into)).collect())
        }))
    }

    fn read_fragments<'a>(
        &'a self,
        target: &'a Target,
        window: &'a Window,
        call: &'a dyn Call,
    ) -> StorageFuture<'a, Rows<Fragments>> {
        Box::pin(async move { Ok(self.read_records(target, window, call).await?) })
    }

    fn list_rows<'a>(
        &'a self,
        request: &'a ListQuery,
        call: &'a dyn Call,
    ) -> StorageFuture<'a, JsListing> {
        Box::pin(async move {
            let ListedTexts { sessions, app, users, total } =
                self.list_texts(request, call).await?;
            Ok(JsListing { sessions, total: total as f64, app, users })
        })
    }
}
