//! Several strings packed into one: each string that crosses into the wasm costs more than its
//! bytes.

use std::ops::Range;

/// Reads the strings of a packed one, in order.
pub(super) struct Parts<'a> {
    packed: &'a str,
    start: usize,
}

impl<'a> Parts<'a> {
    pub(super) fn of(packed: &'a str) -> Self {
        Self { packed, start: 0 }
    }

    /// Returns the next part; `units` is its length in UTF-16 code units.
    pub(super) fn next(&mut self, units: usize) -> &'a str {
        let range = self.next_range(units);
        self.packed.get(range).unwrap_or_default()
    }

    /// Returns the byte range of the next part; `units` is its length in UTF-16 code units.
    pub(super) fn next_range(&mut self, units: usize) -> Range<usize> {
        let start = self.start;
        self.start += utf8_length(self.rest(), units);
        start..self.start
    }

    pub(super) fn rest(&self) -> &'a str {
        self.packed.get(self.start..).unwrap_or_default()
    }
}

/// Returns how many bytes the first `units` UTF-16 code units of a text take.
fn utf8_length(text: &str, units: usize) -> usize {
    if text.as_bytes().get(..units).is_some_and(<[u8]>::is_ascii) {
        return units;
    }
    let mut remaining = units;
    let mut bytes = 0;
    for char in text.chars() {
        if remaining == 0 {
            break;
        }
        remaining = remaining.saturating_sub(char.len_utf16());
        bytes += char.len_utf8();
    }
    bytes
}
