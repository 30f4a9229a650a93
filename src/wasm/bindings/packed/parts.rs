//! Several strings packed into one: each string that crosses into the wasm costs more than its
//! bytes.

use std::ops::Range;

/// Reads the strings of a packed one, in order.
pub(in crate::bindings) struct Parts<'a> {
    packed: &'a str,
    start: usize,
}

impl<'a> Parts<'a> {
    pub(in crate::bindings) fn of(packed: &'a str) -> Self {
        Self { packed, start: 0 }
    }

    /// Returns the next part; `units` is its length in UTF-16 code units.
    pub(in crate::bindings) fn next(&mut self, units: usize) -> &'a str {
        let range = self.next_range(units);
        self.packed.get(range).unwrap_or_default()
    }

    /// Returns the byte range of the next part; `units` is its length in UTF-16 code units.
    pub(in crate::bindings) fn next_range(&mut self, units: usize) -> Range<usize> {
        let start = self.start;
        self.start += utf8_length(self.rest(), units);
        start..self.start
    }

    /// Returns the byte range of the last part: all that remains, so no length is counted.
    #[cfg(feature = "bindings")]
    pub(in crate::bindings) fn last_range(&mut self) -> Range<usize> {
        let start = self.start;
        self.start = self.packed.len();
        start..self.start
    }

    pub(in crate::bindings) fn rest(&self) -> &'a str {
        self.packed.get(self.start..).unwrap_or_default()
    }
}

/// Returns how many bytes the first `units` UTF-16 code units of a text take.
///
/// Counts the first bytes of characters, which costs a third of decoding the characters.
fn utf8_length(text: &str, units: usize) -> usize {
    if text.as_bytes().get(..units).is_some_and(<[u8]>::is_ascii) {
        return units;
    }
    let mut remaining = units;
    for (index, byte) in text.bytes().enumerate() {
        let is_first = byte & 0b1100_0000 != 0b1000_0000;
        if is_first {
            if remaining == 0 {
                return index;
            }
            // Four bytes are a pair of surrogates.
            let is_pair = byte >= 0b1111_0000;
            remaining = remaining.saturating_sub(if is_pair { 2 } else { 1 });
        }
    }
    text.len()
}
