//! The conformance suite in Node. Browsers pass over it: a suite says where it runs, and this one
//! says nothing.
#![cfg(target_arch = "wasm32")]

mod wasm;
