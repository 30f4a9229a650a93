//! IndexedDB, on a page of a browser.
#![cfg(target_arch = "wasm32")]

mod calls;
mod conformance;
mod count;
mod schema;
mod services;

wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);
