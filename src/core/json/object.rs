//! Splits JSON objects into members, each value left as text.
//!
//! The core never parses a value. Values are stored and returned unchanged, so numbers keep their
//! digits and storages cannot disagree about them.

use crate::core::error::Error;
use crate::core::json::string::{decoded, escape_into};
use crate::core::json::value::Scanner;

/// Splits the JSON object `text` and passes each member to `member`, in order.
///
/// # Errors
/// Fails with `unserializable` at `path` if the text is not a JSON object.
pub(crate) fn split_object<'a>(
    path: &'static str,
    text: &'a str,
    member: &mut dyn FnMut(&str, &'a str),
) -> Result<(), Error> {
    // Nearly every delta is empty or short, so the empty one is a shortcut.
    if text == "{}" {
        return Ok(());
    }
    read_members(text, member).ok_or_else(|| Error::Unserializable {
        path: path.to_owned(),
        reason: "it is not the JSON text of an object".to_owned(),
    })
}

fn read_members<'a>(text: &'a str, member: &mut dyn FnMut(&str, &'a str)) -> Option<()> {
    let mut scanner = Scanner::new(text);
    if scanner.next_token()? != b'{' {
        return None;
    }
    let mut is_closed = scanner.closes(b'}');
    while !is_closed {
        let key = scanner.read_key()?;
        let value = scanner.read_value()?;
        member(&decoded(key), value);
        is_closed = match scanner.next_token()? {
            b',' => false,
            b'}' => true,
            _ => return None,
        };
    }
    scanner.is_at_end().then_some(())
}

/// Writes the members of a JSON object, one after the other.
pub(crate) struct ObjectWriter {
    text: String,
}

impl ObjectWriter {
    /// Starts an object; `size` is its expected length in bytes.
    pub(crate) fn with_capacity(size: usize) -> Self {
        let mut text = String::with_capacity(size);
        text.push('{');
        Self { text }
    }

    /// Adds a member named `prefix` + `name`; `value` is JSON text.
    pub(crate) fn member(&mut self, prefix: &str, name: &str, value: &str) {
        if self.text.len() > 1 {
            self.text.push(',');
        }
        self.text.push('"');
        self.text.push_str(prefix);
        escape_into(&mut self.text, name);
        self.text.push_str("\":");
        self.text.push_str(value);
    }

    pub(crate) fn finish(mut self) -> String {
        self.text.push('}');
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(text: &str) -> Result<Vec<(String, String)>, Error> {
        let mut found = Vec::new();
        split_object("state", text, &mut |key, value| {
            found.push((key.to_owned(), value.to_owned()));
        })?;
        Ok(found)
    }

    #[test]
    fn member_values_keep_their_text() {
        let found =
            members(r#"{"big":1e400,"long":12345678901234567890,"a":{"b":[1, 2]}}"#).unwrap();
        assert_eq!(found[0].1, "1e400");
        assert_eq!(found[1].1, "12345678901234567890");
        assert_eq!(found[2].1, r#"{"b":[1, 2]}"#);
    }

    #[test]
    fn malformed_objects_are_refused_with_their_path() {
        for bad in ["", "[]", "1", "{", "{}x", r#"{"a":}"#, r#"{"a":1,}"#, r#"{a:1}"#, r#"{"a" 1}"#]
        {
            let error = members(bad).unwrap_err();
            assert_eq!(error.code(), "unserializable");
            assert!(error.to_string().starts_with("state: "));
        }
    }

    #[test]
    fn white_space_between_tokens_is_skipped() {
        let found = members(" {\n\"a\" : [1, 2] ,\t\"b\":\"}\"}\r\n").unwrap();
        let expected = [("a", "[1, 2]"), ("b", "\"}\"")];
        assert_eq!(found, expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
    }

    #[test]
    fn names_are_escaped_as_json_stringify_does() {
        let mut writer = ObjectWriter::with_capacity(2);
        let name = "a\"\\\u{8}\u{1}\n\u{7f}é😀";
        writer.member("user:", name, "1");
        let text = writer.finish();
        assert_eq!(text, "{\"user:a\\\"\\\\\\b\\u0001\\n\u{7f}é😀\":1}");
        assert_eq!(members(&text).unwrap()[0].0, format!("user:{name}"));
    }
}
