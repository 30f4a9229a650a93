//! The ADK's event, for Rust programs. Events from JavaScript never take this form.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::core::error::{Error, Field};
use crate::core::session::Timestamp;
use crate::core::state::Scope;
use crate::host;

/// One step of a conversation. Its JSON is the ADK's camelCase form. [`Event::other`] keeps all
/// fields that are not named here.
///
/// ```
/// use adk_session::{Event, EventActions};
/// let mut event = Event::new("invocation-1");
/// event.author = "user".into();
/// event.actions =
///     EventActions { state_delta: [("topic".into(), "tea".into())].into(), ..Default::default() };
/// assert!(!event.id.is_empty());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Unique within the session; an event with the same id replaces the stored one.
    #[serde(default, deserialize_with = "or_default")]
    pub id: String,
    /// The id of the invocation: from one user message to the final answer.
    #[serde(default, deserialize_with = "or_default")]
    pub invocation_id: String,
    /// `user`, or the name of an agent.
    #[serde(default, deserialize_with = "or_default")]
    pub author: String,
    /// When it was made.
    #[serde(default = "Timestamp::now", deserialize_with = "or_now")]
    pub timestamp: Timestamp,
    /// Role and parts, in the Gemini API's form. A text is stored as a message with one part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Value>,
    /// Whether this is a part of a streamed answer, which is never stored.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// The line of agents that wrote it, as `parent.child`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// State changes, artifacts and control of the agents.
    #[serde(default, deserialize_with = "or_default")]
    pub actions: EventActions,
    /// All other fields, unchanged.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// The effects of an event besides its content.
///
/// ```
/// use adk_session::{EventActions, REMOVED};
/// let state_delta = [("topic".to_owned(), "tea".into()), ("draft".to_owned(), REMOVED.into())];
/// let actions = EventActions { state_delta: state_delta.into(), ..Default::default() };
/// let json = serde_json::to_value(&actions)?;
/// assert_eq!(json["stateDelta"]["topic"], "tea");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventActions {
    /// Changes of the state. The value [`REMOVED`](crate::REMOVED) removes its key.
    #[serde(default, deserialize_with = "or_default", serialize_with = "by_key")]
    pub state_delta: HashMap<String, Value>,
    /// Saved artifacts and their new versions.
    #[serde(default, deserialize_with = "or_default", serialize_with = "by_key")]
    pub artifact_delta: HashMap<String, i64>,
    /// The agent that takes over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer_to_agent: Option<String>,
    /// Whether the parent agent takes over.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "std::ops::Not::not")]
    pub escalate: bool,
    /// Whether a function response is the final answer without a summary.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "std::ops::Not::not")]
    pub skip_summarization: bool,
    /// All other fields, unchanged.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl Event {
    /// Makes an event of that invocation with a fresh id (a UUID v4) and the current time.
    ///
    /// ```
    /// use adk_session::Event;
    /// assert_ne!(Event::new("invocation-1").id, Event::new("invocation-1").id);
    /// ```
    pub fn new(invocation_id: impl Into<String>) -> Self {
        Self {
            id: host::new_id(),
            invocation_id: invocation_id.into(),
            author: String::new(),
            timestamp: Timestamp::now(),
            content: None,
            partial: false,
            branch: None,
            actions: EventActions::default(),
            other: Map::new(),
        }
    }

    /// Whether this is an agent's final response. It is if it is not partial, has no function call
    /// or response, and does not end with a code result. It also is if its summary is skipped, or
    /// if it waits for a long-running tool or for credentials.
    ///
    /// ```
    /// use adk_session::Event;
    /// use serde_json::json;
    /// let mut event = Event::new("invocation-1");
    /// event.content = Some(json!({"parts": [{"functionCall": {"name": "search"}}]}));
    /// assert!(!event.is_final_response());
    /// event.content = Some(json!({"parts": [{"text": "Done."}]}));
    /// assert!(event.is_final_response());
    /// ```
    pub fn is_final_response(&self) -> bool {
        let requested = self.actions.other.get("requestedAuthConfigs").and_then(Value::as_object);
        let long_running = self.other.get("longRunningToolIds").and_then(Value::as_array);
        if self.actions.skip_summarization
            || long_running.is_some_and(|ids| !ids.is_empty())
            || requested.is_some_and(|calls| !calls.is_empty())
        {
            return true;
        }
        let has = |part: &Value, field| part.get(field).is_some_and(|value| !value.is_null());
        let calls = |part| has(part, "functionCall") || has(part, "functionResponse");
        let code_ran = |part| has(part, "codeExecutionResult");
        !self.partial
            && !self.parts().iter().any(calls)
            && !self.parts().last().is_some_and(code_ran)
    }

    /// Returns the text of a final response: its text parts joined, without thoughts. Returns
    /// `None` if this is no final response, is partial, or has no text.
    ///
    /// ```
    /// use adk_session::Event;
    /// use serde_json::json;
    /// let mut event = Event::new("invocation-1");
    /// let parts = json!([{"text": "Hel"}, {"text": "hm", "thought": true}, {"text": "lo"}]);
    /// event.content = Some(json!({"role": "model", "parts": parts}));
    /// assert_eq!(event.final_response_text().as_deref(), Some("Hello"));
    /// ```
    pub fn final_response_text(&self) -> Option<String> {
        if self.partial || !self.is_final_response() {
            return None;
        }
        let is_thought = |part: &Value| part.get("thought").and_then(Value::as_bool) == Some(true);
        let spoken = self.parts().iter().filter(|part| !is_thought(part));
        let text: String = spoken.filter_map(|part| part.get("text")?.as_str()).collect();
        (!text.is_empty()).then_some(text)
    }

    /// Returns the parts of the content. Another program may have stored anything in their place.
    pub(crate) fn parts(&self) -> &[Value] {
        let parts = self.content.as_ref().and_then(|content| content.get("parts"));
        parts.and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// Returns a field in `other` that repeats a field of the struct. The JSON would hold it twice
    /// and could not be read again.
    pub(crate) fn repeated_field(&self) -> Option<&str> {
        const OWN: [&str; 8] = [
            "id",
            "invocationId",
            "author",
            "timestamp",
            "content",
            "partial",
            "branch",
            "actions",
        ];
        const OWN_IN_ACTIONS: [&str; 5] =
            ["stateDelta", "artifactDelta", "transferToAgent", "escalate", "skipSummarization"];
        let repeated = self.other.keys().find(|field| OWN.contains(&field.as_str()));
        let in_actions = || {
            let mut fields = self.actions.other.keys();
            fields.find(|field| OWN_IN_ACTIONS.contains(&field.as_str()))
        };
        repeated.or_else(in_actions).map(String::as_str)
    }

    /// Makes a message of a text in place of the content: the ADKs read a text as no content at all.
    ///
    /// # Errors
    /// Fails with `invalid_argument` if the content is neither an object nor a text. `null` is none.
    pub(crate) fn with_content_object(mut self) -> Result<Self, Error> {
        match &self.content {
            None | Some(Value::Null | Value::Object(_)) => {}
            Some(Value::String(text)) => {
                let role = if self.author == "user" { "user" } else { "model" };
                self.content = Some(json!({"role": role, "parts": [{"text": text}]}));
            }
            Some(_) => {
                return Err(Error::invalid(Field::EventContent, "must be an object, or a text"));
            }
        }
        Ok(self)
    }

    /// Removes the `temp:` keys from the delta.
    pub(crate) fn without_temp(mut self) -> Self {
        self.actions.state_delta.retain(|key, _| Scope::split(key).0 != Scope::Temp);
        self
    }
}

/// Reads null as the default: other ADKs write null for missing values.
fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

fn or_now<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_else(Timestamp::now))
}

/// Writes the keys in a fixed order, so that appending the same event again gives the same text.
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
    fn unknown_fields_survive() {
        let text = r#"{"id":"e","invocationId":"i","author":"user","timestamp":1.5,"actions":{"stateDelta":{"a":1},"artifactDelta":{},"custom":2},"usageMetadata":{"n":3}}"#;
        let event: Event = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&event).unwrap(), text);
    }

    #[test]
    fn null_fields_are_read_as_absent() {
        let text = r#"{"id":"e","invocationId":null,"author":null,"timestamp":1,"content":null,
            "partial":null,"branch":null,"actions":{"stateDelta":null,"artifactDelta":null,
            "escalate":null,"transferToAgent":null,"skipSummarization":null}}"#;
        let event: Event = serde_json::from_str(text).unwrap();
        let timestamp = Timestamp::from_millis(1.0).unwrap();
        let expected = Event { id: "e".into(), timestamp, ..Event::new("") };
        assert_eq!(event, expected);
        assert_eq!(serde_json::from_str::<Event>(r#"{"actions":null}"#).unwrap().id, "");
    }

    #[test]
    fn an_event_without_a_timestamp_gets_the_current_time() {
        let before = Timestamp::now();
        for text in ["{}", r#"{"timestamp":null}"#] {
            let event: Event = serde_json::from_str(text).unwrap();
            assert!(event.timestamp >= before && event.timestamp <= Timestamp::now());
        }
    }

    #[test]
    fn every_named_field_counts_as_repeated_in_the_other_fields() {
        let mut event = Event::new("i");
        event.content = Some(Value::from("c"));
        (event.partial, event.branch) = (true, Some("b".into()));
        event.actions.transfer_to_agent = Some("a".into());
        (event.actions.escalate, event.actions.skip_summarization) = (true, true);
        let json = serde_json::to_value(&event).unwrap();
        assert_eq!(event.repeated_field(), None);
        for field in json.as_object().unwrap().keys() {
            let mut event = event.clone();
            event.other.insert(field.clone(), Value::Null);
            assert_eq!(event.repeated_field(), Some(field.as_str()));
        }
        for field in json["actions"].as_object().unwrap().keys() {
            let mut event = event.clone();
            event.actions.other.insert(field.clone(), Value::Null);
            assert_eq!(event.repeated_field(), Some(field.as_str()));
        }
    }
}
