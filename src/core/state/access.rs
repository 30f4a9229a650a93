//! Access to state for Rust programs: whole values, as [`serde_json::Value`].

use std::collections::HashMap;

use serde_json::Value;

/// State that can be read and written. Keys include their prefix. The trait is object safe, so that
/// a tool may take a `&mut dyn State`.
///
/// ```
/// use adk_session_wasm::{State, StateMap};
/// let mut state = StateMap::default();
/// state.set("user:name".into(), "Ada".into());
/// assert_eq!(state.get("user:name"), Some("Ada".into()));
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
/// use adk_session_wasm::ReadonlyState;
/// fn greeting(state: &dyn ReadonlyState) -> String {
///     let name = state.get("user:name");
///     name.as_ref().and_then(|name| name.as_str()).unwrap_or("you").to_owned()
/// }
/// # use adk_session_wasm::{CreateRequest, InMemorySessionService, Invocation, SessionService};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), adk_session_wasm::Error> {
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

/// State in a map: a session's state as it was read. Writes to it are never stored.
///
/// ```
/// use adk_session_wasm::{State, StateMap};
/// let mut state = StateMap::default();
/// state.set("b".into(), 1.into());
/// state.set("a".into(), 2.into());
/// assert!(state.iter().map(|(key, _)| key.as_str()).eq(["b", "a"]));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StateMap {
    values: serde_json::Map<String, Value>,
}

impl StateMap {
    pub(crate) fn new(values: serde_json::Map<String, Value>) -> Self {
        Self { values }
    }

    /// Iterates over keys and values, in the order in which the keys were first set.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.values.iter()
    }
}

impl State for StateMap {
    fn get(&self, key: &str) -> Option<Value> {
        self.values.get(key).cloned()
    }

    fn set(&mut self, key: String, value: Value) {
        self.values.insert(key, value);
    }

    fn all(&self) -> HashMap<String, Value> {
        self.values.clone().into_iter().collect()
    }
}
