//! Access to state for Rust programs: whole values, as [`serde_json::Value`].

use std::collections::HashMap;

use serde_json::{Map, Value};

/// State that can be read and written. Keys include their prefix. The trait is object safe, so that
/// a tool may take a `&mut dyn State`.
///
/// ```
/// use adk_session::State;
/// fn rename(state: &mut dyn State) {
///     state.set("user:name".into(), "Ada".into());
/// }
/// let mut state = serde_json::Map::new();
/// rename(&mut state);
/// assert_eq!(state["user:name"], "Ada");
/// assert_eq!(state.all().len(), 1);
/// ```
pub trait State: Send + Sync {
    /// Returns the value of that key: [`Value::Null`] for a stored `null`, `None` for a missing
    /// key.
    fn get(&self, key: &str) -> Option<Value>;
    /// Sets the value of that key. In a [`Context`](crate::Context), [`REMOVED`](crate::REMOVED)
    /// removes it.
    fn set(&mut self, key: String, value: Value);
    /// Returns all keys and values.
    fn all(&self) -> HashMap<String, Value>;
}

/// State that can only be read, such as that of a [`ReadonlyContext`](crate::ReadonlyContext).
///
/// ```
/// use adk_session::ReadonlyState;
/// fn greeting(state: &dyn ReadonlyState) -> String {
///     let name = state.get("user:name");
///     name.as_ref().and_then(|name| name.as_str()).unwrap_or("you").to_owned()
/// }
/// # use adk_session::{CreateRequest, InMemorySessionService, Invocation, SessionService};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), adk_session::Error> {
/// # let service = InMemorySessionService::new();
/// # let (app_name, user_id) = ("shop".to_owned(), "ada".to_owned());
/// # let session = service.create(CreateRequest { app_name, user_id, ..Default::default() }).await?;
/// assert_eq!(greeting(&Invocation::new(&session).readonly_context("guide")), "you");
/// # Ok(())
/// # }
/// ```
pub trait ReadonlyState: Send + Sync {
    /// Returns the value of that key: [`Value::Null`] for a stored `null`, `None` for a missing
    /// key.
    fn get(&self, key: &str) -> Option<Value>;
    /// Returns all keys and values.
    fn all(&self) -> HashMap<String, Value>;
}

/// State in a map, such as a session's as it was read. Writes to it are never stored.
impl State for Map<String, Value> {
    fn get(&self, key: &str) -> Option<Value> {
        self.get(key).cloned()
    }

    fn set(&mut self, key: String, value: Value) {
        self.insert(key, value);
    }

    fn all(&self) -> HashMap<String, Value> {
        self.clone().into_iter().collect()
    }
}
