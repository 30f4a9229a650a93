//! JSON as text: objects split and written, strings escaped and decoded, no value ever built.

mod object;
mod same;
mod string;
mod value;

pub(crate) use object::{ObjectWriter, split_object};
pub use same::is_same_json;
pub(crate) use string::{decode_into, escaped_len};
