//! Prints state values, which are JSON texts.

use super::number;
use crate::core::json::decode_into;

/// Prints a string as it is, null as nothing, and any other value as compact JSON.
pub(super) fn push_value(out: &mut String, json: &str) {
    let json = json.trim_matches(is_space);
    if let Some(after_quote) = json.strip_prefix('"') {
        decode_into(out, after_quote.strip_suffix('"').unwrap_or(after_quote));
    } else if json != "null" {
        push_compact(out, json);
    }
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\n' | '\r' | '\t')
}

/// Removes white space between tokens, and prints numbers as JavaScript does. JSON from
/// `JSON.stringify` is copied in one piece; JSON from Python or Rust may need changes.
fn push_compact(out: &mut String, json: &str) {
    let bytes = json.as_bytes();
    let mut copied = 0;
    let mut at = 0;
    while let Some(first) = bytes.get(at) {
        let is_number = matches!(first, b'-' | b'0'..=b'9');
        let length = match first {
            b'"' => string_length(bytes.iter().skip(at)),
            _ if is_number => number_length(bytes.iter().skip(at)),
            _ => 1,
        };
        let token = json.get(at..at + length).unwrap_or_default();
        if is_number && !number::is_plain(token) {
            out.push_str(json.get(copied..at).unwrap_or_default());
            number::push(out, token);
            copied = at + length;
        } else if is_space(char::from(*first)) {
            out.push_str(json.get(copied..at).unwrap_or_default());
            copied = at + length;
        }
        at += length;
    }
    out.push_str(json.get(copied..).unwrap_or_default());
}

fn string_length<'b>(json: impl ExactSizeIterator<Item = &'b u8>) -> usize {
    let rest = json.len();
    let mut escaped = false;
    let closes = |byte: &u8| {
        let closes = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        closes
    };
    json.skip(1).position(closes).map_or(rest, |content| content + 2)
}

fn number_length<'b>(json: impl Iterator<Item = &'b u8>) -> usize {
    let belongs = |b: &&u8| matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
    json.take_while(belongs).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(json: &str) -> String {
        let mut out = String::new();
        push_value(&mut out, json);
        out
    }

    #[test]
    fn values_are_printed_compactly() {
        assert_eq!(printed("null"), "");
        assert_eq!(printed("true"), "true");
        assert_eq!(printed("-1.5e-7"), "-1.5e-7");
        assert_eq!(printed("[1.0,-0.0,1E21,{\"1.0\":2.50}]"), "[1,0,1e+21,{\"1.0\":2.5}]");
        assert_eq!(printed(r#""""#), "");
        assert_eq!(printed(r#""a b""#), "a b");
        assert_eq!(printed(" {\"a b\": [1, \"x \\\" y\", {}],\n\t\"c\\\\\" : null} "), {
            r#"{"a b":[1,"x \" y",{}],"c\\":null}"#
        });
    }

    #[test]
    fn strings_are_decoded_as_in_serde_json() {
        for text in ["\"\\/\u{8}\u{c}\n\r\t", "é😀\0\u{1f}\u{7f}", r"\u0041 \\ \n", "{a}", "\\"]
        {
            let json = serde_json::to_string(text).unwrap();
            assert_eq!(printed(&json), text);
        }
        for json in [r#""\u0041\u00e9\uD83D\ude00\/""#, r#""\\u0041""#] {
            assert_eq!(printed(json), serde_json::from_str::<String>(json).unwrap());
        }
    }

    #[test]
    fn malformed_json_never_panics() {
        assert_eq!(printed(r#""\ud83d""#), "\u{FFFD}");
        assert_eq!(printed(r#""\ud83d\u0041""#), "\u{FFFD}A");
        assert_eq!(printed(r#""\ude00\ud83d\ude00""#), "\u{FFFD}😀");
        for odd in ["", "\"", "\"\\", "\"\\u\"", "\"\\u12é4\"", "nul", "{\"", "\"a\\\""] {
            let _ = printed(odd);
        }
    }
}
