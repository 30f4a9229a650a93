//! Where a template's values come from.

use std::borrow::Cow;
use std::error::Error;
use std::future::{Future, ready};

use serde_json::{Map, Value};

/// What a loaded artifact prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Artifact {
    /// A text part's text.
    Text(String),
    /// Any other part, as JSON text.
    Json(String),
}

/// Why an artifact could not be asked for.
#[derive(Debug)]
pub enum ArtifactError {
    /// The context has no artifact service.
    NoService,
    /// The service failed, with this cause. An artifact that does not exist is no failure.
    Failed(Box<dyn Error + Send + Sync>),
}

/// What a template is rendered with: a session's state, and artifacts if there are any.
///
/// Implemented for a plain [`serde_json::Map`], which has no artifacts. There is no `Send` bound,
/// so a context may hold a browser's objects.
///
/// ```
/// use std::borrow::Cow;
/// use adk_session_wasm::instruction::{
///     Artifact, ArtifactError, TemplateContext, TemplateError, inject_session_state,
/// };
///
/// struct Context;
///
/// impl TemplateContext for Context {
///     fn state_json(&self, key: &str) -> Option<Cow<'_, str>> {
///         (key == "user:name").then_some(Cow::Borrowed(r#""Ada""#))
///     }
///     fn state_keys(&self) -> impl Iterator<Item = Cow<'_, str>> {
///         std::iter::once(Cow::Borrowed("user:name"))
///     }
///     async fn load_artifact(&self, filename: &str) -> Result<Option<Artifact>, ArtifactError> {
///         Ok((filename == "terms.txt").then(|| Artifact::Text("Be kind.".to_owned())))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), TemplateError> {
/// let text = inject_session_state("{user:name}: {artifact.terms.txt}", &Context).await?;
/// assert_eq!(text, "Ada: Be kind.");
/// # Ok(())
/// # }
/// ```
pub trait TemplateContext {
    /// The JSON text of a state key's value, `None` if there is no such key.
    fn state_json(&self, key: &str) -> Option<Cow<'_, str>>;

    /// All keys of the state; asked for only to name near misses of a missing one.
    fn state_keys(&self) -> impl Iterator<Item = Cow<'_, str>>;

    /// Loads an artifact, `None` if there is none of that name.
    ///
    /// One that is named several times is loaded once. Without this method there is no artifact
    /// service.
    fn load_artifact(
        &self,
        filename: &str,
    ) -> impl Future<Output = Result<Option<Artifact>, ArtifactError>> {
        let _ = filename;
        ready(Err(ArtifactError::NoService))
    }
}

impl TemplateContext for Map<String, Value> {
    fn state_json(&self, key: &str) -> Option<Cow<'_, str>> {
        self.get(key).map(|value| Cow::Owned(value.to_string()))
    }

    fn state_keys(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.keys().map(|key| Cow::Borrowed(key.as_str()))
    }
}
