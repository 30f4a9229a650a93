//! The only code that JavaScript calls. It converts arguments, calls the core, and converts the
//! result.
//!
//! It is no public API. TypeScript has checked what users pass. The core checks ids once more, because a
//! cache (`js/stores/cache/`) makes longer names of the checked ones.

mod appends;
mod computed;
mod driven_write;
mod history;
mod js_write;
mod packed;
mod results;
#[cfg(feature = "bindings")]
mod storages;
mod templates;
mod values;
