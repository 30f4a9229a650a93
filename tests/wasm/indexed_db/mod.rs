//! Tests that need a browser.

mod conformance;
mod count;
mod schema;
