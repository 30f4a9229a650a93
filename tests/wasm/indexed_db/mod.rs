//! What only a browser has.

mod conformance;
