//! Something to happen when nothing else has for some time.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::Function;
use wasm_bindgen::prelude::*;

use crate::storage::indexed_db::signal::Listener;

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

/// See the module.
pub(super) struct Timer {
    shared: Rc<Shared>,
}

struct Shared {
    milliseconds: f64,
    /// `None` once it has gone off or was stopped.
    state: RefCell<Option<State>>,
}

struct State {
    id: JsValue,
    /// By the page's clock: what is restarted on each event is not worth a new timer each time.
    heard: f64,
    callback: Listener,
}

impl Timer {
    /// `then` happens once at the most.
    pub(super) fn start(milliseconds: f64, then: Box<dyn Fn()>) -> Self {
        let shared = Rc::new(Shared { milliseconds, state: RefCell::new(None) });
        let late = Rc::downgrade(&shared);
        let callback = Listener::new(move |_| {
            let Some(shared) = late.upgrade() else {
                return;
            };
            let Some(mut state) = shared.state.borrow_mut().take() else {
                return;
            };
            let left = state.heard + shared.milliseconds - now();
            if left > 0.0 {
                state.id = set_timeout(state.callback.as_ref().unchecked_ref(), left);
                *shared.state.borrow_mut() = Some(state);
            } else {
                then();
            }
        });
        let id = set_timeout(callback.as_ref().unchecked_ref(), milliseconds);
        *shared.state.borrow_mut() = Some(State { id, heard: now(), callback });
        Self { shared }
    }

    /// Something has happened.
    pub(super) fn restart(&self) {
        if let Some(state) = self.shared.state.borrow_mut().as_mut() {
            state.heard = now();
        }
    }

    pub(super) fn stop(&self) {
        let state = self.shared.state.borrow_mut().take();
        if let Some(state) = state {
            clear_timeout(&state.id);
        }
    }
}
