//! The storages of the wasm, as the bindings call them. What they read for JavaScript stays there where it is
//! there already, so the wasm holds no code for `read` and `list` of [`Storage`].

use adk_session::Error;
use adk_session::internals::require_room;
use adk_session::memory::MemoryStorage;
use adk_session::read::{ListQuery, Listing, Rows};
use adk_session::session::Revision;
use adk_session::storage::{Call, Deletion, Storage};
use adk_session::write::{Decide, Target};
use js_sys::{Array, Function};
use wasm_bindgen::JsValue;

use crate::bindings::storages::reads::{Fragments, JsListing, fragments, listed_session};
use crate::indexed_db::{EventsRead, IndexedDbStorage, ListedTexts, Member};

/// The storage that was chosen at run time.
pub(super) enum ChosenStorage {
    /// Its futures are ready when they are first polled.
    Memory(MemoryStorage),
    IndexedDb(IndexedDbStorage),
}

impl ChosenStorage {
    /// Opens the storage, so that errors show.
    pub(super) async fn open(&self) -> Result<(), Error> {
        match self {
            Self::Memory(_) => Ok(()),
            Self::IndexedDb(database) => Ok(database.connect().await?),
        }
    }

    /// Reads the note of a new database, and changes it; `undefined` if the storage has no notes.
    pub(super) async fn creation_note(&self, change: Option<&Function>) -> Result<JsValue, Error> {
        match self {
            Self::Memory(_) => Ok(JsValue::UNDEFINED),
            Self::IndexedDb(database) => Ok(database.creation_note(change).await?),
        }
    }

    /// Leaves transactions and upgrades before the browser freezes the page, or continues.
    pub(super) fn set_page_hidden(&self, is_hidden: bool) {
        match self {
            Self::Memory(_) => {}
            Self::IndexedDb(database) if is_hidden => database.suspend(),
            Self::IndexedDb(database) => database.resume(),
        }
    }

    /// Carries out a write as [`Storage::carry_out`] does.
    pub(super) async fn write(&self, write: &mut dyn Decide, call: &dyn Call) -> Result<(), Error> {
        match self {
            Self::Memory(memory) => memory.carry_out_now(write),
            Self::IndexedDb(database) => database.carry_out(write, call).await,
        }
    }

    /// Carries out writes in one transaction, each of which may fail by itself; `None` if the storage
    /// has no groups.
    pub(super) async fn write_all<'a>(
        &'a self,
        writes: Vec<(&'a mut dyn Decide, &'a dyn Call)>,
    ) -> Result<Option<Vec<Result<(), Error>>>, Error> {
        let Self::IndexedDb(database) = self else { return Ok(None) };
        let members = writes.into_iter().map(|(write, call)| Member::new(write, call)).collect();
        let written = database.write_all(members).await?;
        Ok(Some(written.into_iter().map(|done| done.map_err(Into::into)).collect()))
    }

    /// Reads as [`Storage::read`] does, or the markers of a session.
    pub(super) async fn read(
        &self,
        target: &Target,
        read: &EventsRead,
        call: &dyn Call,
    ) -> Result<Rows<Fragments>, Error> {
        match self {
            Self::Memory(memory) => {
                let rows = match read {
                    EventsRead::Of(read) => memory.read(target, read, call).await?,
                    EventsRead::Markers(event_id) => {
                        memory.read_markers(target, event_id.as_deref())?
                    }
                };
                let Rows { session, shared, events, edges, rows } = rows;
                Ok(Rows { session, shared, events: fragments(events), edges, rows })
            }
            Self::IndexedDb(database) => Ok(database.read_records(target, read, call).await?),
        }
    }

    /// Lists as [`Storage::list`] does.
    pub(super) async fn list(
        &self,
        request: &ListQuery,
        call: &dyn Call,
    ) -> Result<JsListing, Error> {
        match self {
            Self::Memory(memory) => listing_of(memory, request),
            Self::IndexedDb(database) => {
                let ListedTexts { sessions, app, users, total } =
                    database.list_texts(request, call).await?;
                Ok(JsListing { sessions, total: total as f64, app, users })
            }
        }
    }

    /// The same as [`Storage::delete`].
    pub(super) async fn delete(
        &self,
        deletion: &Deletion,
        call: &dyn Call,
    ) -> Result<Option<Revision>, Error> {
        match self {
            Self::Memory(memory) => memory.delete(deletion, call),
            Self::IndexedDb(database) => database.delete(deletion, call),
        }
        .await
    }
}

fn listing_of(memory: &MemoryStorage, request: &ListQuery) -> Result<JsListing, Error> {
    let sessions = Array::new();
    let listing = memory.visit_list(request, &mut |place, session| {
        sessions.push(&listed_session(place, session)?);
        Ok(())
    })?;
    let Listing { users, app, total, .. } = listing;
    let states = app.iter().chain(users.iter().map(|(_, user)| user));
    require_room(states.map(|row| row.state.size()).max().unwrap_or_default())?;
    let app = app.map_or(JsValue::UNDEFINED, |app| app.state.to_json().into());
    let users = users
        .into_iter()
        .map(|(user_id, user)| Array::of2(&user_id.into(), &user.state.to_json().into()));
    Ok(JsListing { sessions, total: total as f64, app, users: users.collect() })
}
