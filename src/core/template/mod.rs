//! Instruction templates: insert session state and artifacts into an agent's instruction.
//!
//! | written | printed |
//! |---|---|
//! | `{name}` `{ name }` | the state's `name`; an error if it is missing |
//! | `{name?}` | the same; nothing if it is missing |
//! | `{app:name}` `{user:name}` `{temp:name}` | a key of that scope |
//! | `{artifact.report.txt}` `{artifact.user:photo.png?}` | a loaded artifact |
//! | `{{name}}`, `{}`, `{"k": 1}`, `{a-b}`, `{name ?}` | unchanged |
//! | `\{name}` | `{name}` |
//! | `\\{name}` | one backslash, then the value |
//!
//! Names are Unicode identifiers (`{이름}`). A string prints as it is, null as nothing, any other
//! value as its compact JSON. Inserted values are never expanded again, so a user who writes
//! `{app:secret}` into a chat cannot read that key.
//!
//! [`Template`] finds each [`Placeholder`] (`scan`, with the grammar of names in `name`) and
//! renders the text (`render`, with JSON in `json` and `number`). [`TemplateContext`] supplies the
//! values (`context`). [`Error`](crate::Error) names the missing ones (`missing`), with similar keys
//! (`near`).
//!
//! ```
//! use adk_session::template::inject_session_state;
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), adk_session::Error> {
//! let state = serde_json::json!({"user:name": "Ada", "cart": [1, 2]});
//! let state = state.as_object().cloned().unwrap_or_default();
//! let text = inject_session_state("{user:name} has {cart}. {note?}", &state).await?;
//! assert_eq!(text, "Ada has [1,2]. ");
//! # Ok(())
//! # }
//! ```

mod context;
mod json;
pub(crate) mod missing;
mod name;
mod near;
mod number;
mod placeholder;
mod render;
mod scan;

pub use crate::core::error::{ArtifactPlace, MissingVariable};
pub use context::{Artifact, TemplateContext};
pub use placeholder::{Placeholder, PlaceholderKind};
pub use render::inject_session_state;
pub use scan::Template;
