//! A placeholder of a template: its name and its place.

use std::ops::Range;

/// The meaning of a placeholder's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlaceholderKind {
    /// A key of the session's state, with its prefix.
    State,
    /// A file's name in the artifact service.
    Artifact,
}

/// One `{name}` of a [`Template`](super::Template).
///
/// ```
/// use adk_session::template::{PlaceholderKind, Template};
/// let template = Template::new("Hi { user:name? }");
/// let Some(found) = template.placeholders().next() else { unreachable!() };
/// assert_eq!((found.name, found.kind), ("user:name", PlaceholderKind::State));
/// assert!(found.optional && !found.is_escaped());
/// assert_eq!(found.range(), 3..17);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Placeholder<'t> {
    /// The state key with its prefix, or the artifact's file name without `artifact.`.
    pub name: &'t str,
    /// Whether `name` is a key or a file name.
    pub kind: PlaceholderKind,
    /// Whether it ends with `?`: it prints nothing if there is no value.
    pub optional: bool,
    /// The byte offset of its `{`.
    pub start: usize,
    /// The byte offset after its `}`.
    pub end: usize,
    /// The number of backslashes right before it.
    pub backslashes: usize,
}

impl Placeholder<'_> {
    /// Whether it prints itself and not its value, because an odd number of backslashes precedes
    /// it.
    ///
    /// ```
    /// use adk_session::template::Template;
    /// let template = Template::new(r"{a} \{a} \\{a}");
    /// let escaped: Vec<_> = template.placeholders().map(|found| found.is_escaped()).collect();
    /// assert_eq!(escaped, [false, true, false]);
    /// ```
    #[must_use]
    pub const fn is_escaped(&self) -> bool {
        self.backslashes % 2 == 1
    }

    /// Returns its byte range in the text, with braces and without backslashes.
    ///
    /// ```
    /// use adk_session::template::Template;
    /// let template = Template::new(r"1 \{a}");
    /// let ranges: Vec<_> = template.placeholders().map(|found| found.range()).collect();
    /// assert_eq!(ranges, [3..6]);
    /// ```
    #[must_use]
    pub const fn range(&self) -> Range<usize> {
        self.start..self.end
    }
}
