//! The only code that JavaScript calls. It converts arguments, calls the core, and converts the
//! result.
//!
//! It is no public API. Its one caller is `js/wasm/core.ts`, which checks what users pass.

mod adapter_write;
mod appends;
mod computed;
mod driver;
mod errors;
mod object;
mod parts;
mod sessions;
mod templates;
mod values;
