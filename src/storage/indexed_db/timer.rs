//! Something to happen when nothing else has for some time.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::Function;
use wasm_bindgen::prelude::*;

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

/// A clone is the same timer.
#[derive(Clone)]
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
    _callback: Closure<dyn FnMut()>,
}

impl Timer {
    pub(super) fn start(milliseconds: f64, then: impl FnOnce() + 'static) -> Self {
        let shared = Rc::new(Shared { milliseconds, state: RefCell::new(None) });
        let (late, mut then) = (Rc::downgrade(&shared), Some(then));
        let callback = Closure::new(move || {
            let Some(shared) = late.upgrade() else {
                return;
            };
            let Some(mut state) = shared.state.borrow_mut().take() else {
                return;
            };
            let left = state.heard + shared.milliseconds - now();
            if left > 0.0 {
                let callback = state._callback.as_ref().unchecked_ref();
                state.id = set_timeout(callback, left);
                *shared.state.borrow_mut() = Some(state);
            } else if let Some(then) = then.take() {
                then();
            }
        });
        let id = set_timeout(callback.as_ref().unchecked_ref(), milliseconds);
        *shared.state.borrow_mut() = Some(State { id, heard: now(), _callback: callback });
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
