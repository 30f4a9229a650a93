//! What only a browser has.

mod conformance;
mod count;
mod schema;
