//! The conformance suite on a web page.
#![cfg(target_arch = "wasm32")]

#[path = "wasm/indexed_db/mod.rs"]
mod indexed_db;
mod wasm;

wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);
