//! The storages that the wasm contains. Memory gives a result at once, IndexedDB gives a promise.

use std::convert;
use std::future::Future;
use std::rc::Rc;

use js_sys::{Array, Function};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::future_to_promise;

use crate::core::error::Error;
use crate::core::read::{ListPlace, ListRequest, Listing, Rows, Window};
use crate::core::room::require_room;
use crate::core::session::SessionHead;
use crate::core::storage::Deletion;
use crate::core::write::{Append, Target};
use crate::memory::MemoryStorage;
use crate::wasm::bindings::js_write::JsWrite;
use crate::wasm::bindings::values::{
    Fragments, JsResult, fragments, listing_to_javascript, push_description, push2,
};
use crate::wasm::guarded::Guarded;
use crate::wasm::indexed_db::{Caller, Expected, IndexedDbStorage, Member, listed_texts, rows};

/// The storage that was chosen at run time. It is one enum, so that the wasm holds the rules once.
pub(super) enum Driver {
    Memory(MemoryStorage),
    // Shared with pending calls, so that JavaScript may drop the service before they end.
    IndexedDb(Rc<IndexedDbStorage>),
}

impl Driver {
    /// Carries out a write, and returns its result. Memory needs no `caller`, see [`Caller`], since it
    /// answers at once.
    pub(super) fn write(&self, mut write: Box<dyn JsWrite>, caller: Option<Function>) -> JsResult {
        match self {
            Self::Memory(memory) => {
                memory.contents()?.write(&mut *write)?;
                while write.replan() {
                    memory.contents()?.write(&mut *write)?;
                }
                write.finish()
            }
            Self::IndexedDb(storage) => {
                let storage = Rc::clone(storage);
                later(async move {
                    storage.write_one(&mut *write, &Caller(caller)).await?;
                    write.finish()
                })
            }
        }
    }

    /// Carries out appends to several sessions in one transaction. Memory answers each append at
    /// once, so it shares nothing.
    pub(super) fn append_many(&self, mut appends: Vec<(Append, Caller)>) -> JsResult {
        let Self::IndexedDb(storage) = self else {
            return Ok(JsValue::UNDEFINED);
        };
        let storage = Rc::clone(storage);
        later(async move {
            let outcomes = Array::new();
            let members = appends.iter_mut().map(|(append, caller)| Member::new(append, caller));
            let written = storage.write_all(members.collect()).await?;
            for (written, (append, _)) in written.into_iter().zip(appends) {
                let appended = match written {
                    Ok(()) => Box::new(append).finish(),
                    Err(failure) => Err(failure.into()),
                };
                let outcome = match appended {
                    Ok(appended) => Array::of1(&appended),
                    Err(error) => Array::of2(&JsValue::UNDEFINED, &error),
                };
                outcomes.push(&outcome);
            }
            Ok(outcomes.into())
        })
    }

    /// Reads a session with a window of its events, or states. `finish` converts the rows.
    pub(super) fn read(
        &self,
        target: Target,
        window: Window,
        caller: Option<Function>,
        finish: fn(Rows<Fragments>) -> JsResult,
    ) -> JsResult {
        match self {
            Self::Memory(memory) => {
                // The borrow ends here. JavaScript may throw through `finish`, which would end no borrow.
                let rows = memory.contents()?.read(&target, &window)?;
                finish(in_javascript(rows))
            }
            Self::IndexedDb(storage) => {
                let storage = Rc::clone(storage);
                later(async move {
                    finish(rows(storage.read_records(target, window, Caller(caller)).await?)?)
                })
            }
        }
    }

    /// Lists sessions, as [`listing_to_javascript`] lays them out.
    pub(super) fn list(&self, request: ListRequest, caller: Option<Function>) -> JsResult {
        match self {
            Self::Memory(memory) => Ok(listing_to_javascript(listed_in_memory(memory, &request)?)),
            Self::IndexedDb(storage) => {
                let storage = Rc::clone(storage);
                later(async move {
                    let records = storage.list_records(request, Caller(caller)).await?;
                    Ok(listing_to_javascript(listed_texts(records)?))
                })
            }
        }
    }

    /// Deletes, and returns the floor, or `undefined` if the session is not as `expected`.
    pub(super) fn delete(
        &self,
        deletion: Deletion,
        expected: Option<Expected>,
        caller: Option<Function>,
    ) -> JsResult {
        match self {
            Self::Memory(memory) => {
                if let (Deletion::Session(key), Some(Expected { revision, labels })) =
                    (&deletion, expected)
                {
                    let session =
                        memory.contents()?.read(&key.clone().into(), &Window::NONE)?.session;
                    let stored =
                        session.map(|row| (row.head.revision as f64, row.description.labels));
                    if stored != Some((revision, labels)) {
                        return Ok(JsValue::UNDEFINED);
                    }
                }
                let floor = memory.contents()?.delete(&deletion);
                Ok(JsValue::from_f64(floor as f64))
            }
            Self::IndexedDb(storage) => {
                let storage = Rc::clone(storage);
                later(async move { Ok(storage.remove(deletion, expected, Caller(caller)).await?) })
            }
        }
    }
}

/// Returns the same rows with the events as [`fragments`].
fn in_javascript(Rows { session, user, app, events, edges }: Rows) -> Rows<Fragments> {
    Rows { session, user, app, events: fragments(events), edges }
}

/// Runs the future as a promise.
pub(super) fn later(result: impl Future<Output = JsResult> + 'static) -> JsResult {
    Ok(future_to_promise(Guarded::new(Box::pin(result), convert::identity)).into())
}

/// Returns the listed sessions, each as `[sessionId, userId, created, revision, lastUpdateTime,
/// state, createTime, title, labels]` with its own state; the shared states; and the total.
fn listed_in_memory(
    memory: &MemoryStorage,
    request: &ListRequest,
) -> Result<(JsValue, Array, usize), Error> {
    let sessions = Array::new();
    let listing = memory.contents()?.list(request, &mut |place, session| {
        let ListPlace { session_id, user_id, .. } = place;
        let row = Array::of2(&(&**session_id).into(), &(&**user_id).into());
        let SessionHead { created, revision, last_update_time, create_time } = session.head;
        push2(&row, created as f64, revision as f64);
        row.push(&last_update_time.as_millis().into());
        row.push(&session.state.try_to_json()?.into());
        row.push(&create_time.as_millis().into());
        push_description(&row, &session.description);
        sessions.push(&row);
        Ok(())
    })?;
    let Listing { users, app, total, .. } = listing;
    let states = app.iter().chain(users.iter().map(|(_, user)| user));
    require_room(states.map(|row| row.state.size()).max().unwrap_or_default())?;
    let shared = Array::of1(&app.map_or(JsValue::UNDEFINED, |app| app.state.to_json().into()));
    for (user_id, user) in users {
        shared.push(&user_id.into());
        shared.push(&user.state.to_json().into());
    }
    Ok((sessions.into(), shared, total))
}
