//! A timer that calls back when nothing has happened for some time.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use js_sys::Function;
use wasm_bindgen::prelude::*;

use crate::guarded::guard;
use crate::indexed_db::connection::listener::Listener;

#[wasm_bindgen]
extern "C" {
    // The timer is a number in browsers, an object in Node.
    #[wasm_bindgen(js_name = setTimeout)]
    fn set_timeout(callback: &Function, milliseconds: f64) -> JsValue;

    #[wasm_bindgen(js_name = clearTimeout, catch)]
    fn clear_timeout(timer: &JsValue) -> Result<(), JsValue>;

    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    fn now() -> f64;
}

/// Calls back once, unless it is dropped before.
pub(crate) struct Timer(Rc<Shared>);

struct Shared {
    milliseconds: f64,
    /// When something last happened, by `performance.now()`. Each event restarts the timer, and a
    /// host timer for each would cost too much.
    last_event: Cell<f64>,
    /// The host's timer, while one is set.
    id: RefCell<Option<JsValue>>,
    callback: Listener,
}

impl Timer {
    /// Starts a timer.
    pub(crate) fn start(milliseconds: f64, then: impl Fn() + 'static) -> Self {
        let shared = Rc::new_cyclic(|late: &Weak<Shared>| {
            let late = Weak::clone(late);
            let callback = Listener::new(move |_| {
                let Some(shared) = late.upgrade() else {
                    return;
                };
                // If the clock throws, the time counts as up: nothing would check again.
                let mut is_time = true;
                drop(guard(&mut || is_time = shared.is_time()));
                if is_time {
                    drop(guard(&mut || then()));
                }
            });
            let (last_event, id) = (Cell::new(now()), RefCell::default());
            Shared { milliseconds, last_event, id, callback }
        });
        shared.set(milliseconds);
        Self(shared)
    }

    /// Notes that something has happened: the time starts again.
    pub(crate) fn restart(&self) {
        self.0.last_event.set(now());
    }
}

impl Shared {
    fn set(&self, milliseconds: f64) {
        self.id.replace(Some(set_timeout(self.callback.as_ref().unchecked_ref(), milliseconds)));
    }

    /// Handles the host's timer and returns whether the time is up. If something has happened
    /// meanwhile, it is set again for the rest.
    fn is_time(&self) -> bool {
        self.id.take();
        let remaining = self.last_event.get() + self.milliseconds - now();
        if remaining > 0.0 {
            self.set(remaining);
        }
        remaining <= 0.0
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        if let Some(id) = self.0.id.take() {
            // An exception must not fail a call that has committed.
            let _ = clear_timeout(&id);
        }
    }
}
