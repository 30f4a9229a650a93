//! Lists of numbers and strings that are packed into one, for what crosses often. Other requests and results are
//! objects.

mod numbers;
mod parts;

pub(super) use numbers::*;
pub(super) use parts::Parts;
