//! Encodes and decodes the content of JSON strings.

use std::borrow::Cow;

/// Appends `text` as the content of a JSON string, escaped as `JSON.stringify` does. Only the
/// quote, the backslash and controls below U+0020 need it (RFC 8259, section 7).
pub(crate) fn escape_into(out: &mut String, text: &str) {
    let mut plain = 0;
    for (at, byte) in text.bytes().enumerate() {
        let short = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            0x08 => "\\b",
            0x09 => "\\t",
            0x0a => "\\n",
            0x0c => "\\f",
            0x0d => "\\r",
            0x00..=0x1f => "",
            _ => continue,
        };
        out.push_str(text.get(plain..at).unwrap_or_default());
        plain = at + 1;
        if short.is_empty() {
            out.push_str("\\u00");
            for nibble in [byte >> 4, byte & 15] {
                out.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0'));
            }
        } else {
            out.push_str(short);
        }
    }
    out.push_str(text.get(plain..).unwrap_or_default());
}

/// Returns the most bytes that [`escape_into`] adds.
pub(crate) fn escaped_len(text: &str) -> usize {
    let width = |byte| match byte {
        0..=0x1f => 6,
        b'"' | b'\\' => 2,
        _ => 1,
    };
    text.bytes().map(width).sum()
}

/// Decodes the escapes in the content of a JSON string. Borrows a text without any.
pub(super) fn decoded(content: &str) -> Cow<'_, str> {
    if !content.contains('\\') {
        return Cow::Borrowed(content);
    }
    let mut decoded = String::with_capacity(content.len());
    decode_into(&mut decoded, content);
    Cow::Owned(decoded)
}

/// Returns the text of a JSON value, if that is a string and not empty.
pub(crate) fn read_text(value: &str) -> Option<String> {
    let content = value.strip_prefix('"')?.strip_suffix('"')?;
    (!content.is_empty()).then(|| decoded(content).into_owned())
}

/// Appends the content of a JSON string with its escapes decoded. It cannot fail: a lone surrogate, which
/// UTF-8 cannot hold, becomes U+FFFD, as in all texts from JavaScript. `serde_json` would refuse
/// the whole value.
pub(crate) fn decode_into(out: &mut String, content: &str) {
    let mut rest = content;
    while let Some((plain, escape)) = rest.split_once('\\') {
        out.push_str(plain);
        let mut chars = escape.chars();
        let decoded = match chars.next() {
            Some('u') => {
                let (decoded, after) = unicode_escape(chars.as_str());
                chars = after.chars();
                decoded
            }
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('b') => '\u{8}',
            Some('f') => '\u{C}',
            Some(itself) => itself,
            None => '\\',
        };
        out.push(decoded);
        rest = chars.as_str();
    }
    out.push_str(rest);
}

/// Returns the character encoded after a `\u`, and the text after it.
fn unicode_escape(text: &str) -> (char, &str) {
    let Some((unit, rest)) = hex_unit(text) else { return (char::REPLACEMENT_CHARACTER, text) };
    if let Some(character) = char::from_u32(unit) {
        return (character, rest);
    }
    let low_half = rest.strip_prefix("\\u").and_then(hex_unit);
    if let (0xD800..=0xDBFF, Some((low @ 0xDC00..=0xDFFF, after))) = (unit, low_half) {
        let code = 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
        return (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), after);
    }
    (char::REPLACEMENT_CHARACTER, rest)
}

fn hex_unit(text: &str) -> Option<(u32, &str)> {
    let (digits, rest) = text.split_at_checked(4)?;
    Some((u32::from_str_radix(digits, 16).ok()?, rest))
}
