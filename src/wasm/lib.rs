//! Sessions of the Agent Development Kit (ADK) in browsers: the storage in IndexedDB, and the bindings
//! of the npm package `adk-session-wasm`. The rules are in the library, `adk-session-core`.
//!
//! A program in Rust for browsers depends on both crates, and on this one without its feature
//! `bindings`. Its wasm then has only what it uses itself.
//!
//! | module | what it holds |
//! |---|---|
//! | `indexed_db` | the storage in IndexedDB |
//! | `bindings` | what the package's TypeScript calls |
//!
//! The driver of storages in JavaScript is in TypeScript (`js/core/storage/`). It calls the binding
//! `DrivenWrite`.

// Everything here needs JavaScript. For other systems the crate is empty.
#![cfg(target_arch = "wasm32")]

#[cfg(feature = "rules")]
mod bindings;
mod guarded;
pub mod indexed_db;
mod object;
mod text;
mod thrown;

pub use thrown::Thrown;
