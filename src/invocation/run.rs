//! One invocation of a session.

use std::sync::Arc;

use serde_json::Value;
use serde_json::map::Entry;
use tokio::sync::Mutex;

use super::artifacts::ArtifactService;
use super::context::{Context, ReadonlyContext, Shared};
use super::live_state::{LockedState, Writes};
use crate::core::error::{Error, Field};
use crate::core::event::{Event, EventActions};
use crate::core::session::SessionKey;
use crate::host;
use crate::service::{Session, SessionPosition, SessionService};

/// One run on one session, from a user's message to the final answer. It gives contexts to the
/// agents, callbacks and tools that take part, and stores their events. See the
/// [module](crate::invocation) for an example.
///
/// Agents that run in parallel write to the same state. The later write of a key wins, whatever the
/// order of their appends (see [`WriteOrder`](crate::invocation::WriteOrder)).
///
/// The state is the session's as it was read, with this invocation's writes. Changes by others
/// appear only at the next [`SessionService::get`]. So run only one invocation of a session at a
/// time.
#[derive(Debug)]
pub struct Invocation {
    shared: Shared,
    /// Locked by the append that is stored. It is fair: events are stored in the order of their appends.
    position: Mutex<SessionPosition>,
}

impl Invocation {
    /// Starts an invocation of that session. Its id is `e-` and a UUID.
    pub fn new(session: &Session) -> Self {
        let shared = Shared {
            id: format!("e-{}", host::new_id()).into(),
            session: Arc::new(session.key().clone()),
            user_content: None,
            artifacts: None,
            state: Arc::new(LockedState::new(session.state().all())),
        };
        Self { shared, position: Mutex::new(session.position()) }
    }

    /// Makes appends fail after any change by others: see [`SessionPosition::rejecting_stale`].
    #[must_use]
    pub fn rejecting_stale(mut self) -> Self {
        let position = self.position.get_mut();
        *position = position.clone().rejecting_stale();
        self
    }

    /// Sets another id.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<Arc<str>>) -> Self {
        self.shared.id = id.into();
        self
    }

    /// Sets the user's message that started the invocation, for the contexts. It is not appended:
    /// the caller appends it as the first event.
    #[must_use]
    pub fn with_user_content(mut self, content: Value) -> Self {
        self.shared.user_content = Some(Arc::new(content));
        self
    }

    /// Sets the service for the session's files. Without it, artifacts in an instruction and the
    /// contexts' file methods fail with `artifact_service_missing`.
    #[must_use]
    pub fn with_artifacts(mut self, artifacts: impl ArtifactService + 'static) -> Self {
        self.shared.artifacts = Some(Arc::new(artifacts));
        self
    }

    /// Returns the id, which events get.
    pub fn id(&self) -> &str {
        &self.shared.id
    }

    /// Returns the names of the session.
    pub fn session_key(&self) -> &SessionKey {
        &self.shared.session
    }

    /// Returns a new context for a callback or a tool of that agent. Each context collects its own
    /// changes.
    pub fn context(&self, agent_name: impl Into<String>) -> Context {
        Context::new(self.readonly_context(agent_name))
    }

    /// Returns a read-only context, for example for an instruction.
    pub fn readonly_context(&self, agent_name: impl Into<String>) -> ReadonlyContext {
        ReadonlyContext::new(self.shared.clone(), agent_name.into())
    }

    /// Completes an event, stores it, and returns it as it was stored.
    ///
    /// A missing id, invocation id, author and branch are filled in; the author is the context's
    /// agent, or `user`. The context's delta and actions are added to the event; the event's own
    /// entries win. The context is cleared only when the event is stored: if the append fails or
    /// its future is dropped, a retry stores them. For a retry, append a clone of the event, so
    /// that it keeps its id and is not stored twice.
    ///
    /// With `output_key`, the text of a final response is written to the state under that key: see
    /// [`Event::final_response_text`].
    ///
    /// Concurrent appends are stored one after the other. A partial event is completed and
    /// returned; nothing is stored, and the context keeps its changes. Delta entries that a later,
    /// already stored write has superseded are removed from the event. So are `temp:` keys.
    ///
    /// # Errors
    /// Fails with `invalid_argument` after the end, or for a context of another invocation. Also
    /// fails as [`SessionService::append_events`] does: with `stale_session` if a rewind has undone the
    /// invocation, or if it was cancelled, since its session was read.
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
    /// let (mut one, mut two) = (invocation.context("one"), invocation.context("two"));
    /// one.set("topic".into(), "coffee".into());
    /// two.set("topic".into(), "tea".into());
    ///
    /// let event = || Event::new(invocation.id());
    /// let later = invocation.append(&service, event(), Some(&mut two), None).await?;
    /// assert_eq!(later.actions.state_delta["topic"], "tea");
    /// let earlier = invocation.append(&service, event(), Some(&mut one), None).await?;
    /// assert!(earlier.actions.state_delta.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn append<S: SessionService + ?Sized>(
        &self,
        service: &S,
        event: Event,
        context: Option<&mut Context>,
        output_key: Option<&str>,
    ) -> Result<Event, Error> {
        self.check(context.as_deref())?;
        let mut event = self.labelled(event, context.as_deref(), &|| service.new_id());
        if event.partial {
            return Ok(event);
        }
        event = event.with_content_object()?;
        let writes = self.collect(&mut event, context.as_deref(), output_key);
        let mut position = self.position.lock().await;
        event.actions.state_delta = self.shared.state.lock().storable(&writes);
        service.append_events(&mut position, vec![event.clone()]).await?;
        self.shared.state.lock().commit(&writes);
        if let Some(context) = context {
            context.clear();
        }
        Ok(event)
    }

    /// Ends the invocation, as dropping it does. The `temp:` keys are removed, writes through
    /// contexts do nothing, and new appends fail. Pending appends are still stored. Ending twice
    /// does nothing.
    pub fn end(&self) {
        self.shared.state.lock().end();
    }

    fn check(&self, context: Option<&Context>) -> Result<(), Error> {
        if self.shared.state.lock().has_ended() {
            return Err(Error::invalid(
                Field::Invocation,
                format!("{:?} has ended; begin another one for the next message", self.id()),
            ));
        }
        if context.is_some_and(|context| !Arc::ptr_eq(&context.shared.state, &self.shared.state)) {
            return Err(Error::invalid(
                Field::Context,
                "belongs to another invocation; use one that Invocation::context returned",
            ));
        }
        Ok(())
    }

    fn labelled(
        &self,
        mut event: Event,
        context: Option<&Context>,
        new_id: &dyn Fn() -> String,
    ) -> Event {
        let fill = |field: &mut String, value: &dyn Fn() -> String| {
            if field.is_empty() {
                *field = value();
            }
        };
        fill(&mut event.id, new_id);
        fill(&mut event.invocation_id, &|| self.id().to_owned());
        fill(&mut event.author, &|| context.map_or("user", |it| it.agent_name()).to_owned());
        if event.branch.as_deref().is_none_or(str::is_empty) {
            event.branch = context.and_then(|context| context.branch()).map(str::to_owned);
        }
        event
    }

    /// Collects the writes for the event, and merges the context's actions into the event's.
    fn collect(
        &self,
        event: &mut Event,
        context: Option<&Context>,
        output_key: Option<&str>,
    ) -> Writes {
        let (mut writes, mut of_context) = context.map(Context::collected).unwrap_or_default();
        let mut by_hand = std::mem::take(&mut of_context.state_delta);
        by_hand.extend(std::mem::take(&mut event.actions.state_delta));
        merge_actions(&mut event.actions, of_context);
        if let Some((key, text)) = output_key.zip(event.final_response_text()) {
            by_hand.insert(key.to_owned(), text.into());
        }
        writes.extend(self.shared.state.lock().by_hand(by_hand));
        writes
    }
}

impl Drop for Invocation {
    fn drop(&mut self) {
        self.end();
    }
}

/// Fields of the actions that map ids of function calls, so two of them can be merged.
const CALL_MAPS: [&str; 2] = ["requestedAuthConfigs", "requestedToolConfirmations"];

/// Adds the actions in `more` that are missing; existing ones win.
fn merge_actions(actions: &mut EventActions, more: EventActions) {
    for (filename, version) in more.artifact_delta {
        actions.artifact_delta.entry(filename).or_insert(version);
    }
    actions.transfer_to_agent = actions.transfer_to_agent.take().or(more.transfer_to_agent);
    actions.escalate |= more.escalate;
    actions.skip_summarization |= more.skip_summarization;
    for (field, value) in more.other {
        let is_call_map = CALL_MAPS.contains(&field.as_str());
        match actions.other.entry(field) {
            Entry::Vacant(free) => {
                free.insert(value);
            }
            Entry::Occupied(mut own) => {
                if let (true, Value::Object(own), Value::Object(calls)) =
                    (is_call_map, own.get_mut(), value)
                {
                    for (call, request) in calls {
                        own.entry(call).or_insert(request);
                    }
                }
            }
        }
    }
}
