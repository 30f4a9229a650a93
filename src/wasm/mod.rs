//! The code that only the wasm needs: the bindings that JavaScript calls, and the storage in
//! IndexedDB.
//!
//! The driver of adapters is in TypeScript (`js/storage/`), since adapters are JavaScript. It calls
//! the binding `AdapterWrite`.

mod bindings;
mod guarded;
pub mod indexed_db;
mod object;
