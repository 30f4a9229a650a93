//! A request to open or delete a database.

use std::cell::Cell;

use adk_session::error::StorageProblem;
use js_sys::Reflect;
use wasm_bindgen::prelude::*;
use web_sys::{Event, IdbDatabase, IdbFactory, IdbOpenDbRequest, IdbTransaction};

use crate::guarded::guard;
use crate::indexed_db::connection::listener::{Listener, listen};
use crate::indexed_db::records::failure::Failure;
use crate::object::JsObject;

/// Makes a request for the database of that name: to open or to delete it.
pub(crate) type MakeRequest = fn(&IdbFactory, &str) -> Result<IdbOpenDbRequest, JsValue>;

/// A request under way. It keeps its listener as long as the browser may call it.
pub(crate) struct Opening {
    pub(crate) request: JsObject,
    pub(crate) may_try_again: bool,
    /// Whether connections in other tabs block it.
    pub(crate) is_blocked: Cell<bool>,
    _listener: Listener,
}

const EVENTS: [&str; 4] = ["onsuccess", "onerror", "onupgradeneeded", "onblocked"];

impl Opening {
    pub(crate) fn begin(
        name: &str,
        make_request: MakeRequest,
        may_try_again: bool,
        handle: impl Fn(&JsObject) + 'static,
    ) -> Result<Self, Failure> {
        let request = make_request(&factory()?, name);
        let request = request.map_err(|thrown| Failure::of_opening(&thrown))?;
        let listener = Listener::new(move |event: JsValue| handle(event.unchecked_ref()));
        listen(&request, &EVENTS, listener.as_ref());
        Ok(Self {
            request: request.unchecked_into(),
            may_try_again,
            is_blocked: Cell::default(),
            _listener: listener,
        })
    }

    /// Leaves no connection of this request open, whatever the browser still does with it.
    pub(crate) fn abandon(&self) {
        // The browser may still send events for this request, or none. A listener that kept the
        // database alive would keep its connection open.
        let listener = Listener::new(|event: JsValue| {
            let event: &Event = event.unchecked_ref();
            drop(guard(&mut || {
                event.prevent_default();
                end(event.unchecked_ref::<JsObject>().get("target").unchecked_ref());
            }));
        });
        listen(&self.request, &EVENTS, &listener.into_js_value());
        end(&self.request);
    }
}

/// Closes the connection that a request opened, or aborts its upgrade.
fn end(request: &JsObject) {
    if request.text("readyState") != "done" {
        return;
    }
    if let Some(upgrade) = JsObject::found(request.get("transaction")) {
        // Fails if the upgrade has ended already.
        let _ = upgrade.unchecked_ref::<IdbTransaction>().abort();
    }
    if let Some(raw) = JsObject::found(request.get("result")) {
        raw.unchecked_ref::<IdbDatabase>().close();
    }
}

/// Returns the host's IndexedDB. If it is forbidden, even reading the property may throw.
fn factory() -> Result<IdbFactory, Failure> {
    let factory = Reflect::get(&js_sys::global(), &"indexedDB".into())
        .map_err(|thrown| Failure::of_opening(&thrown))?;
    if factory.is_object() {
        return Ok(factory.unchecked_into());
    }
    Err(Failure::of(StorageProblem::Unavailable, "no indexedDB"))
}
