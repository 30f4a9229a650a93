//! The only code that JavaScript calls. It converts arguments, calls the core, and converts the
//! result.
//!
//! It is no public API. TypeScript has checked what users pass. The core checks ids once more, because a
//! cache (`js/stores/cache/`) makes longer names of the checked ones.

mod appends;
mod chosen_storage;
mod computed;
mod driven_write;
mod history;
mod js_call;
mod js_write;
mod packed;
mod requests;
mod results;
mod templates;
mod values;
mod wasm_storage;
