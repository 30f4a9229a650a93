//! The only code that JavaScript calls. It converts arguments, calls the core, and converts the
//! result.
//!
//! It is no public API. TypeScript has checked what users pass. The core checks the length of ids again: a
//! cache (`js/stores/cache/`) joins checked ids to longer names, which may be too long.

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
