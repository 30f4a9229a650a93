//! Invocations: runs of agents on a session, for programs without an ADK.
//!
//! An [`Invocation`] lasts from one user message to the final answer. It gives a [`Context`] to
//! every agent, callback and tool that takes part, and stores their events. A write through one
//! context is visible to all others at once. It is stored with the next event of its own context.
//! `temp:` keys live as long as the invocation and are never stored.
//!
//! The parts have a file each: the shared state (`live_state`), the order of writes
//! ([`WriteOrder`]), and the session's files ([`ArtifactService`]).
//!
//! ```
//! use adk_session::{
//!     CreateRequest, Event, GetRequest, InMemorySessionService, Invocation, SessionService, State,
//!     inject_session_state,
//! };
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), adk_session::Error> {
//! let service = InMemorySessionService::new();
//! let (app_name, user_id) = ("shop".to_owned(), "ada".to_owned());
//! let create = CreateRequest { app_name, user_id, ..Default::default() };
//! let session = service.create(create).await?;
//!
//! let invocation = Invocation::new(&session);
//! let mut context = invocation.context("guide");
//! context.set("user:name".into(), "Ada".into());
//! context.set("temp:step".into(), 1.into());
//! let instruction = inject_session_state("Greet {user:name}, step {temp:step}.", &context).await?;
//! assert_eq!(instruction, "Greet Ada, step 1.");
//!
//! let mut answer = Event::new(invocation.id());
//! answer.content = Some(serde_json::json!({"role": "model", "parts": [{"text": "Hello, Ada!"}]}));
//! let answer = invocation.append(&service, answer, Some(&mut context), Some("greeting")).await?;
//! assert_eq!(answer.author, "guide");
//! invocation.end();
//!
//! let (app_name, user_id) = ("shop".to_owned(), "ada".to_owned());
//! let session_id = session.id().to_owned();
//! let get = GetRequest { app_name, user_id, session_id, ..Default::default() };
//! let session = service.get(get).await?;
//! assert_eq!(session.state().get("greeting"), Some("Hello, Ada!".into()));
//! assert_eq!(session.state().get("user:name"), Some("Ada".into()));
//! assert_eq!(session.state().get("temp:step"), None);
//! # Ok(())
//! # }
//! ```

mod artifacts;
mod context;
mod live_state;
mod run;
mod write_order;

pub use artifacts::{ArtifactFuture, ArtifactService};
pub use context::{Context, Context as CallbackContext, Context as ToolContext, ReadonlyContext};
pub use run::Invocation;
pub use write_order::{Stamp, WriteOrder};
