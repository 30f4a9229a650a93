//! The storages of the wasm, memory and IndexedDB. The smaller wasm, which has only the rules, has none of this.

mod chosen_storage;
mod js_call;
mod reads;
mod requests;
mod wasm_storage;
