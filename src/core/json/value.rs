//! A scanner of JSON text: it checks values and builds none.

/// A scanner of JSON text.
///
/// Written by hand: `serde_json`, with error texts that nobody sees here, takes five times the
/// wasm. A property test compares the two.
pub(super) struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// Returns the text of the next value.
    pub(super) fn read_value(&mut self) -> Option<&'t str> {
        self.skip_spaces();
        let start = self.at;
        self.value()?;
        self.text.get(start..self.at)
    }

    /// Returns the content of the next member's key, with its escapes.
    pub(super) fn read_key(&mut self) -> Option<&'t str> {
        if self.next_token()? != b'"' {
            return None;
        }
        let start = self.at;
        self.string()?;
        let key = self.text.get(start..self.at - 1);
        if self.next_token()? == b':' { key } else { None }
    }

    /// Whether only white space is left.
    pub(super) fn is_at_end(&mut self) -> bool {
        self.skip_spaces();
        self.at == self.text.len()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    /// Skips `wanted` if it comes next.
    fn takes(&mut self, wanted: u8) -> bool {
        let comes = self.peek() == Some(wanted);
        self.at += usize::from(comes);
        comes
    }

    fn skip_spaces(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    pub(super) fn next_token(&mut self) -> Option<u8> {
        self.skip_spaces();
        self.next()
    }

    fn value(&mut self) -> Option<()> {
        match self.begin()? {
            None => Some(()),
            Some(bracket) => self.end(bracket),
        }
    }

    /// Skips a value. Of an array or object with content, skips only the beginning, and returns its
    /// closing bracket.
    fn begin(&mut self) -> Option<Option<u8>> {
        match self.next_token()? {
            b'{' if !self.closes(b'}') => {
                self.key()?;
                return Some(Some(b'}'));
            }
            b'[' if !self.closes(b']') => return Some(Some(b']')),
            b'{' | b'[' => {}
            b'"' => self.string()?,
            b't' => self.word(b"rue")?,
            b'f' => self.word(b"alse")?,
            b'n' => self.word(b"ull")?,
            first => self.number(first)?,
        }
        Some(None)
    }

    /// The open brackets are a list, not recursion: no nesting overflows the stack.
    fn end(&mut self, bracket: u8) -> Option<()> {
        let mut brackets = vec![bracket];
        loop {
            if let Some(bracket) = self.begin()? {
                brackets.push(bracket);
                continue;
            }
            // A value has ended, and perhaps some of the values around it.
            loop {
                let Some(bracket) = brackets.last() else { return Some(()) };
                match self.next_token()? {
                    b',' => break,
                    byte if byte == *bracket => brackets.pop(),
                    _ => return None,
                };
            }
            if brackets.last() == Some(&b'}') {
                self.key()?;
            }
        }
    }

    /// Skips a bracket if it comes next.
    pub(super) fn closes(&mut self, bracket: u8) -> bool {
        self.skip_spaces();
        self.takes(bracket)
    }

    fn key(&mut self) -> Option<()> {
        self.read_key().map(|_| ())
    }

    /// Skips the rest of a string after its quote.
    fn string(&mut self) -> Option<()> {
        loop {
            match self.next()? {
                b'"' => return Some(()),
                b'\\' => self.escape()?,
                0..=0x1F => return None,
                _ => {}
            }
        }
    }

    fn escape(&mut self) -> Option<()> {
        match self.next()? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(()),
            b'u' => (0..4).try_for_each(|_| self.next()?.is_ascii_hexdigit().then_some(())),
            _ => None,
        }
    }

    fn word(&mut self, rest: &[u8]) -> Option<()> {
        rest.iter().try_for_each(|letter| self.takes(*letter).then_some(()))
    }

    fn number(&mut self, first: u8) -> Option<()> {
        let first = if first == b'-' { self.next()? } else { first };
        match first {
            b'0' => {}
            b'1'..=b'9' => self.skip_digits(),
            _ => return None,
        }
        if self.takes(b'.') {
            self.digits()?;
        }
        if self.takes(b'e') || self.takes(b'E') {
            let _sign = self.takes(b'+') || self.takes(b'-');
            self.digits()?;
        }
        Some(())
    }

    fn skip_digits(&mut self) {
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
    }

    /// Skips at least one digit.
    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        self.skip_digits();
        (self.at > start).then_some(())
    }
}

#[cfg(test)]
mod properties {
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::*;

    /// Random pieces of JSON: some are a value, most nearly are.
    fn pieces() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"",
            "\"a\"",
            "\"a\":",
            "\"\\u12aF\"",
            "\"\\u12g0\"",
            "\"\\n\\/\"",
            "\"\\x\"",
            "\"é😀\"",
            "\"\t\"",
            "true",
            "tru",
            "false",
            "null",
            "nul",
            "0",
            "01",
            "-",
            "-0",
            "-1.5",
            "1.",
            ".5",
            "1e9",
            "1E+05",
            "2e-",
            "1e400",
            " ",
            "\n",
            "\u{a0}",
            "[]",
            "{}",
            "[1, 2]",
            "{\"k\" : [ ] }",
        ]);
        prop::collection::vec(piece, 0..10).prop_map(|pieces| pieces.concat())
    }

    fn value() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<f64>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            any::<String>().prop_map(Into::into),
        ];
        let tree = leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(serde_json::Value::from),
                prop::collection::hash_map(any::<String>(), inner, 0..5)
                    .prop_map(|map| map.into_iter().collect()),
            ]
        });
        tree.prop_map(|value| format!("{value:#}"))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_096))]
        #[test]
        fn a_text_is_a_value_exactly_if_serde_json_accepts_it(
            text in prop_oneof![pieces(), value()],
            after in prop::sample::select(vec!["", " ", ",", "}"]),
        ) {
            let is_value = serde_json::from_str::<&RawValue>(&text).is_ok();
            let text = text + after;
            let mut scanner = Scanner::new(&text);
            let is_skipped = scanner.value().is_some()
                && text[scanner.at..].trim_ascii() == after.trim_ascii();
            prop_assert_eq!(is_skipped, is_value, "{}", text);
        }
    }

    #[test]
    fn nesting_takes_no_stack() {
        let deep = 1_000_000;
        let text = "[".repeat(deep) + &"]".repeat(deep) + "!";
        assert_eq!(Scanner::new(&text).read_value(), text.strip_suffix('!'));
        assert_eq!(Scanner::new(&"[".repeat(deep)).read_value(), None);
    }
}
