//! The only code that JavaScript calls: it converts, calls the core, converts back.
//!
//! Nothing here is public API: `js/wasm/core.ts` is its one caller, and checks what users pass in.

mod adapter_write;
mod errors;
mod new_events;
mod object;
mod parts;
mod sessions;
mod templates;
mod values;
