//! Artifacts: the files of a session, kept by a type that the user implements.

use std::future::ready;

use serde_json::Value;

use crate::core::error::ErrorSource;
use crate::core::session::SessionKey;
use crate::core::template::Artifact;
use crate::host::BoxFuture;

/// The future of a method of [`ArtifactService`].
pub type ArtifactFuture<'a, T> = BoxFuture<'a, Result<T, ErrorSource>>;

/// A store of a session's files. Implement it for `{artifact.NAME}` in instructions and for the
/// contexts' methods.
///
/// A file is a part in the Gemini API's form: `{"text": …}`, `{"inlineData": …}`. A name that
/// begins with `user:` means a file of the user, not of the session; the service handles that. The
/// futures are boxed, and `Send` except in wasm: a method is `Box::pin(async move { … })`.
///
/// ```
/// use adk_session::invocation::{ArtifactFuture, ArtifactService};
/// use adk_session::{
///     CreateRequest, InMemorySessionService, Invocation, SessionKey, SessionService,
///     inject_session_state,
/// };
/// use serde_json::{Value, json};
///
/// struct Terms;
///
/// impl ArtifactService for Terms {
///     fn load<'a>(
///         &'a self,
///         _session: &'a SessionKey,
///         filename: &'a str,
///         _version: Option<i64>,
///     ) -> ArtifactFuture<'a, Option<Value>> {
///         Box::pin(async move {
///             Ok((filename == "terms.txt").then(|| json!({"text": "Be kind."})))
///         })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), adk_session::Error> {
/// # let service = InMemorySessionService::new();
/// # let (app_name, user_id) = ("shop".to_owned(), "ada".to_owned());
/// # let session = service.create(CreateRequest { app_name, user_id, ..Default::default() }).await?;
/// let invocation = Invocation::new(&session).with_artifacts(Terms);
/// let context = invocation.readonly_context("guide");
/// let text = inject_session_state("{artifact.terms.txt} {artifact.other.txt?}", &context).await?;
/// assert_eq!(text, "Be kind. ");
/// # Ok(())
/// # }
/// ```
pub trait ArtifactService: Send + Sync {
    /// Loads a file; `None` if it does not exist. Versions count from 0; without one, loads the
    /// newest.
    ///
    /// # Errors
    /// Any error. It becomes the cause of a `storage_failed`.
    fn load<'a>(
        &'a self,
        session: &'a SessionKey,
        filename: &'a str,
        version: Option<i64>,
    ) -> ArtifactFuture<'a, Option<Value>>;

    /// Saves a file and returns its version, from 0. The default implementation fails, for services
    /// that only read.
    ///
    /// # Errors
    /// The same as [`ArtifactService::load`].
    fn save<'a>(
        &'a self,
        session: &'a SessionKey,
        filename: &'a str,
        part: Value,
    ) -> ArtifactFuture<'a, i64> {
        let _ = (session, filename, part);
        cannot("save")
    }

    /// Returns the names of the files. The default implementation fails.
    ///
    /// # Errors
    /// The same as [`ArtifactService::load`].
    fn list<'a>(&'a self, session: &'a SessionKey) -> ArtifactFuture<'a, Vec<String>> {
        let _ = session;
        cannot("list")
    }
}

fn cannot<'a, T: Send + 'a>(verb: &str) -> ArtifactFuture<'a, T> {
    let reason = format!(
        "this artifact service cannot {verb}: it does not implement ArtifactService::{verb}"
    );
    Box::pin(ready(Err(reason.into())))
}

/// Returns the text that a template prints for a part.
pub(super) fn printed(part: &Value) -> Artifact {
    match part.get("text") {
        Some(Value::String(text)) => Artifact::Text(text.clone()),
        _ => Artifact::Json(part.to_string()),
    }
}
