//! Several strings that cross as one, since each that crosses costs more than its bytes.

use std::ops::Range;

/// Strings that came as one.
pub(super) struct Parts<'a> {
    packed: &'a str,
    start: usize,
}

impl<'a> Parts<'a> {
    pub(super) fn of(packed: &'a str) -> Self {
        Self { packed, start: 0 }
    }

    /// The next so many UTF-16 code units.
    pub(super) fn next(&mut self, units: usize) -> &'a str {
        let range = self.next_range(units);
        self.packed.get(range).unwrap_or_default()
    }

    /// The bytes that the next so many UTF-16 code units take.
    pub(super) fn next_range(&mut self, units: usize) -> Range<usize> {
        let start = self.start;
        self.start += utf8_length(self.rest(), units);
        start..self.start
    }

    pub(super) fn rest(&self) -> &'a str {
        self.packed.get(self.start..).unwrap_or_default()
    }
}

/// How many bytes the first so many UTF-16 code units of a text take.
fn utf8_length(text: &str, units: usize) -> usize {
    if text.as_bytes().get(..units).is_some_and(<[u8]>::is_ascii) {
        return units;
    }
    let mut left = units;
    let mut bytes = 0;
    for char in text.chars() {
        if left == 0 {
            break;
        }
        left = left.saturating_sub(char.len_utf16());
        bytes += char.len_utf8();
    }
    bytes
}
