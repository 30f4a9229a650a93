//! JSON as text: splits and writes objects, escapes and decodes strings. It never builds a value.

mod object;
mod same;
mod string;
mod value;

pub(crate) use object::{ObjectWriter, split_object};
pub(crate) use same::is_same_event;
pub use same::is_same_json;
pub(crate) use string::{decode_into, escaped_len, read_text};
