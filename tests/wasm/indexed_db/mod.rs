//! IndexedDB of a browser.

mod calls;
mod conformance;
mod count;
mod schema;
mod services;
