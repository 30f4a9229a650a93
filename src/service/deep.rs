//! Reads JSON that nests deeper than serde_json allows by default.
//!
//! A state value may nest 200 levels and an event 250, in all languages. serde_json stops at 128.
//! Its feature that lifts the limit would lift it for every crate that uses serde_json.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::core::error::Error;
use crate::core::json::split_object;

/// The most levels of a state value; `[]` has one level.
pub(super) const STATE_LEVELS: usize = 200;
/// The most levels of an event, itself included.
pub(super) const EVENT_LEVELS: usize = 250;

/// Whether the value nests at most `levels` levels. Looks no deeper, so it cannot overflow the
/// stack.
pub(super) fn nests_within(levels: usize, value: &Value) -> bool {
    let inner = levels.checked_sub(1);
    let fits = |value| inner.is_some_and(|inner| nests_within(inner, value));
    match value {
        Value::Array(items) => levels > 0 && items.iter().all(fits),
        Value::Object(members) => levels > 0 && members.values().all(fits),
        _ => true,
    }
}

/// Reads a value that nests at most [`EVENT_LEVELS`].
pub(super) fn read_value(text: &str) -> Result<Value, Error> {
    read_nested(text, EVENT_LEVELS)
}

fn read_nested(text: &str, levels: usize) -> Result<Value, Error> {
    let refused = match serde_json::from_str(text) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    // Splits the value into its members and tries again. A text that is too short to be too deep
    // has a real error.
    let inner = levels.checked_sub(1);
    let Some(inner) = inner.filter(|_| refused.is_syntax() && text.len() > 128) else {
        return Err(unreadable(&refused));
    };
    match text.trim_start().as_bytes().first() {
        Some(b'{') => {
            let mut members = Map::new();
            let mut failed = None;
            split_object("value", text, &mut |key, value| match read_nested(value, inner) {
                Ok(value) => {
                    members.insert(key.to_owned(), value);
                }
                Err(error) => failed = Some(error),
            })?;
            failed.map_or(Ok(members.into()), Err)
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(text).map_err(|e| unreadable(&e))?;
            items.into_iter().map(|item| read_nested(item.get(), inner)).collect()
        }
        _ => Err(unreadable(&refused)),
    }
}

fn unreadable(error: &serde_json::Error) -> Error {
    Error::Unserializable { path: "value".to_owned(), reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrays(levels: usize) -> Value {
        (1..levels).fold(Value::Array(Vec::new()), |inner, _| Value::Array(vec![inner]))
    }

    fn objects(levels: usize) -> Value {
        (1..levels).fold(Value::Object(Map::new()), |inner, _| {
            Value::Object(Map::from_iter([("a\"".to_owned(), inner), ("b".to_owned(), 1.into())]))
        })
    }

    #[test]
    fn levels_are_counted_as_in_javascript() {
        assert!(nests_within(0, &Value::from("text")));
        assert!(nests_within(1, &arrays(1)) && !nests_within(0, &arrays(1)));
        assert!(nests_within(200, &objects(200)) && !nests_within(200, &objects(201)));
    }

    #[test]
    fn values_that_may_be_stored_can_be_read() {
        for value in [arrays(1), arrays(128), arrays(250), objects(127), objects(250)] {
            assert_eq!(read_value(&value.to_string()).unwrap(), value);
        }
    }

    #[test]
    fn malformed_values_are_refused() {
        for text in ["", "{", "[1,]", &"[".repeat(1_000_000), &arrays(400).to_string()] {
            assert_eq!(read_value(text).unwrap_err().code(), "unserializable");
        }
    }
}
