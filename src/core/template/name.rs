//! The grammar of the names between two braces.

use super::placeholder::PlaceholderKind;
use crate::core::state::Scope;
use crate::host;

const ARTIFACT: &str = "artifact.";

/// A name in a placeholder's content, as a range of that content.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: PlaceholderKind,
    pub(super) optional: bool,
}

/// Parses the text between two braces; `None` if it is no name.
///
/// White space may surround a name, but not precede its `?`: `{name ?}` is more likely to be code.
pub(super) fn parse(content: &str) -> Option<Name> {
    let from_name = content.trim_start_matches(is_space);
    let marked = from_name.trim_end_matches(is_space);
    let bare = marked.strip_suffix('?').unwrap_or(marked);
    let optional = bare.len() < marked.len();
    let bare_start = content.len() - from_name.len();
    let bare_end = bare_start + bare.len();
    if let Some(file) = bare.strip_prefix(ARTIFACT) {
        let file = file_name(file)?;
        let kind = PlaceholderKind::Artifact;
        return Some(Name { start: bare_end - file.len(), end: bare_end, kind, optional });
    }
    let kind = PlaceholderKind::State;
    is_state_name(bare).then_some(Name { start: bare_start, end: bare_end, kind, optional })
}

/// Whether JavaScript or Unicode counts the character as white space. They differ in U+FEFF, which
/// is invisible: without it, a placeholder that looks right would stay verbatim.
fn is_space(c: char) -> bool {
    c.is_whitespace() || c == '\u{FEFF}'
}

fn is_state_name(name: &str) -> bool {
    let (_, identifier) = Scope::split(name);
    if !identifier.is_ascii() {
        return host::is_identifier(identifier);
    }
    identifier.starts_with(|first: char| !first.is_ascii_digit())
        && identifier.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Parses the file name after `artifact.`: not empty, and on one line.
///
/// A line break would be legal in a file name, but is far more common in code.
fn file_name(written: &str) -> Option<&str> {
    if written.contains(['\n', '\r']) || written.ends_with(is_space) {
        return None;
    }
    let file = written.trim_start_matches(is_space);
    (!file.is_empty()).then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content: &str) -> Option<(&str, PlaceholderKind, bool)> {
        let name = parse(content)?;
        Some((&content[name.start..name.end], name.kind, name.optional))
    }

    #[test]
    fn state_names() {
        for name in ["a", "_", "_1", "a1_b", "이름", "变量", "naïve", "e\u{301}te", "user:x"] {
            assert_eq!(read(name), Some((name, PlaceholderKind::State, false)), "{name}");
            let optional = format!("\t {name}?\n");
            assert_eq!(read(&optional), Some((name, PlaceholderKind::State, true)), "{name}");
        }
        assert_eq!(read("\u{FEFF}a\u{3000}"), Some(("a", PlaceholderKind::State, false)));
    }

    #[test]
    fn no_names() {
        for text in [
            "",
            " ",
            "?",
            "1a",
            "a-b",
            "a.b",
            "a b",
            "a ?",
            "a??",
            "?a",
            "x:y",
            "app:",
            "app: a",
            "app:user:a",
            "APP:a",
            "user:1",
            "😀",
            "\u{301}a",
            "a\\",
            "$a",
            "\"a\"",
            "a\0",
            "a,b",
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }

    #[test]
    fn file_names() {
        let artifact = |name, optional| Some((name, PlaceholderKind::Artifact, optional));
        assert_eq!(read("artifact.a.txt"), artifact("a.txt", false));
        assert_eq!(read(" artifact.user:my photo.png? "), artifact("user:my photo.png", true));
        assert_eq!(read("artifact. a"), artifact("a", false));
        assert_eq!(read("artifact.why??"), artifact("why?", true));
        assert_eq!(read("artifact.a\\b"), artifact("a\\b", false));
        assert_eq!(read("artifact"), Some(("artifact", PlaceholderKind::State, false)));
        for text in ["artifact.", "artifact. ", "artifact.?", "artifact.a ?", "artifact.a\nb"] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }
}
