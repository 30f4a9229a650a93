//! The Rust API as a program uses it.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "clippy takes helpers of tests for the program"
)]

mod artifacts;
mod invocation;
mod same_json;
mod session_service;
mod template_vectors;
mod writes;
