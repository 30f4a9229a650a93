//! The conformance suite in a dedicated worker.
#![cfg(target_arch = "wasm32")]

mod wasm;

wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);
