//! The Rust API as a program uses it.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "clippy takes helpers of tests for the program"
)]

mod adk_rust_documents;
mod artifacts;
#[cfg(feature = "testing")]
mod conformance;
mod final_responses;
mod invocation;
mod markers;
mod outbox;
mod properties;
mod same_json;
mod session_service;
mod storage_failures;
mod template_vectors;
mod third_party;
mod threads;
mod writes;
