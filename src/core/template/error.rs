//! The errors of rendering a template.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

use crate::core::names::Names;

/// The most distinct names in a message; [`TemplateError::Missing`] itself holds all.
const LISTED: usize = 100;
/// The most characters of a name in a message.
const SHOWN: usize = 100;

/// A placeholder that is not optional and has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingVariable {
    /// The name in the template: a state key, or `artifact.` and a file name.
    pub name: String,
    /// The byte offset of the placeholder's `{` in the template.
    pub offset: usize,
    /// The offset in UTF-16 code units, as JavaScript counts.
    pub offset_utf16: usize,
    /// Keys of the state that are similar to the name, best first, three at most.
    pub suggestions: Vec<String>,
}

/// The reason why a template could not be rendered.
///
/// ```
/// use adk_session_wasm::template::{TemplateError, inject_session_state};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let state = serde_json::Map::from_iter([("user:name".to_owned(), "Ada".into())]);
/// let result = inject_session_state("{name}, {topic}", &state).await;
/// let Err(TemplateError::Missing(missing)) = result else { unreachable!() };
/// assert_eq!((missing[0].offset, &missing[0].suggestions), (0, &vec!["user:name".to_owned()]));
/// assert_eq!((missing[1].offset, missing[1].name.as_str()), (8, "topic"));
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum TemplateError {
    /// All placeholders without a value, in the order of the template. A name that occurs twice is
    /// listed twice.
    Missing(Vec<MissingVariable>),
    /// The template names an artifact, and the context has no artifact service.
    ArtifactServiceMissing {
        /// `artifact.` and the file's name.
        name: String,
        /// The byte offset of the placeholder.
        offset: usize,
        /// The offset in UTF-16 code units.
        offset_utf16: usize,
    },
    /// The artifact service failed.
    ArtifactFailed {
        /// `artifact.` and the file's name.
        name: String,
        /// The byte offset of the placeholder.
        offset: usize,
        /// The offset in UTF-16 code units.
        offset_utf16: usize,
        /// The service's error.
        cause: Box<dyn Error + Send + Sync>,
    },
}

#[derive(Clone, Copy)]
enum Unit {
    Byte,
    Utf16,
}

impl Unit {
    const fn pick(self, byte: usize, utf16: usize) -> usize {
        match self {
            Self::Byte => byte,
            Self::Utf16 => utf16,
        }
    }
}

impl TemplateError {
    /// Returns the stable code, equal in Rust and JavaScript.
    ///
    /// A failed load has the code `storage_failed`, like any failed storage. Its cause has the reason.
    ///
    /// ```
    /// # use adk_session_wasm::template::TemplateError;
    /// assert_eq!(TemplateError::Missing(Vec::new()).code(), "missing_variable");
    /// ```
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Missing(_) => "missing_variable",
            Self::ArtifactServiceMissing { .. } => "artifact_service_missing",
            Self::ArtifactFailed { .. } => "storage_failed",
        }
    }

    /// Returns the message with offsets in UTF-16 code units; [`Display`] prints them in bytes.
    ///
    /// ```
    /// # use adk_session_wasm::template::Template;
    /// let template = Template::new("안녕 {name}");
    /// let error = template.missing_error(template.placeholders(), [""; 0]);
    /// assert!(error.to_string().contains("`{name}` at 7"));
    /// assert!(error.message_utf16().contains("`{name}` at 3"));
    /// ```
    #[must_use]
    pub fn message_utf16(&self) -> String {
        struct Utf16Message<'e>(&'e TemplateError);
        impl Display for Utf16Message<'_> {
            fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
                self.0.write(out, Unit::Utf16)
            }
        }
        Utf16Message(self).to_string()
    }

    fn write(&self, out: &mut Formatter<'_>, unit: Unit) -> fmt::Result {
        match self {
            Self::Missing(missing) => write_missing(out, missing, unit),
            Self::ArtifactServiceMissing { name, offset, offset_utf16 } => {
                out.write_str("the instruction names an artifact, ")?;
                write_place(out, name, unit.pick(*offset, *offset_utf16))?;
                out.write_str(
                    ", but the context has no artifact service. Add a service, remove the placeholder, \
                     or put a backslash before it; a `?` is not enough",
                )
            }
            Self::ArtifactFailed { name, offset, offset_utf16, .. } => {
                out.write_str("the artifact service failed to load ")?;
                write_place(out, name, unit.pick(*offset, *offset_utf16))?;
                out.write_str(" of the instruction: see the error's cause")
            }
        }
    }
}

/// Does not repeat the cause, which may hold secrets: see [`Error::source`].
impl Display for TemplateError {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.write(out, Unit::Byte)
    }
}

impl Error for TemplateError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::ArtifactFailed { cause, .. } => Some(cause.as_ref()),
            _ => None,
        }
    }
}

fn write_missing(out: &mut Formatter<'_>, missing: &[MissingVariable], unit: Unit) -> fmt::Result {
    let mut seen = Names::<()>::default();
    let distinct: Vec<_> = missing.iter().filter(|found| seen.add(&found.name, ())).collect();
    out.write_str("the instruction has placeholders without a value: ")?;
    for (index, found) in distinct.iter().take(LISTED).enumerate() {
        out.write_str(if index == 0 { "" } else { ", " })?;
        write_place(out, &found.name, unit.pick(found.offset, found.offset_utf16))?;
        for (index, key) in found.suggestions.iter().enumerate() {
            out.write_str(if index == 0 { " (the state has `" } else { "`, `" })?;
            out.write_str(key)?;
        }
        out.write_str(if found.suggestions.is_empty() { "" } else { "`)" })?;
    }
    if distinct.len() > LISTED {
        write!(out, ", and {} more", distinct.len() - LISTED)?;
    }
    out.write_str(". Store them before the agent runs")?;
    let Some(first) = distinct.first() else { return Ok(()) };
    out.write_str(", or write `{")?;
    write_name(out, &first.name)?;
    out.write_str("?}` where a value may be missing, or `\\{")?;
    write_name(out, &first.name)?;
    out.write_str("}` to print the braces")
}

fn write_place(out: &mut Formatter<'_>, name: &str, offset: usize) -> fmt::Result {
    out.write_str("`{")?;
    write_name(out, name)?;
    write!(out, "}}` at {offset}")
}

/// Shortens the name: in a hostile template it may be as long as the template.
fn write_name(out: &mut Formatter<'_>, name: &str) -> fmt::Result {
    let Some((end, _)) = name.char_indices().nth(SHOWN) else { return out.write_str(name) };
    out.write_str(name.get(..end).unwrap_or_default())?;
    out.write_str("…")
}

#[cfg(test)]
mod tests {
    use super::super::{ArtifactError, Template};
    use super::*;

    fn missing(text: &str, keys: &[&str]) -> TemplateError {
        let template = Template::new(text);
        template.missing_error(template.placeholders(), keys)
    }

    #[test]
    fn the_message_names_all_missing_values_and_gives_advice() {
        let error = missing("é {user:nmae} {topic} {topic}", &["user:name", "nmae"]);
        assert_eq!(
            error.to_string(),
            "the instruction has placeholders without a value: `{user:nmae}` at 3 (the state has \
             `nmae`, `user:name`), `{topic}` at 15. Store them before the agent runs, or write \
             `{user:nmae?}` where a value may be missing, or `\\{user:nmae}` to print the braces"
        );
        assert!(error.message_utf16().contains("`{topic}` at 14"));
        assert_eq!(error.code(), "missing_variable");
    }

    #[test]
    fn a_failed_artifact_is_reported_without_its_cause_in_the_message() {
        let template = Template::new("é{artifact.a.txt?}");
        let found = template.placeholders().next().unwrap();
        let error = template.artifact_error(&found, ArtifactError::NoService);
        assert!(error.to_string().contains("`{artifact.a.txt}` at 2, but"), "{error}");
        let error = template.artifact_error(&found, ArtifactError::Failed("token=1".into()));
        assert_eq!(error.code(), "storage_failed");
        assert!(error.message_utf16().contains("`{artifact.a.txt}` at 1 of"), "{error}");
        assert!(!error.to_string().contains("token"));
        assert_eq!(error.source().unwrap().to_string(), "token=1");
    }

    #[test]
    fn messages_have_a_bounded_length() {
        let long = missing(&format!("{{{}}}", "a".repeat(1 << 20)), &[]).to_string();
        assert!(long.len() < 1_000);
        let many: Vec<_> = (0..50_000).map(|index| format!("{{a{index}}}")).collect();
        let many = many.concat();
        let error = missing(&many, &["a_1"]);
        assert!(error.to_string().contains("`{a99}`") && error.to_string().len() < 10_000);
        assert!(error.to_string().contains(", and 49900 more"));
        assert!(matches!(error, TemplateError::Missing(all) if all.len() == 50_000));
    }

    #[test]
    fn errors_can_cross_threads() {
        const fn check<E: Error + Send + Sync + 'static>() {}
        check::<TemplateError>();
    }
}
