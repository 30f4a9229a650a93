//! The errors of rendering a template.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

use crate::core::names::NameMap;
use crate::host::ErrorSource;

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
    /// Keys of the state that are similar to the name, best first, three at most.
    pub suggestions: Vec<String>,
}

/// The reason why an artifact could not be loaded. Its message does not repeat the cause, which may hold
/// secrets: see [`Error::source`].
#[derive(Debug, thiserror::Error)]
pub enum ArtifactError {
    /// There is no artifact service.
    #[error("the invocation has no artifact service; give it one: Invocation::with_artifacts")]
    NoService,
    /// The service failed, with this cause. A missing artifact is no failure.
    #[error("the artifact service failed: see the error's source")]
    Failed(#[source] ErrorSource),
}

impl ArtifactError {
    /// Returns the stable code, equal in Rust and JavaScript.
    ///
    /// ```
    /// use adk_session::template::ArtifactError;
    /// assert_eq!(ArtifactError::NoService.code(), "artifact_service_missing");
    /// assert_eq!(ArtifactError::Failed("disk full".into()).code(), "storage_failed");
    /// ```
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoService => "artifact_service_missing",
            Self::Failed(_) => "storage_failed",
        }
    }
}

/// The reason why a template could not be rendered.
///
/// ```
/// use adk_session::template::{TemplateError, inject_session_state};
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
    /// An artifact could not be loaded.
    Artifact {
        /// `artifact.` and the file's name.
        name: String,
        /// The byte offset of the placeholder.
        offset: usize,
        /// The reason.
        error: ArtifactError,
    },
}

impl TemplateError {
    /// Returns the stable code, equal in Rust and JavaScript.
    ///
    /// A failed load has the code `storage_failed`, like any failed storage. Its cause has the reason.
    ///
    /// ```
    /// # use adk_session::template::TemplateError;
    /// assert_eq!(TemplateError::Missing(Vec::new()).code(), "missing_variable");
    /// ```
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Missing(_) => "missing_variable",
            Self::Artifact { error, .. } => error.code(),
        }
    }
}

/// Does not repeat the cause, which may hold secrets: see [`Error::source`].
impl Display for TemplateError {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(missing) => write_missing(out, missing),
            Self::Artifact { name, offset, error: ArtifactError::NoService } => {
                out.write_str("the instruction names an artifact, ")?;
                write_position(out, name, *offset)?;
                out.write_str(
                    ", but the context has no artifact service. Add a service, remove the placeholder, \
                     or put a backslash before it; a `?` is not enough",
                )
            }
            Self::Artifact { name, offset, error: ArtifactError::Failed(_) } => {
                out.write_str("the artifact service failed to load ")?;
                write_position(out, name, *offset)?;
                out.write_str(" of the instruction: see the error's cause")
            }
        }
    }
}

impl Error for TemplateError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Missing(_) => None,
            Self::Artifact { error, .. } => error.source(),
        }
    }
}

fn write_missing(out: &mut Formatter<'_>, missing: &[MissingVariable]) -> fmt::Result {
    let mut seen = NameMap::<()>::default();
    let distinct: Vec<_> = missing.iter().filter(|found| seen.add(&found.name, ())).collect();
    out.write_str("the instruction has placeholders without a value: ")?;
    for (index, found) in distinct.iter().take(LISTED).enumerate() {
        out.write_str(if index == 0 { "" } else { ", " })?;
        write_position(out, &found.name, found.offset)?;
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

fn write_position(out: &mut Formatter<'_>, name: &str, offset: usize) -> fmt::Result {
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
