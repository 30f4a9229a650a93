//! The conformance suite in Node. Browsers skip it, because it does not name a browser environment.
#![cfg(target_arch = "wasm32")]

mod wasm;
