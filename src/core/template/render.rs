//! Renders templates: from values at hand, which the bindings use, or from a context.

use std::borrow::Cow;

use crate::core::names::Names;

use super::context::{Artifact, ArtifactError, TemplateContext};
use super::error::{MissingVariable, TemplateError};
use super::placeholder::{Placeholder, PlaceholderKind};
use super::scan::{Template, Utf16Cursor};
use super::{json, near};

/// The result of a look-up for a placeholder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup<'v> {
    /// The key or artifact does not exist.
    Missing,
    /// A value as JSON text. A string prints as it is, null as nothing, others as compact JSON.
    Json(Cow<'v, str>),
    /// A text that prints as it is.
    Text(Cow<'v, str>),
}

impl Template {
    /// Renders the template with values at hand. [`Template::render`] uses it.
    ///
    /// `lookup` is called for each placeholder that is not escaped, in order. `known_keys` is
    /// called only if a value is missing, to find similar keys.
    ///
    /// ```
    /// use adk_session_wasm::template::{Lookup, Template, TemplateError};
    /// let template = Template::new("{count} for {name}{suffix?}");
    /// let text = template.render_with(
    ///     |found| match found.name {
    ///         "count" => Lookup::Json("12".into()),
    ///         "name" => Lookup::Text("Ada".into()),
    ///         _ => Lookup::Missing,
    ///     },
    ///     || ["count", "name"],
    /// )?;
    /// assert_eq!(text, "12 for Ada");
    /// # Ok::<(), TemplateError>(())
    /// ```
    ///
    /// # Errors
    /// [`TemplateError::Missing`] with every missing placeholder that is not optional.
    pub fn render_with<'v, K>(
        &self,
        mut lookup: impl FnMut(&Placeholder<'_>) -> Lookup<'v>,
        known_keys: impl FnOnce() -> K,
    ) -> Result<String, TemplateError>
    where
        K: IntoIterator,
        K::Item: AsRef<str>,
    {
        let mut out = String::with_capacity(self.text().len());
        let mut missing = Vec::new();
        let mut printed = 0;
        for found in self.placeholders() {
            let backslashes = found.start - found.backslashes;
            out.push_str(self.slice(printed..backslashes + found.backslashes / 2));
            printed = found.end;
            if found.is_escaped() {
                out.push_str(self.slice(found.range()));
                continue;
            }
            match lookup(&found) {
                Lookup::Json(value) => json::push_value(&mut out, &value),
                Lookup::Text(value) => out.push_str(&value),
                Lookup::Missing if found.optional => {}
                Lookup::Missing => missing.push(found),
            }
        }
        if !missing.is_empty() {
            return Err(self.missing_error(missing, known_keys()));
        }
        out.push_str(self.slice(printed..self.text().len()));
        Ok(out)
    }

    /// Returns the error for placeholders without a value, for callers that look values up
    /// themselves.
    ///
    /// They must be this template's, in its order. Similar keys are searched in `known_keys`.
    ///
    /// ```
    /// # use adk_session_wasm::template::Template;
    /// let template = Template::new("Hi {user:nmae}");
    /// let error = template.missing_error(template.placeholders(), ["user:name", "cart"]);
    /// assert_eq!(error.code(), "missing_variable");
    /// assert!(error.to_string().contains("`user:name`"));
    /// ```
    pub fn missing_error<'t, K>(
        &self,
        missing: impl IntoIterator<Item = Placeholder<'t>>,
        known_keys: K,
    ) -> TemplateError
    where
        K: IntoIterator,
        K::Item: AsRef<str>,
    {
        let missing: Vec<_> = missing.into_iter().collect();
        // File names get no suggestions: a context cannot list its artifacts synchronously.
        let mut places = Names::<usize>::default();
        let mut keys = Vec::new();
        for found in missing.iter().filter(|found| found.kind == PlaceholderKind::State) {
            if places.add(found.name, keys.len()) {
                keys.push(found.name);
            }
        }
        let near = near::near_misses(&keys, known_keys);
        let mut utf16 = Utf16Cursor::new(self.text());
        let variable = |found: Placeholder<'_>| {
            let is_key = found.kind == PlaceholderKind::State;
            let place = places.get(found.name).filter(|_| is_key);
            let suggestions = place.and_then(|place| near.get(*place)).cloned();
            MissingVariable {
                name: if is_key { found.name.to_owned() } else { artifact_name(found.name) },
                offset: found.start,
                offset_utf16: utf16.advance_to(found.start),
                suggestions: suggestions.unwrap_or_default(),
            }
        };
        TemplateError::Missing(missing.into_iter().map(variable).collect())
    }

    /// Renders the template with a context's state and artifacts.
    ///
    /// Artifacts are loaded first, one after the other, each once.
    ///
    /// ```
    /// use adk_session_wasm::template::{Template, TemplateError};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), TemplateError> {
    /// let template = Template::new("Speak {user:language?}.");
    /// let mut state = serde_json::Map::new();
    /// assert_eq!(template.render(&state).await?, "Speak .");
    /// state.insert("user:language".to_owned(), "Korean".into());
    /// assert_eq!(template.render(&state).await?, "Speak Korean.");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`TemplateError::ArtifactServiceMissing`] or [`TemplateError::ArtifactFailed`] for the first
    /// artifact that cannot be loaded, optional or not. Otherwise [`TemplateError::Missing`] with
    /// all missing keys and artifacts that are not optional.
    pub async fn render<C>(&self, context: &C) -> Result<String, TemplateError>
    where
        C: TemplateContext + ?Sized,
    {
        let artifacts = self.load_artifacts(context).await?;
        let lookup = |found: &Placeholder<'_>| match found.kind {
            PlaceholderKind::State => {
                context.state_json(found.name).map_or(Lookup::Missing, Lookup::Json)
            }
            PlaceholderKind::Artifact => match artifacts.get(found.name) {
                Some(Some(Artifact::Text(text))) => Lookup::Text(text.into()),
                Some(Some(Artifact::Json(json))) => Lookup::Json(json.into()),
                Some(None) | None => Lookup::Missing,
            },
        };
        self.render_with(lookup, || context.state_keys())
    }

    async fn load_artifacts<C>(&self, context: &C) -> Result<Names<Option<Artifact>>, TemplateError>
    where
        C: TemplateContext + ?Sized,
    {
        let mut artifacts = Names::default();
        for found in self.placeholders() {
            let is_read = found.kind == PlaceholderKind::Artifact && !found.is_escaped();
            if !is_read || artifacts.get(found.name).is_some() {
                continue;
            }
            let artifact = context.load_artifact(found.name).await;
            let artifact = artifact.map_err(|error| self.artifact_error(&found, error))?;
            artifacts.add(found.name, artifact);
        }
        Ok(artifacts)
    }

    /// Returns the error for an artifact that could not be loaded, for callers that load it
    /// themselves.
    ///
    /// ```
    /// # use adk_session_wasm::template::{ArtifactError, Template};
    /// let template = Template::new("{artifact.terms.txt?}");
    /// let Some(found) = template.placeholders().next() else { unreachable!() };
    /// let error = template.artifact_error(&found, ArtifactError::NoService);
    /// assert_eq!(error.code(), "artifact_service_missing");
    /// ```
    #[must_use]
    pub fn artifact_error(&self, found: &Placeholder<'_>, error: ArtifactError) -> TemplateError {
        let name = artifact_name(found.name);
        let offset = found.start;
        let offset_utf16 = Utf16Cursor::new(self.text()).advance_to(offset);
        match error {
            ArtifactError::NoService => {
                TemplateError::ArtifactServiceMissing { name, offset, offset_utf16 }
            }
            ArtifactError::Failed(cause) => {
                TemplateError::ArtifactFailed { name, offset, offset_utf16, cause }
            }
        }
    }
}

/// Returns a file's name as a template writes it, so that it differs from every state key.
fn artifact_name(filename: &str) -> String {
    ["artifact.", filename].concat()
}

/// Inserts a context's state and artifacts into an instruction: [`Template::new`] and
/// [`Template::render`] in one call.
///
/// ```
/// use adk_session_wasm::template::{TemplateError, inject_session_state};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), TemplateError> {
/// let state = serde_json::Map::from_iter([("이름".to_owned(), "민수".into())]);
/// assert_eq!(inject_session_state("안녕 {이름}!", &state).await?, "안녕 민수!");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The same as [`Template::render`].
pub async fn inject_session_state<C>(template: &str, context: &C) -> Result<String, TemplateError>
where
    C: TemplateContext + ?Sized,
{
    Template::new(template).render(context).await
}
