//! What the errors of rendering a template hold, and their texts.

use std::fmt::{self, Formatter};

use crate::core::names::NameMap;
use crate::host::ErrorSource;

/// The most distinct names in a message; the error itself holds all.
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

/// The place in an instruction that names an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactPlace {
    /// `artifact.` and the file's name.
    pub name: String,
    /// The byte offset of the placeholder's `{`.
    pub offset: usize,
}

pub(super) fn write_no_service(
    place: &Option<ArtifactPlace>,
    out: &mut Formatter<'_>,
) -> fmt::Result {
    let Some(ArtifactPlace { name, offset }) = place else {
        return out.write_str(
            "the invocation has no artifact service; give it one: Invocation::with_artifacts",
        );
    };
    out.write_str("the instruction names an artifact, ")?;
    write_position(out, name, *offset)?;
    out.write_str(
        ", but the context has no artifact service. Add a service, remove the placeholder, \
         or put a backslash before it; a `?` is not enough",
    )
}

/// Does not repeat the cause, which may hold secrets.
pub(super) fn write_artifact(
    place: &Option<ArtifactPlace>,
    _source: &ErrorSource,
    out: &mut Formatter<'_>,
) -> fmt::Result {
    let Some(ArtifactPlace { name, offset }) = place else {
        return out.write_str("the artifact service failed: see the error's source");
    };
    out.write_str("the artifact service failed to load ")?;
    write_position(out, name, *offset)?;
    out.write_str(" of the instruction: see the error's cause")
}

pub(super) fn write_missing(missing: &[MissingVariable], out: &mut Formatter<'_>) -> fmt::Result {
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
