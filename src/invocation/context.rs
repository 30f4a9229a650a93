//! An invocation's contexts for agents, callbacks and tools.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde_json::Value;

use super::artifacts::{ArtifactService, printed};
use super::live_state::{LiveState, LockedState, Writes};
use crate::core::error::Error;
use crate::core::event::EventActions;
use crate::core::session::SessionKey;
use crate::core::state::{REMOVED, ReadonlyState, State};
use crate::core::template::{Artifact, TemplateContext};

/// The data that an invocation and its contexts share.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) id: Arc<str>,
    pub(super) session: Arc<SessionKey>,
    pub(super) user_content: Option<Arc<Value>>,
    pub(super) artifacts: Option<Arc<dyn ArtifactService>>,
    pub(super) state: Arc<LockedState>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shared = f.debug_struct("Shared");
        shared.field("id", &self.id).field("session", &self.session).finish_non_exhaustive()
    }
}

/// A read-only view of an invocation, for example for a function that makes an instruction.
/// [`Invocation::readonly_context`](crate::Invocation::readonly_context) makes it.
///
/// As a [`ReadonlyState`] it shows the session's current state, with `temp:` keys. It is `Send +
/// Sync` and owns its data, so that a tool may move it to another thread.
///
/// ```
/// # use adk_session::{CreateRequest, InMemorySessionService, SessionService};
/// use adk_session::{Invocation, ReadonlyContext, ReadonlyState};
///
/// fn greeting(context: &ReadonlyContext) -> String {
///     match context.get("user:name") {
///         Some(name) => format!("Greet {name} as {}.", context.agent_name()),
///         None => "Ask for a name.".to_owned(),
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), adk_session::Error> {
/// # let service = InMemorySessionService::new();
/// # let (app_name, user_id) = ("shop".to_owned(), "ada".to_owned());
/// # let session = service.create(CreateRequest { app_name, user_id, ..Default::default() }).await?;
/// let context = Invocation::new(&session).readonly_context("guide");
/// assert_eq!(greeting(&context), "Ask for a name.");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ReadonlyContext {
    pub(super) shared: Shared,
    agent_name: String,
    branch: Option<String>,
}

impl ReadonlyContext {
    pub(super) fn new(shared: Shared, agent_name: String) -> Self {
        Self { shared, agent_name, branch: None }
    }

    /// Sets the path of agents down to this one, `root.child`, which distinguishes parallel agents.
    #[must_use]
    pub fn with_branch(mut self, branch: impl Into<String>) -> Self {
        self.branch = Some(branch.into());
        self
    }

    /// Returns the agent's name, which becomes the author of its events.
    pub fn agent_name(&self) -> &str {
        &self.agent_name
    }

    /// Returns the path of agents down to this one: `root.child`.
    pub fn branch(&self) -> Option<&str> {
        self.branch.as_deref()
    }

    /// Returns the invocation's id.
    pub fn invocation_id(&self) -> &str {
        &self.shared.id
    }

    /// Returns the user's message that started the invocation.
    pub fn user_content(&self) -> Option<&Value> {
        self.shared.user_content.as_deref()
    }

    /// Returns the names of the session.
    pub fn session_key(&self) -> &SessionKey {
        &self.shared.session
    }

    /// Returns the session's id.
    pub fn session_id(&self) -> &str {
        &self.shared.session.session_id
    }

    /// Returns the user's id.
    pub fn user_id(&self) -> &str {
        &self.shared.session.user_id
    }

    /// Returns the app's name.
    pub fn app_name(&self) -> &str {
        &self.shared.session.app_name
    }

    /// Loads a file of the session; `None` if it does not exist. Versions count from 0; without
    /// one, loads the newest.
    ///
    /// # Errors
    /// `artifact_service_missing` if there is no service; `storage_failed` if the service failed,
    /// with its error as the source.
    pub async fn load_artifact(
        &self,
        filename: &str,
        version: Option<i64>,
    ) -> Result<Option<Value>, Error> {
        let loaded = self.artifacts()?.load(self.session_key(), filename, version).await;
        loaded.map_err(Error::artifact)
    }

    /// Returns the names of the session's files.
    ///
    /// # Errors
    /// The same as [`ReadonlyContext::load_artifact`].
    pub async fn list_artifacts(&self) -> Result<Vec<String>, Error> {
        self.artifacts()?.list(self.session_key()).await.map_err(Error::artifact)
    }

    fn artifacts(&self) -> Result<&dyn ArtifactService, Error> {
        self.shared.artifacts.as_deref().ok_or(Error::NoArtifactService { place: None })
    }

    fn read<R>(&self, reader: impl FnOnce(&LiveState) -> R) -> R {
        reader(&self.shared.state.lock())
    }
}

impl ReadonlyState for ReadonlyContext {
    fn get(&self, key: &str) -> Option<Value> {
        self.read(|state| state.values().get(key).cloned())
    }

    fn all(&self) -> HashMap<String, Value> {
        self.read(|state| state.values().clone()).into_iter().collect()
    }
}

impl TemplateContext for ReadonlyContext {
    fn state_json(&self, key: &str) -> Option<Cow<'_, str>> {
        self.read(|state| state.values().get(key).map(Value::to_string)).map(Cow::Owned)
    }

    fn state_keys(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let keys: Vec<String> = self.read(|state| state.values().keys().cloned().collect());
        keys.into_iter().map(Cow::Owned)
    }

    async fn load_artifact(&self, filename: &str) -> Result<Option<Artifact>, Error> {
        let part = ReadonlyContext::load_artifact(self, filename, None).await?;
        Ok(part.as_ref().map(printed))
    }
}

/// The context of a callback or a tool: writable state, and the actions of the event that will
/// store its writes. [`Invocation::context`](crate::Invocation::context) makes it;
/// [`Invocation::append`](crate::Invocation::append) stores its changes.
///
/// As a [`State`] it shows the session's current state. A write is visible to all contexts of the
/// invocation at once. It stays in this context's delta until an append has stored it. The context
/// derefs to the [`ReadonlyContext`] of the same agent.
///
/// It is also exported as `CallbackContext` and `ToolContext`, the names in the ADK's
/// documentation.
///
/// ```
/// # use adk_session::{CreateRequest, InMemorySessionService, SessionService};
/// use adk_session::{Event, Invocation, State};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), adk_session::Error> {
/// # let service = InMemorySessionService::new();
/// # let (app_name, user_id) = ("shop".to_owned(), "ada".to_owned());
/// # let session = service.create(CreateRequest { app_name, user_id, ..Default::default() }).await?;
/// let invocation = Invocation::new(&session);
/// let mut tool = invocation.context("shop").with_function_call_id("call-1");
/// let other = invocation.context("guide").with_branch("root.guide");
/// tool.set("user:city".into(), "Seoul".into());
/// tool.actions_mut().skip_summarization = true;
/// assert_eq!(other.get("user:city"), Some("Seoul".into()));
///
/// let event = Event::new(invocation.id());
/// let event = invocation.append(&service, event, Some(&mut tool), None).await?;
/// assert_eq!(event.actions.state_delta["user:city"], "Seoul");
/// assert!(event.actions.skip_summarization && tool.delta().is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Context {
    base: ReadonlyContext,
    function_call_id: Option<String>,
    writes: Writes,
    actions: EventActions,
}

impl Context {
    pub(super) fn new(base: ReadonlyContext) -> Self {
        let (writes, actions) = (Writes::new(), EventActions::default());
        Self { base, function_call_id: None, writes, actions }
    }

    /// Sets the path of agents: see [`ReadonlyContext::with_branch`].
    #[must_use]
    pub fn with_branch(mut self, branch: impl Into<String>) -> Self {
        self.base = self.base.with_branch(branch);
        self
    }

    /// Sets the id of the function call that a tool answers.
    #[must_use]
    pub fn with_function_call_id(mut self, id: impl Into<String>) -> Self {
        self.function_call_id = Some(id.into());
        self
    }

    /// Returns the id of the function call that a tool answers; `None` in a callback.
    pub fn function_call_id(&self) -> Option<&str> {
        self.function_call_id.as_deref()
    }

    /// Returns the same agent's read-only context.
    pub fn to_readonly(&self) -> ReadonlyContext {
        self.base.clone()
    }

    /// Removes a key: writes [`REMOVED`].
    pub fn remove(&mut self, key: &str) {
        self.set(key.to_owned(), REMOVED.into());
    }

    /// Returns the writes since the last event; [`REMOVED`] for a removed key.
    pub fn delta(&self) -> HashMap<String, Value> {
        self.writes.iter().map(|(key, write)| (key.clone(), write.value.clone())).collect()
    }

    /// Returns the actions of the next event. [`Context::delta`] is added to them by the append.
    /// Entries added to their `state_delta` by hand count as written when the event is appended.
    pub fn actions_mut(&mut self) -> &mut EventActions {
        &mut self.actions
    }

    /// Saves a file of the session, and records its version in the actions of the next event.
    /// Returns the version, from 0.
    ///
    /// # Errors
    /// The same as [`ReadonlyContext::load_artifact`].
    pub async fn save_artifact(&mut self, filename: &str, part: Value) -> Result<i64, Error> {
        let service = self.base.artifacts()?;
        let version = service.save(self.session_key(), filename, part).await;
        let version = version.map_err(Error::artifact)?;
        self.actions.artifact_delta.insert(filename.to_owned(), version);
        Ok(version)
    }

    /// Returns the recorded writes and the actions for the next event.
    pub(super) fn collected(&self) -> (Writes, EventActions) {
        (self.writes.clone(), self.actions.clone())
    }

    /// Clears the writes and actions after an event has stored them.
    pub(super) fn clear(&mut self) {
        self.writes.clear();
        self.actions = EventActions::default();
    }
}

impl Deref for Context {
    type Target = ReadonlyContext;

    fn deref(&self) -> &ReadonlyContext {
        &self.base
    }
}

impl State for Context {
    fn get(&self, key: &str) -> Option<Value> {
        self.base.get(key)
    }

    /// Sets a key; [`REMOVED`] removes it. After the end of the invocation this does nothing, and
    /// appends fail.
    fn set(&mut self, key: String, value: Value) {
        let written = self.base.shared.state.lock().write(&key, value);
        if let Some(write) = written {
            self.writes.insert(key, write);
        }
    }

    fn all(&self) -> HashMap<String, Value> {
        self.base.all()
    }
}

impl TemplateContext for Context {
    fn state_json(&self, key: &str) -> Option<Cow<'_, str>> {
        self.base.state_json(key)
    }

    fn state_keys(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.base.state_keys()
    }

    async fn load_artifact(&self, filename: &str) -> Result<Option<Artifact>, Error> {
        TemplateContext::load_artifact(&self.base, filename).await
    }
}
