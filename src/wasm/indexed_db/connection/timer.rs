//! A timer that calls back when nothing has happened for some time.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use js_sys::Function;
use wasm_bindgen::prelude::*;

use crate::wasm::guarded::guard;
use crate::wasm::indexed_db::connection::one_shot::Listener;

#[wasm_bindgen]
extern "C" {
    // The timer is a number in browsers, an object in Node.
    #[wasm_bindgen(js_name = setTimeout)]
    fn set_timeout(callback: &Function, milliseconds: f64) -> JsValue;

    #[wasm_bindgen(js_name = clearTimeout)]
    fn clear_timeout(timer: &JsValue);

    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    fn now() -> f64;
}

/// A timer that can be restarted and started again any number of times.
pub(crate) struct Timer {
    shared: Rc<Shared>,
}

struct Shared {
    milliseconds: f64,
    is_running: Cell<bool>,
    /// When something last happened, by `performance.now()`. Each event restarts the timer, and a
    /// host timer for each would cost too much.
    last_event: Cell<f64>,
    /// The host's timer, while one is set. `stop` lets it run out: the timer is likely to be
    /// started again before, and setting and clearing one costs a hundredth of an append.
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
                // If the clock throws, the time counts as up: nothing would check again.
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
                last_event: Cell::default(),
                id: RefCell::default(),
                callback,
            }
        });
        Self { shared }
    }

    /// Starts the timer. It calls back at most once until it is started again.
    pub(crate) fn start(&self) {
        self.shared.is_running.set(true);
        self.restart();
        if self.shared.id.borrow().is_none() {
            self.shared.set(self.shared.milliseconds);
        }
    }

    /// Notes that something has happened: the time starts again.
    pub(crate) fn restart(&self) {
        self.shared.last_event.set(now());
    }

    pub(crate) fn stop(&self) {
        self.shared.is_running.set(false);
    }
}

impl Shared {
    fn set(&self, milliseconds: f64) {
        self.id.replace(Some(set_timeout(self.callback.as_ref().unchecked_ref(), milliseconds)));
    }

    /// Handles the host's timer and returns whether the time is up. The timer may have been set for
    /// an earlier start; then it is set again for the rest.
    fn is_time(&self) -> bool {
        self.id.take();
        if !self.is_running.get() {
            return false;
        }
        let remaining = self.last_event.get() + self.milliseconds - now();
        if remaining > 0.0 {
            self.set(remaining);
        }
        remaining <= 0.0
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        if let Some(id) = self.shared.id.take() {
            clear_timeout(&id);
        }
    }
}
