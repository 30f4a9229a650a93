//! The ADK's event, for Rust programs. JavaScript's events never take this form.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::platform;
use crate::state::Scope;

/// One step of a conversation. As JSON it is the ADK's camelCase form; fields that are not named
/// here are kept in [`Event::other`].
///
/// ```
/// use adk_session_wasm::{Event, EventActions};
/// let mut event = Event::new("invocation-1");
/// event.author = "user".into();
/// event.actions =
///     EventActions { state_delta: [("topic".into(), "tea".into())].into(), ..Default::default() };
/// assert!(!event.id.is_empty());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Unique within the session; an event of the same id is replaced.
    #[serde(default)]
    pub id: String,
    /// From one user message to the final answer.
    #[serde(default)]
    pub invocation_id: String,
    /// `user`, or the name of an agent.
    #[serde(default)]
    pub author: String,
    /// Milliseconds since 1970.
    #[serde(default, serialize_with = "as_javascript_number")]
    pub timestamp: f64,
    /// Role and parts, in the Gemini API's form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Value>,
    /// A piece of a streamed answer; returned as it is, never stored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// Which line of agents wrote it, as `parent.child`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// What the event does beside saying something.
    #[serde(default)]
    pub actions: EventActions,
    /// All other fields, to the letter.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// What an event does beside saying something.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventActions {
    /// Changes of the state. [`REMOVED`](crate::REMOVED) as a value removes its key.
    #[serde(default, serialize_with = "by_key")]
    pub state_delta: HashMap<String, Value>,
    /// Saved artifacts and their new versions.
    #[serde(default, serialize_with = "by_key")]
    pub artifact_delta: HashMap<String, i64>,
    /// The agent that goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer_to_agent: Option<String>,
    /// Whether the agent above shall take over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub escalate: bool,
    /// Whether a function response is the final answer as it stands.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub skip_summarization: bool,
    /// All other fields, to the letter.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl Event {
    /// An event of that invocation with a fresh id and the present time.
    pub fn new(invocation_id: impl Into<String>) -> Self {
        Self {
            id: platform::new_id(),
            invocation_id: invocation_id.into(),
            author: String::new(),
            timestamp: platform::now(),
            content: None,
            partial: false,
            branch: None,
            actions: EventActions::default(),
            other: Map::new(),
        }
    }

    /// Takes out the keys that live for one invocation only.
    pub(crate) fn without_temp(mut self) -> Self {
        self.actions.state_delta.retain(|key, _| Scope::split(key).0 != Scope::Temp);
        self
    }
}

/// Whole numbers without a fraction, as JavaScript writes them.
fn as_javascript_number<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if number.fract() == 0.0 && (0.0..1e15).contains(number) {
        serializer.serialize_u64(*number as u64)
    } else {
        serializer.serialize_f64(*number)
    }
}

/// In a fixed order, so that appending the same event again gives the same text and is known for
/// a repetition.
fn by_key<S: Serializer, V: Serialize>(
    map: &HashMap<String, V>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    map.iter().collect::<BTreeMap<_, _>>().serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_are_not_named_survive() {
        let text = r#"{"id":"e","invocationId":"i","author":"user","timestamp":1.5,"actions":{"stateDelta":{"a":1},"artifactDelta":{},"custom":2},"usageMetadata":{"n":3}}"#;
        let event: Event = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&event).unwrap(), text);
    }

    #[test]
    fn whole_timestamps_are_written_as_javascript_does() {
        let mut event = Event::new("i");
        event.timestamp = 1_795_155_122_530.0;
        let text = serde_json::to_string(&event).unwrap();
        assert!(text.contains(r#""timestamp":1795155122530,"#), "{text}");
    }
}
