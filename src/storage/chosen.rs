//! The storage that was chosen at run time.
//!
//! It is one enum, not a generic service for each storage, so that the wasm holds the rules once.

use std::future::Future;

use js_sys::Array;
use wasm_bindgen::JsValue;

use crate::error::Error;
use crate::room::require_room;
use crate::session::{Revision, Window};
use crate::storage::answer::{Answer, ChosenListing, push2, read_floor};
use crate::storage::indexed_db::{self, IndexedDbStorage};
use crate::storage::memory::MemoryStorage;
use crate::storage::shared_write::SharedWrite;
use crate::storage::{Deletion, ListRequest, Listing, Rows, Storage};
use crate::write::{Target, Write};

/// One of the storages that the wasm contains.
pub enum ChosenStorage {
    Memory(MemoryStorage),
    IndexedDb(IndexedDbStorage),
}

impl ChosenStorage {
    fn carry_out(&self, mut write: Write) -> Answer<Write> {
        match self {
            Self::Memory(memory) => {
                let written = memory.write_now(&mut write);
                Answer::now(written.map(|()| write))
            }
            Self::IndexedDb(indexed_db) => {
                let shared = SharedWrite::new(write);
                let carried = Box::pin(indexed_db.carry_out(shared.clone()));
                Answer::later(carried, move |_| Ok(shared.take()?))
            }
        }
    }
}

fn listed_in_memory(memory: &MemoryStorage, request: &ListRequest) -> Result<ChosenListing, Error> {
    let rows = Array::new();
    let listing = memory.each_listed(request, &mut |user_id, session_id, head, state| {
        let row = Array::of2(&session_id.into(), &user_id.into());
        push2(&row, head.created as f64, head.revision as f64);
        row.push(&head.last_update_time.into());
        row.push(&state.try_to_json()?.into());
        rows.push(&row);
        Ok(())
    })?;
    let Listing { users, app, total, .. } = listing;
    let states = app.iter().chain(users.iter().map(|(_, user)| user));
    require_room(states.map(|row| row.state.size()).max().unwrap_or_default())?;
    Ok(Listing { sessions: rows.into(), users, app, total }.into())
}

impl Storage for ChosenStorage {
    type Listing = ChosenListing;
    type Failure = JsValue;

    fn write(&self, write: Write) -> impl Future<Output = Result<Write, JsValue>> {
        self.carry_out(write)
    }

    fn read(&self, target: Target, window: Window) -> impl Future<Output = Result<Rows, JsValue>> {
        match self {
            Self::Memory(memory) => Answer::now(memory.rows(&target, window)),
            Self::IndexedDb(indexed_db) => {
                Answer::later(Box::pin(indexed_db.read_records(target, window)), indexed_db::rows)
            }
        }
    }

    fn list(&self, request: ListRequest) -> impl Future<Output = Result<ChosenListing, JsValue>> {
        match self {
            Self::Memory(memory) => Answer::now(listed_in_memory(memory, &request)),
            Self::IndexedDb(indexed_db) => {
                let records = indexed_db.list_records(request);
                Answer::later(Box::pin(records), |read| {
                    let (sessions, shared, total) = indexed_db::listed_texts(read)?;
                    Ok(ChosenListing { sessions, shared, total })
                })
            }
        }
    }

    fn delete(
        &self,
        deletion: Deletion,
    ) -> impl Future<Output = Result<Option<Revision>, JsValue>> {
        match self {
            Self::Memory(memory) => Answer::now(Ok(Some(memory.remove(&deletion)))),
            Self::IndexedDb(indexed_db) => {
                Answer::later(Box::pin(indexed_db.remove(deletion)), read_floor)
            }
        }
    }
}
