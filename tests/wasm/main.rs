//! The wasm, on a page of a browser.
#![cfg(target_arch = "wasm32")]

mod indexed_db;
mod memory;

wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);
