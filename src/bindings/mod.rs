//! The only code that JavaScript calls: it converts, calls the core, converts back.
//!
//! Nothing here is public API: `js/core.ts` is its one caller, and checks what users pass in.

mod errors;
mod foreign_writes;
mod object;
mod parts;
mod sessions;
mod templates;
mod values;
