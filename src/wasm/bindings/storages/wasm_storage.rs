//! The sessions of the storage that was chosen at run time.

use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use adk_session::event::{EventText, TextSlice};
use adk_session::internals::{broken_storage, check_owner};
use adk_session::memory::MemoryStorage;
use adk_session::read::{Read, Rows};
use adk_session::session::{Revision, SessionKey, Timestamp};
use adk_session::write::{Decide, Describe, Target};
use js_sys::{Array, Function};
use wasm_bindgen::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::future_to_promise;

use crate::bindings::appends::{Appends, Texts};
use crate::bindings::computed::{computing_append, update};
use crate::bindings::js_write::JsWrite;
use crate::bindings::packed::Parts;
use crate::bindings::packed::{ReadNumber, number};
use crate::bindings::storages::chosen_storage::ChosenStorage;
use crate::bindings::storages::js_call::JsCall;
use crate::bindings::storages::reads::{
    AppendOutcome, Fragments, found_events, listing, read_page, read_session, state_to_javascript,
};
use crate::bindings::storages::requests::{DeleteObject, DescribeObject, ListObject, PageObject};
use crate::bindings::values::JsResult;
use crate::guarded::{Guarded, Task};
use crate::indexed_db::{EventsRead, IndexedDbOptions, IndexedDbStorage};
use crate::object::object_of;
use crate::thrown::Thrown;

/// A storage of sessions. A method returns its result at once if the storage does, else a promise.
#[wasm_bindgen]
pub struct WasmStorage {
    // Shared with pending calls, so that JavaScript may drop the service before they end.
    storage: Rc<ChosenStorage>,
}

#[wasm_bindgen]
impl WasmStorage {
    /// Makes a memory of its own.
    pub fn memory() -> Self {
        Self { storage: Rc::new(ChosenStorage::Memory(MemoryStorage::new())) }
    }

    /// Uses the IndexedDB of that name, which is opened when it is first needed.
    /// Times are in milliseconds. For `on_open` see [`IndexedDbStorage::new`].
    pub fn indexed_db(name: &str, strict: bool, timeout: f64, on_open: Option<Function>) -> Self {
        let options = IndexedDbOptions { strict, timeout };
        let database = IndexedDbStorage::new(name, on_open, options);
        Self { storage: Rc::new(ChosenStorage::IndexedDb(database)) }
    }

    /// Opens the storage if it can be opened, so that errors show.
    pub fn open(&self) -> Result<JsValue, Thrown> {
        let storage = Rc::clone(&self.storage);
        self.answer(Box::pin(async move {
            storage.open().await?;
            Ok(JsValue::UNDEFINED)
        }))
    }

    /// Returns the note of a new IndexedDB, or `undefined`. `change` gets it within the transaction, and
    /// returns the new one, `null` to delete it, or `undefined`.
    pub fn creation_note(&self, change: Option<Function>) -> Result<JsValue, Thrown> {
        let storage = Rc::clone(&self.storage);
        self.answer(Box::pin(async move { Ok(storage.creation_note(change.as_ref()).await?) }))
    }

    /// Aborts transactions and upgrades before the browser freezes the page, or lets calls try again.
    /// In between they wait.
    pub fn set_page_hidden(&self, is_hidden: bool) {
        self.storage.set_page_hidden(is_hidden);
    }

    /// Creates a session, packed like an append; see `Appends`. If the key is taken, returns `undefined` with
    /// `CreationNumber::IfAbsent`, else fails with `already_exists`.
    ///
    /// For `caller`, here and in other verbs, see [`JsCall`].
    pub fn create(
        &self,
        packed: String,
        numbers: &[f64],
        texts: Option<Array>,
        caller: Option<Function>,
    ) -> Result<JsValue, Thrown> {
        let creation = unpack(packed, numbers, texts.as_ref(), |appends| appends.creation())?;
        self.write(Box::new(creation), caller)
    }

    /// Changes the title and the labels of a session, see `DescriptionChange` of the library. Returns whether the
    /// session exists.
    pub fn describe(
        &self,
        request: &DescribeObject,
        caller: Option<Function>,
    ) -> Result<JsValue, Thrown> {
        let (key, change) = request.read()?;
        self.write(Box::new(Describe::new(key, change)), caller)
    }

    /// Returns a session, or `undefined`. `packed` has its three names. With `ReadNumber::Since`, its events are
    /// those that were written after that revision. TypeScript has checked the numbers, here and in other verbs.
    pub fn get(
        &self,
        packed: &str,
        numbers: &[f64],
        caller: Option<Function>,
    ) -> Result<JsValue, Thrown> {
        use ReadNumber::{After, AppName, Last, SessionId, Since, UserId};
        let number = |name: ReadNumber| {
            let number = number(numbers, name as usize);
            (!number.is_nan()).then_some(number)
        };
        let mut parts = Parts::of(packed);
        let [app_name, user_id, session_id] = [AppName, UserId, SessionId]
            .map(|name| parts.next(number(name).unwrap_or_default() as usize));
        check_owner(app_name, Some(user_id))?;
        // No event is earlier than 1970, and none later than the year 9999.
        let after = number(After).map(|time| Timestamp::valid(time.max(0.0)));
        let limit = number(Last).map(|count| count as usize);
        let since = number(Since).map(|since| since as Revision);
        let read = match (since, after) {
            (Some(revision), _) => Read::Since { revision, limit },
            (None, Some(None)) => Read::NONE,
            (None, after) => Read::Last { limit, after: after.flatten() },
        };
        let Ok(key) = SessionKey::new(app_name, user_id, session_id) else {
            return Ok(JsValue::UNDEFINED);
        };
        self.read(key.into(), EventsRead::Of(read), caller, read_session)
    }

    /// Returns a page of a session's events: the first ones after the event with that id, or the last ones
    /// before it. Without an id, the first or last ones of all. With `onlyMarkers`, returns the events at the places
    /// of the session's markers, and the event with that id; no events if places are lost.
    pub fn page(&self, request: &PageObject, caller: Option<Function>) -> Result<JsValue, Thrown> {
        let (key, read) = request.read()?;
        self.read(key.into(), read, caller, read_page)
    }

    /// Returns the events with these ids, or `undefined` without a session.
    pub fn events(
        &self,
        app_name: String,
        user_id: String,
        session_id: String,
        event_ids: &Array,
        caller: Option<Function>,
    ) -> Result<JsValue, Thrown> {
        let key = SessionKey::new(app_name, user_id, session_id)?;
        let event_ids = event_ids.iter().filter_map(|id| id.as_string()).map(Into::into).collect();
        let read = EventsRead::Of(Read::Ids(event_ids));
        self.read(key.into(), read, caller, found_events)
    }

    /// Returns a page of sessions, or what the list has after a place.
    pub fn list(&self, request: &ListObject, caller: Option<Function>) -> Result<JsValue, Thrown> {
        let request = request.read()?;
        let (storage, call) = (Rc::clone(&self.storage), JsCall(caller));
        self.answer(Box::pin(async move { Ok(listing(&storage.list(&request, &call).await?)) }))
    }

    /// Appends events to a session, all or none. For the arguments see `Appends`; over memory the
    /// texts are packed. Returns the result as `js_write` lays it out.
    pub fn append(
        &self,
        packed: String,
        numbers: &[f64],
        texts: Option<Array>,
        caller: Option<Function>,
        compute: Option<Function>,
    ) -> Result<JsValue, Thrown> {
        let append = unpack(packed, numbers, texts.as_ref(), |appends| appends.one())?;
        self.write(computing_append(append, compute)?, caller)
    }

    /// Appends to several sessions over IndexedDB, in one transaction. Returns a promise of
    /// an outcome for each append. If the transaction fails, the promise
    /// rejects, and nothing is stored.
    pub fn write_all(
        &self,
        packed: &str,
        numbers: &[f64],
        texts: &Array,
        callers: &Array,
    ) -> Result<JsValue, Thrown> {
        let appends = Appends::new(packed, numbers, texts);
        let mut members = Vec::new();
        for (append, caller) in appends.zip(callers.iter()) {
            members.push((append?, JsCall(caller.dyn_into().ok())));
        }
        let storage = Rc::clone(&self.storage);
        self.answer(Box::pin(async move {
            let writes = members.iter_mut().map(|(append, call)| (append as _, call as _));
            let Some(written) = storage.write_all(writes.collect()).await? else {
                return Ok(JsValue::UNDEFINED);
            };
            let outcomes = Array::new();
            for (written, (mut append, call)) in written.into_iter().zip(members) {
                let appended = match written {
                    Ok(()) if append.replan() => storage.write(&mut append, &call).await,
                    done => done,
                };
                let appended = appended.map_err(Thrown::from);
                let (appended, error) = match appended.and_then(|()| Box::new(append).finish()) {
                    Ok(appended) => (appended, JsValue::UNDEFINED),
                    Err(Thrown(error)) => (JsValue::UNDEFINED, error),
                };
                outcomes.push(&object_of(&AppendOutcome { appended, error }));
            }
            Ok(outcomes.into())
        }))
    }

    /// Changes a user's and an app's state without an event. Returns the result as
    /// `js_write` lays it out.
    pub fn update(
        &self,
        app_name: String,
        user_id: Option<String>,
        delta: String,
        caller: Option<Function>,
        compute: Option<Function>,
    ) -> Result<JsValue, Thrown> {
        self.write(update(app_name, user_id, &delta, compute)?, caller)
    }

    /// Returns the JSON object of a user's state, or of an app's.
    pub fn shared_state(
        &self,
        app_name: String,
        user_id: Option<String>,
        caller: Option<Function>,
    ) -> Result<JsValue, Thrown> {
        check_owner(&app_name, user_id.as_deref())?;
        let finish: fn(Rows<Fragments>) -> JsResult = match user_id {
            Some(_) => |rows| state_to_javascript(rows.shared.user),
            None => |rows| state_to_javascript(rows.shared.app),
        };
        let target = Target { app_name, user_id, session_id: None };
        self.read(target, EventsRead::Of(Read::NONE), caller, finish)
    }

    /// Deletes. Returns the floor. With `revision` it deletes a session only if it still has that revision and
    /// those labels, else it returns `undefined`.
    pub fn delete(
        &self,
        request: &DeleteObject,
        caller: Option<Function>,
    ) -> Result<JsValue, Thrown> {
        let Some(deletion) = request.read()? else {
            return Ok(JsValue::UNDEFINED);
        };
        let (storage, call) = (Rc::clone(&self.storage), JsCall(caller));
        self.answer(Box::pin(async move {
            let floor = storage.delete(&deletion, &call).await?;
            Ok(floor.map_or(JsValue::UNDEFINED, |floor| JsValue::from_f64(floor as f64)))
        }))
    }
}

impl WasmStorage {
    /// Carries out a write, and returns its result.
    fn write(&self, mut write: Box<dyn JsWrite>, caller: Option<Function>) -> JsResult {
        if let ChosenStorage::Memory(memory) = &*self.storage {
            memory.carry_out_now(&mut *write)?;
            return write.finish();
        }
        let (storage, call) = (Rc::clone(&self.storage), JsCall(caller));
        self.answer(Box::pin(async move {
            storage.write(&mut *write, &call).await?;
            write.finish()
        }))
    }

    /// Reads a session with some of its events, or states. `finish` converts the rows.
    fn read(
        &self,
        target: Target,
        read: EventsRead,
        caller: Option<Function>,
        finish: fn(Rows<Fragments>) -> JsResult,
    ) -> JsResult {
        let (storage, call) = (Rc::clone(&self.storage), JsCall(caller));
        self.answer(Box::pin(async move { finish(storage.read(&target, &read, &call).await?) }))
    }

    /// Returns the result of a verb, or a promise of it if the storage does not answer at once.
    fn answer(&self, mut verb: Task<'static, JsValue, Thrown>) -> JsResult {
        if let ChosenStorage::IndexedDb(_) = *self.storage {
            return Ok(promise(verb));
        }
        match verb.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(result) => result,
            Poll::Pending => Err(broken_storage("it did not answer at once").into()),
        }
    }
}

/// Runs the task as a promise.
fn promise(task: Task<'static, JsValue, Thrown>) -> JsValue {
    let task = Guarded::new(task, Thrown);
    future_to_promise(async { task.await.map_err(JsValue::from) }).into()
}

/// Packed texts, which the events share.
impl Texts for TextSlice {
    fn text(&self, _: u32, parts: &mut Parts<'_>, units: f64, is_last: bool) -> EventText {
        let range = if is_last { parts.last_range() } else { parts.next_range(units as usize) };
        self.part(range).into()
    }
}

/// Reads a write from packed texts. Without `texts`, the texts of its events are packed too.
fn unpack<W>(
    packed: String,
    numbers: &[f64],
    texts: Option<&Array>,
    read: impl FnOnce(Appends<'_>) -> Result<W, Thrown>,
) -> Result<W, Thrown> {
    let packed = TextSlice::from(packed);
    packed.with(|text| {
        let texts = texts.map_or(&packed as &dyn Texts, |texts| texts);
        read(Appends::new(text, numbers, texts))
    })
}

/// Deletes an IndexedDB, even if tabs with this package have it open. Waits up to `timeout`
/// milliseconds for other connections.
#[wasm_bindgen]
pub fn delete_database(name: String, timeout: f64) -> Result<JsValue, Thrown> {
    Ok(promise(Box::pin(async move {
        IndexedDbStorage::delete_database(&name, timeout).await?;
        Ok(JsValue::UNDEFINED)
    })))
}
