//! The code that only the wasm needs: the bindings that JavaScript calls, and the storage in
//! IndexedDB.
//!
//! The driver of storages in JavaScript is in TypeScript (`js/storage/`). It calls
//! the binding `CoreWrite`.

mod bindings;
mod guarded;
pub mod indexed_db;
mod object;
