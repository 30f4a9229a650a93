//! The only code that JavaScript calls. It converts arguments, calls the core, and converts the
//! result.
//!
//! It is no public API. TypeScript has checked what users pass. The core checks ids once more, because a
//! cache (`js/cache/`) makes longer names of the checked ones.

mod adapter_write;
mod appends;
mod computed;
mod driver;
mod errors;
<<<<<<< HEAD
mod history;
=======
mod js_write;
>>>>>>> 525534ca (Rust: each kind of write is a type behind Decide; a refused append says why as data)
mod parts;
mod sessions;
mod templates;
mod values;
