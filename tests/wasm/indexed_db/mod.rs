//! What only a browser has.

mod conformance;
mod schema;
