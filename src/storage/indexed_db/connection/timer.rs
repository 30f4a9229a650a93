//! Something to happen when nothing else has for some time.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use js_sys::Function;
use wasm_bindgen::prelude::*;

use crate::storage::guarded::guard;
use crate::storage::indexed_db::connection::signal::Listener;

#[wasm_bindgen]
extern "C" {
    // A number in browsers, an object in Node.
    #[wasm_bindgen(js_name = setTimeout)]
    fn set_timeout(callback: &Function, milliseconds: f64) -> JsValue;

    #[wasm_bindgen(js_name = clearTimeout)]
    fn clear_timeout(timer: &JsValue);

    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    fn now() -> f64;
}

/// See the module. Can be started any number of times, one after the other.
pub(crate) struct Timer {
    shared: Rc<Shared>,
}

struct Shared {
    milliseconds: f64,
    is_running: Cell<bool>,
    /// By the page's clock: what is restarted on each event is not worth one of the host's timers each
    /// time.
    heard: Cell<f64>,
    /// The host's, while there is one. What is stopped lets it run out: it is likely to be started again
    /// before that, and to set and clear one is a hundredth of an append.
    id: RefCell<Option<JsValue>>,
    callback: Listener,
}

impl Timer {
    pub(crate) fn new(milliseconds: f64, then: Box<dyn Fn()>) -> Self {
        let shared = Rc::new_cyclic(|late: &Weak<Shared>| {
            let late = Weak::clone(late);
            let callback = Listener::new(move |_| {
                let Some(shared) = late.upgrade() else {
                    return;
                };
                // If the clock throws, it is time as well: nobody would look again.
                let mut is_time = true;
                drop(guard(&mut || is_time = shared.is_time()));
                if is_time {
                    shared.is_running.set(false);
                    drop(guard(&mut || then()));
                }
            });
            Shared {
                milliseconds,
                is_running: Cell::default(),
                heard: Cell::default(),
                id: RefCell::default(),
                callback,
            }
        });
        Self { shared }
    }

    /// What is to happen does so once at the most, until it is started again.
    pub(crate) fn start(&self) {
        self.shared.is_running.set(true);
        self.restart();
        if self.shared.id.borrow().is_none() {
            self.shared.set(self.shared.milliseconds);
        }
    }

    /// Something has happened.
    pub(crate) fn restart(&self) {
        self.shared.heard.set(now());
    }

    pub(crate) fn stop(&self) {
        self.shared.is_running.set(false);
    }
}

impl Shared {
    fn set(&self, milliseconds: f64) {
        self.id.replace(Some(set_timeout(self.callback.as_ref().unchecked_ref(), milliseconds)));
    }

    /// The host's timer has gone off: it may have been set for an earlier start.
    fn is_time(&self) -> bool {
        self.id.take();
        if !self.is_running.get() {
            return false;
        }
        let left = self.heard.get() + self.milliseconds - now();
        if left > 0.0 {
            self.set(left);
        }
        left <= 0.0
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        if let Some(id) = self.shared.id.take() {
            clear_timeout(&id);
        }
    }
}
