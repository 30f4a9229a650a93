//! The scanner: finds the placeholders of a template.
//!
//! It makes one pass from `{` to `{`, and reads each byte a bounded number of times. A pattern such
//! as `\{+[^{}]*\}+` backtracks after a failure, and needs seconds for a long run of braces. Only
//! the innermost braces can be a placeholder, so the scanner needs no stack.

use std::ops::Range;

use super::name;
use super::placeholder::{Placeholder, PlaceholderKind};

/// A parsed instruction. It can be rendered any number of times.
///
/// ```
/// use adk_session::template::Template;
/// let template = Template::new(r#"Answer {user:name} as {"topic": {topic}}, not as {{topic}}."#);
/// let names: Vec<_> = template.placeholders().map(|found| found.name).collect();
/// assert_eq!(names, ["user:name", "topic"]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    text: String,
    slots: Vec<Slot>,
}

/// A placeholder as offsets, since a struct cannot borrow from its own text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Slot {
    range: Range<usize>,
    name: Range<usize>,
    kind: PlaceholderKind,
    optional: bool,
    backslashes: usize,
}

impl Template {
    /// Finds the placeholders of `text`, in time linear in its length for any braces.
    ///
    /// ```
    /// use adk_session::template::Template;
    /// let hostile = Template::new("{a".repeat(200_000));
    /// assert_eq!(hostile.placeholders().count(), 0);
    /// ```
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let slots = scan(&text, |_| ());
        Self { text, slots }
    }

    /// Returns a template that prints `text` unchanged, whatever braces and backslashes it has. So a
    /// template may contain a text from elsewhere.
    ///
    /// The text around it must not add to its braces and backslashes: a brace of that text may form a
    /// placeholder with one that stands alone in `text`. There, store `text` in the state instead:
    /// values are never expanded.
    ///
    /// ```
    /// # use adk_session::template::Template;
    /// assert_eq!(Template::escape(r"{name} {a-b} C:\{dir}"), r"\{name} {a-b} C:\\\{dir}");
    /// ```
    #[must_use]
    pub fn escape(text: &str) -> String {
        let mut escaped = String::with_capacity(text.len());
        let mut copied = 0;
        for Slot { range, backslashes, .. } in scan(text, |_| ()) {
            escaped.push_str(text.get(copied..range.start).unwrap_or_default());
            // Those before a placeholder are halved when it is printed, and one more escapes it.
            escaped.extend(std::iter::repeat_n('\\', backslashes + 1));
            copied = range.start;
        }
        escaped.push_str(text.get(copied..).unwrap_or_default());
        escaped
    }

    /// Returns the original text.
    ///
    /// ```
    /// # use adk_session::template::Template;
    /// assert_eq!(Template::new("Hi {name}").text(), "Hi {name}");
    /// ```
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the placeholders in the order of the text, with the escaped ones.
    ///
    /// ```
    /// # use adk_session::template::Template;
    /// let template = Template::new(r"{a} {b?} \{c}");
    /// let read = template.placeholders().filter(|found| !found.is_escaped());
    /// assert_eq!(read.map(|found| found.name).collect::<Vec<_>>(), ["a", "b"]);
    /// ```
    #[must_use]
    pub fn placeholders(&self) -> impl ExactSizeIterator<Item = Placeholder<'_>> {
        self.slots.iter().map(|slot| Placeholder {
            name: self.slice(slot.name.clone()),
            kind: slot.kind,
            optional: slot.optional,
            start: slot.range.start,
            end: slot.range.end,
            backslashes: slot.backslashes,
        })
    }

    /// Returns the placeholders with their ranges and the ranges of their names, in UTF-16 code
    /// units as JavaScript counts.
    ///
    /// ```
    /// # use adk_session::template::Template;
    /// let template = Template::new("😀 { 이름? }");
    /// let ranges: Vec<_> = template.utf16_names().map(|(_, range, name)| (range, name)).collect();
    /// assert_eq!(ranges, [(3..10, 5..7)]);
    /// ```
    pub fn utf16_names(
        &self,
    ) -> impl Iterator<Item = (Placeholder<'_>, Range<usize>, Range<usize>)> {
        let mut cursor = Utf16Cursor::new(&self.text);
        self.placeholders().zip(&self.slots).map(move |(found, slot)| {
            let start = cursor.advance_to(found.start);
            let name = cursor.advance_to(slot.name.start)..cursor.advance_to(slot.name.end);
            (found, start..cursor.advance_to(found.end), name)
        })
    }

    /// Returns a part of the text. All ranges come from the scanner and lie between characters.
    pub(super) fn slice(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or_default()
    }
}

/// Converts increasing byte offsets to UTF-16 code units, and reads each byte once.
struct Utf16Cursor<'t> {
    text: &'t [u8],
    byte: usize,
    units: usize,
}

impl<'t> Utf16Cursor<'t> {
    const fn new(text: &'t str) -> Self {
        Self { text: text.as_bytes(), byte: 0, units: 0 }
    }

    /// Converts a byte offset, which must not be smaller than the one before.
    fn advance_to(&mut self, byte: usize) -> usize {
        for byte in self.text.get(self.byte..byte).unwrap_or_default() {
            // The first byte of a character counts one unit, or two if it needs a surrogate pair.
            self.units += usize::from(byte & 0xC0 != 0x80) + usize::from(*byte >= 0xF0);
        }
        self.byte = byte;
        self.units
    }
}

/// Finds the placeholders. Reports to `work` how many bytes it reads, so that a test can prove that
/// the cost is linear.
fn scan(text: &str, mut work: impl FnMut(usize)) -> Vec<Slot> {
    let mut slots = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(skipped) = text.get(at..).and_then(|rest| rest.find('{')) {
        let first = at + skipped;
        let width = count(bytes.iter().skip(first), b'{');
        let start = first + width - 1;
        let inside = start + 1;
        work(skipped + width);
        let is_brace = |byte: &u8| matches!(byte, b'{' | b'}');
        let Some(length) = bytes.iter().skip(inside).position(is_brace) else {
            work(text.len() - inside);
            break;
        };
        let close = inside + length;
        work(length + 1);
        at = close;
        if bytes.get(close) == Some(&b'{') {
            continue;
        }
        let end = close + 1;
        at = end;
        if width > 1 && bytes.get(end) == Some(&b'}') {
            continue;
        }
        let Some(name) = text.get(inside..close).and_then(name::parse) else { continue };
        let backslashes = count(bytes.iter().take(start).rev(), b'\\');
        work(length + backslashes);
        slots.push(Slot {
            range: start..end,
            name: inside + name.start..inside + name.end,
            kind: name.kind,
            optional: name.optional,
            backslashes,
        });
    }
    slots
}

fn count<'b>(bytes: impl Iterator<Item = &'b u8>, wanted: u8) -> usize {
    bytes.take_while(|byte| **byte == wanted).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let template = Template::new(text);
        template.placeholders().map(|found| template.slice(found.range()).to_owned()).collect()
    }

    #[test]
    fn braces() {
        assert_eq!(found("{a}{ b? }"), ["{a}", "{ b? }"]);
        assert_eq!(found(r#"{"k": {name}}"#), ["{name}"]);
        assert_eq!(found("{{a} {b}}"), ["{a}", "{b}"]);
        assert_eq!(found("{{{a}"), ["{a}"]);
        assert_eq!(found("{a}}}"), ["{a}"]);
        assert_eq!(found("{a {b} c}"), ["{b}"]);
        assert_eq!(found("}{ { a } }{"), ["{ a }"]);
        for verbatim in ["{{a}}", "{{{a}}}", "{{{a}}", "{{ a }}", "{}", "{a", "a}", "}a{", "{a-b}"]
        {
            assert_eq!(found(verbatim), [""; 0], "{verbatim}");
        }
    }

    #[test]
    fn backslashes() {
        let counts = |text: &str| -> Vec<usize> {
            Template::new(text).placeholders().map(|found| found.backslashes).collect()
        };
        assert_eq!(counts(r"{a}\{a}\\{a}\\\{a}"), [0, 1, 2, 3]);
        assert_eq!(counts(r"\{{a}"), [0]);
        assert_eq!(counts(r"{\{a}}"), [1]);
        assert_eq!(counts(r"{a\\{b}"), [2]);
        assert_eq!(counts(r"\ {a}\{-}"), [0]);
    }

    #[test]
    fn utf16() {
        let template = Template::new("é😀{a}\u{FFFD}𝒳{ 이름 }");
        let ranges: Vec<_> = template.utf16_names().map(|(_, range, name)| (range, name)).collect();
        assert_eq!(ranges, [(3..6, 4..5), (9..15, 11..13)]);
    }

    /// Counts the work, not the time: each byte is read three times at most.
    #[test]
    fn hostile_texts_cost_linear_work() {
        let nested = |n: usize| "{".repeat(n / 2) + &"}".repeat(n / 2);
        let makers: [(&str, &dyn Fn(usize) -> String); 13] = [
            ("open", &|n| "{".repeat(n)),
            ("close", &|n| "}".repeat(n)),
            ("nested", &nested),
            ("nested name", &|n| "{".repeat(n / 2) + "a" + &"}".repeat(n / 2)),
            ("pairs", &|n| "{}".repeat(n / 2)),
            ("reversed pairs", &|n| "}{".repeat(n / 2)),
            ("unclosed names", &|n| "{a".repeat(n / 2)),
            ("names", &|n| "{a}".repeat(n / 3)),
            ("backslashes", &|n| "\\".repeat(n) + "{a}"),
            ("escapes", &|n| "\\{".repeat(n / 2)),
            ("one long name", &|n| format!("{{{}}}", "a".repeat(n))),
            ("doubled", &|n| "{{a}}".repeat(n / 5)),
            ("spaces", &|n| format!("{{{}", " ".repeat(n))),
        ];
        for (what, make) in makers {
            for length in [4_000, 40_000, 400_000] {
                let text = make(length);
                let mut steps = 0;
                scan(&text, |step| steps += step);
                assert!(steps <= 3 * text.len(), "{what}: {steps} steps for {} bytes", text.len());
            }
        }
    }
}
