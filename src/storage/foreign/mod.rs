//! A storage that is a JavaScript object with the five verbs: a user's own, or SQL.
//!
//! Event texts stay JavaScript strings and never enter wasm; what crosses is the few fields that
//! the rules need, and the states that a write touches. Rows cross as arrays, in the order of the
//! fields that `js/storage/bridge.ts` gives; it checks what the object answers and names what is
//! wrong with it, so nothing is checked again here.

pub(crate) mod begun;
mod rows;

use js_sys::Array;
use wasm_bindgen::prelude::*;

use crate::event::EventText;
use crate::session::{Revision, SessionKey, Window};
use crate::storage::answer::{Answer, ChosenListing, Later, promised, read_floor};
use crate::storage::foreign::rows::Row;
use crate::storage::shared_write::SharedWrite;
use crate::storage::{Deletion, ListRequest, Rows};
use crate::write::{Plan, Target};

#[wasm_bindgen]
extern "C" {
    /// `Bridge` of `js/storage/bridge.ts`.
    pub type Bridge;

    #[wasm_bindgen(method, catch)]
    #[allow(clippy::too_many_arguments, reason = "an object would cost more than the call")]
    fn write(
        this: &Bridge,
        creates: bool,
        app_name: &str,
        user_id: Option<&str>,
        session_id: Option<&str>,
        scopes: u8,
        event_ids: Array,
        since: f64,
        place: usize,
    ) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method, catch)]
    fn read(
        this: &Bridge,
        app_name: &str,
        user_id: Option<&str>,
        session_id: Option<&str>,
        last: Option<f64>,
        after: Option<f64>,
    ) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method, catch)]
    fn list(
        this: &Bridge,
        app_name: &str,
        user_id: Option<&str>,
        descending: bool,
        offset: f64,
        limit: Option<f64>,
        with_total: bool,
    ) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method, catch)]
    fn delete(
        this: &Bridge,
        what: &str,
        app_name: &str,
        user_id: Option<&str>,
        session_id: Option<&str>,
    ) -> Result<JsValue, JsValue>;
}

/// See the module.
pub struct ForeignStorage {
    bridge: Bridge,
}

impl ForeignStorage {
    pub fn new(bridge: Bridge) -> Self {
        Self { bridge }
    }

    /// Has the bridge carry out a write, for which it asks by its place. The bridge ends it, as no
    /// future does that an exception has ended.
    pub fn carry_out(&self, write: SharedWrite) -> Later {
        let plan = match write.with(|write| write.plan().clone()) {
            Ok(plan) => plan,
            Err(error) => return promised(Err(error.into())),
        };
        let Plan { creates, target, scopes, event_ids, since, .. } = plan;
        let Target { app_name, user_id, session_id } = target;
        let ids = Array::new();
        for id in &event_ids {
            ids.push(&JsValue::from_str(id));
        }
        let place = begun::begin(write);
        let called = self.bridge.write(
            creates,
            &app_name,
            user_id.as_deref(),
            session_id.as_deref(),
            scopes.bits(),
            ids,
            since as f64,
            place,
        );
        if called.is_err() {
            begun::end(place);
        }
        promised(called)
    }

    pub fn read(&self, target: Target, window: Window) -> Answer<Rows> {
        let Target { app_name, user_id, session_id } = &target;
        let last = window.last.map(|last| last as f64);
        let (user, session) = (user_id.as_deref(), session_id.as_deref());
        let called = self.bridge.read(app_name, user, session, last, window.after);
        Answer::later(promised(called), |rows| {
            let rows = Row::of(rows);
            let key = SessionKey {
                app_name: target.app_name,
                user_id: target.user_id.unwrap_or_default(),
                session_id: target.session_id.unwrap_or_default(),
            };
            Ok(Rows {
                session: rows.row(0).map(|row| row.session(key)).transpose()?,
                user: rows.row(1).map(|row| row.scope("user")).transpose()?,
                app: rows.row(2).map(|row| row.scope("app")).transpose()?,
                events: rows.list(3).map(EventText::from).collect(),
            })
        })
    }

    pub fn list(&self, request: ListRequest) -> Answer<ChosenListing> {
        let ListRequest { app_name, user_id, descending, page, with_total } = request;
        let (offset, limit) = (page.offset as f64, page.limit.map(|limit| limit as f64));
        let user_id = user_id.as_deref();
        let called = self.bridge.list(&app_name, user_id, descending, offset, limit, with_total);
        // Nothing of it enters wasm, which might have no room for it.
        Answer::later(promised(called), |listing| {
            let listing = Row::of(listing);
            let (sessions, shared) = (listing.0.get(0), listing.0.get(1).unchecked_into());
            Ok(ChosenListing { sessions, shared, total: listing.number(2) as usize })
        })
    }

    pub fn delete(&self, deletion: &Deletion) -> Answer<Option<Revision>> {
        let (what, app_name, user_id, session_id) = match deletion {
            Deletion::Session(key) => {
                ("session", &key.app_name, Some(&key.user_id), Some(&key.session_id))
            }
            Deletion::User { app_name, user_id } => ("user", app_name, Some(user_id), None),
            Deletion::UserState { app_name, user_id } => {
                ("userState", app_name, Some(user_id), None)
            }
            Deletion::AppState { app_name } => ("appState", app_name, None, None),
        };
        let user_id = user_id.map(String::as_str);
        let session_id = session_id.map(String::as_str);
        let called = self.bridge.delete(what, app_name, user_id, session_id);
        Answer::later(promised(called), read_floor)
    }
}
