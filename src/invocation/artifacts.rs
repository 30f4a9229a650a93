//! Artifacts: the files of a session, kept by a type that the user implements.

use std::future::Future;

use serde_json::Value;

use crate::core::error::ErrorSource;
use crate::core::session::SessionKey;
use crate::core::template::Artifact;
use crate::host::{BoxFuture, SendOutsideWasm};

/// A store of a session's files. Implement it for `{artifact.NAME}` in instructions and for the
/// contexts' methods.
///
/// A file is a part in the Gemini API's form: `{"text": …}`, `{"inlineData": …}`. A name that
/// begins with `user:` means a file of the user, not of the session; the service handles that. The
/// futures are `Send`, except in wasm.
///
/// ```
/// use adk_session::error::ErrorSource;
/// use adk_session::invocation::ArtifactService;
/// use adk_session::{
///     CreateRequest, InMemorySessionService, Invocation, SessionKey, SessionService,
///     inject_session_state,
/// };
/// use serde_json::{Value, json};
///
/// struct Terms;
///
/// impl ArtifactService for Terms {
///     async fn load(
///         &self,
///         _session: &SessionKey,
///         filename: &str,
///         _version: Option<i64>,
///     ) -> Result<Option<Value>, ErrorSource> {
///         Ok((filename == "terms.txt").then(|| json!({"text": "Be kind."})))
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
    fn load(
        &self,
        session: &SessionKey,
        filename: &str,
        version: Option<i64>,
    ) -> impl Future<Output = Result<Option<Value>, ErrorSource>> + SendOutsideWasm;

    /// Saves a file and returns its version, from 0. The default implementation fails, for services
    /// that only read.
    ///
    /// # Errors
    /// The same as [`ArtifactService::load`].
    fn save(
        &self,
        session: &SessionKey,
        filename: &str,
        part: Value,
    ) -> impl Future<Output = Result<i64, ErrorSource>> + SendOutsideWasm {
        async move {
            let _ = (session, filename, part);
            Err("this artifact service cannot save: it does not implement ArtifactService::save"
                .into())
        }
    }

    /// Returns the names of the files. The default implementation fails.
    ///
    /// # Errors
    /// The same as [`ArtifactService::load`].
    fn list(
        &self,
        session: &SessionKey,
    ) -> impl Future<Output = Result<Vec<String>, ErrorSource>> + SendOutsideWasm {
        async move {
            let _ = session;
            Err("this artifact service cannot list: it does not implement ArtifactService::list"
                .into())
        }
    }
}

type ArtifactFuture<'a, T> = BoxFuture<'a, Result<T, ErrorSource>>;

/// [`ArtifactService`] as an object-safe trait, so that contexts need no type parameter for it.
pub(super) trait AnyArtifacts: Send + Sync {
    fn load<'a>(
        &'a self,
        session: &'a SessionKey,
        filename: &'a str,
        version: Option<i64>,
    ) -> ArtifactFuture<'a, Option<Value>>;
    fn save<'a>(
        &'a self,
        session: &'a SessionKey,
        filename: &'a str,
        part: Value,
    ) -> ArtifactFuture<'a, i64>;
    fn list<'a>(&'a self, session: &'a SessionKey) -> ArtifactFuture<'a, Vec<String>>;
}

impl<A: ArtifactService> AnyArtifacts for A {
    fn load<'a>(
        &'a self,
        session: &'a SessionKey,
        filename: &'a str,
        version: Option<i64>,
    ) -> ArtifactFuture<'a, Option<Value>> {
        Box::pin(ArtifactService::load(self, session, filename, version))
    }

    fn save<'a>(
        &'a self,
        session: &'a SessionKey,
        filename: &'a str,
        part: Value,
    ) -> ArtifactFuture<'a, i64> {
        Box::pin(ArtifactService::save(self, session, filename, part))
    }

    fn list<'a>(&'a self, session: &'a SessionKey) -> ArtifactFuture<'a, Vec<String>> {
        Box::pin(ArtifactService::list(self, session))
    }
}

/// Returns the text that a template prints for a part.
pub(super) fn printed(part: &Value) -> Artifact {
    match part.get("text") {
        Some(Value::String(text)) => Artifact::Text(text.clone()),
        _ => Artifact::Json(part.to_string()),
    }
}
