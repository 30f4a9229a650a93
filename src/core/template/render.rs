//! Renders templates from a context.

use crate::core::error::Error;
use crate::core::names::NameMap;

use super::context::{Artifact, TemplateContext};
use super::json;
use super::missing::{artifact_error, missing_error};
use super::placeholder::PlaceholderKind;
use super::scan::Template;

impl Template {
    /// Renders the template with a context's state and artifacts.
    ///
    /// Artifacts are loaded first, one after the other, each once.
    ///
    /// ```
    /// use adk_session::template::Template;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), adk_session::Error> {
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
    /// [`Error::Artifact`] or [`Error::NoArtifactService`] for the first artifact that cannot be loaded, optional or not.
    /// Otherwise [`Error::MissingVariables`] with all missing keys and artifacts that are not optional.
    pub async fn render<C>(&self, context: &C) -> Result<String, Error>
    where
        C: TemplateContext + ?Sized,
    {
        let artifacts = self.load_artifacts(context).await?;
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
            match (found.kind, artifacts.get(found.name)) {
                (PlaceholderKind::State, _) => match context.state_json(found.name) {
                    Some(value) => json::push_value(&mut out, &value),
                    None => missing.push(found),
                },
                (PlaceholderKind::Artifact, Some(Some(Artifact::Text(text)))) => out.push_str(text),
                (PlaceholderKind::Artifact, Some(Some(Artifact::Json(json)))) => {
                    json::push_value(&mut out, json);
                }
                (PlaceholderKind::Artifact, Some(None) | None) => missing.push(found),
            }
        }
        missing.retain(|found| !found.optional);
        if !missing.is_empty() {
            return Err(missing_error(&missing, context.state_keys()));
        }
        out.push_str(self.slice(printed..self.text().len()));
        Ok(out)
    }

    async fn load_artifacts<C>(&self, context: &C) -> Result<NameMap<Option<Artifact>>, Error>
    where
        C: TemplateContext + ?Sized,
    {
        let mut artifacts = NameMap::default();
        for found in self.placeholders() {
            let is_read = found.kind == PlaceholderKind::Artifact && !found.is_escaped();
            if !is_read || artifacts.get(found.name).is_some() {
                continue;
            }
            let artifact = context.load_artifact(found.name).await;
            let artifact = artifact.map_err(|error| artifact_error(&found, error))?;
            artifacts.add(found.name, artifact);
        }
        Ok(artifacts)
    }
}

/// Inserts a context's state and artifacts into an instruction: [`Template::new`] and
/// [`Template::render`] in one call.
///
/// ```
/// use adk_session::template::inject_session_state;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), adk_session::Error> {
/// let state = serde_json::Map::from_iter([("이름".to_owned(), "민수".into())]);
/// assert_eq!(inject_session_state("안녕 {이름}!", &state).await?, "안녕 민수!");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The same as [`Template::render`].
pub async fn inject_session_state<C>(template: &str, context: &C) -> Result<String, Error>
where
    C: TemplateContext + ?Sized,
{
    Template::new(template).render(context).await
}
