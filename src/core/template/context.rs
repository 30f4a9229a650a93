//! The source of a template's values.

use std::borrow::Cow;
use std::future::{Future, ready};

use serde_json::{Map, Value};

use crate::core::error::Error;
use crate::host::{SendOutsideWasm, SyncOutsideWasm};

/// A loaded artifact, as it is printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Artifact {
    /// A text part's text.
    Text(String),
    /// Any other part, as JSON text.
    Json(String),
}

/// The data that a template is rendered with: a session's state, and artifacts if there are any.
///
/// It is implemented for [`serde_json::Map`], without artifacts. It is `Send` and `Sync`, and so are its
/// futures, except in wasm: there a context may hold a browser's objects.
///
/// ```
/// use std::borrow::Cow;
/// use adk_session::Error;
/// use adk_session::template::{Artifact, TemplateContext, inject_session_state};
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
///     async fn load_artifact(&self, filename: &str) -> Result<Option<Artifact>, Error> {
///         Ok((filename == "terms.txt").then(|| Artifact::Text("Be kind.".to_owned())))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Error> {
/// let text = inject_session_state("{user:name}: {artifact.terms.txt}", &Context).await?;
/// assert_eq!(text, "Ada: Be kind.");
/// # Ok(())
/// # }
/// ```
pub trait TemplateContext: SendOutsideWasm + SyncOutsideWasm {
    /// Returns the JSON text of a state key's value; `None` if the key does not exist.
    fn state_json(&self, key: &str) -> Option<Cow<'_, str>>;

    /// Returns all keys of the state. Called only to find keys similar to a missing one.
    fn state_keys(&self) -> impl Iterator<Item = Cow<'_, str>>;

    /// Loads an artifact; `None` if it does not exist. A service that fails is an [`Error::artifact`], to which rendering
    /// adds the placeholder.
    ///
    /// An artifact that the template names several times is loaded once. The default implementation
    /// fails: there is no artifact service.
    fn load_artifact(
        &self,
        filename: &str,
    ) -> impl Future<Output = Result<Option<Artifact>, Error>> + SendOutsideWasm {
        let _ = filename;
        ready(Err(Error::NoArtifactService { place: None }))
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
