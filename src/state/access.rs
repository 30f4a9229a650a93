//! How Rust programs read and write state: whole values, as [`serde_json::Value`].

use std::collections::HashMap;

use serde_json::Value;

/// State that can be read and written. Keys carry their prefix.
///
/// ```
/// use adk_session_wasm::{State, StateMap};
/// let mut state = StateMap::default();
/// state.set("user:name".into(), "Ada".into());
/// assert_eq!(state.get("user:name"), Some("Ada".into()));
/// assert_eq!(state.all().len(), 1);
/// ```
pub trait State: Send + Sync {
    /// The value of that key. A stored `null` is [`Value::Null`], an absent key `None`.
    fn get(&self, key: &str) -> Option<Value>;
    /// Sets the value of that key.
    fn set(&mut self, key: String, value: Value);
    /// All keys and values.
    fn all(&self) -> HashMap<String, Value>;
}

/// State that can only be read.
pub trait ReadonlyState: Send + Sync {
    /// The value of that key. A stored `null` is [`Value::Null`], an absent key `None`.
    fn get(&self, key: &str) -> Option<Value>;
    /// All keys and values.
    fn all(&self) -> HashMap<String, Value>;
}

/// State held in a map.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StateMap {
    values: serde_json::Map<String, Value>,
}

impl StateMap {
    pub(crate) fn new(values: serde_json::Map<String, Value>) -> Self {
        Self { values }
    }

    /// Keys and values, in the order in which the keys were first set.
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
