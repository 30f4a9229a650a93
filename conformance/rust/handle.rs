//! A handle: the session as its holder sees it, updated by its own appends.

use serde_json::{Map, Value, json};

use crate::conformance::stop::Stop;
use crate::core::event::NewEvent;
use crate::core::read::TimedText;
use crate::core::session::{DescriptionRow, Revision, SessionKey, Timestamp};
use crate::core::state::{REMOVED, Scope};
use crate::core::write::{Appended, HandlePosition};
use crate::host;
use crate::service::text_service::ReadSession;

/// A new event: as the case gives it, and as it is stored.
pub(super) struct Outgoing {
    given: Value,
    stored: Value,
}

impl Outgoing {
    /// Fills in the members that the case leaves out.
    pub(super) fn new(written: &Value) -> Self {
        let mut given = json!({
            "id": host::new_id(),
            "invocationId": "i",
            "author": "agent",
            "timestamp": 1000,
            "actions": {"stateDelta": {}},
        });
        match (written, &mut given) {
            (Value::String(id), Value::Object(given)) => {
                given.insert("id".to_owned(), id.clone().into());
            }
            (Value::Object(members), Value::Object(given)) => given.extend(members.clone()),
            _ => {}
        }
        let mut stored = given.clone();
        if let Some(delta) =
            stored.pointer_mut("/actions/stateDelta").and_then(Value::as_object_mut)
        {
            delta.retain(|key, _| Scope::split(key).0 != Scope::Temp);
        }
        Self { given, stored }
    }

    /// Returns the stored event with another delta.
    pub(super) fn with_delta(&self, delta: &Map<String, Value>) -> Value {
        let mut event = self.stored.clone();
        if let Some(members) = event.pointer_mut("/actions/stateDelta") {
            *members = delta.clone().into();
        }
        event
    }

    pub(super) fn to_new_event(&self) -> Result<NewEvent, Stop> {
        let member = |name| self.stored.get(name);
        let id = member("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let timestamp = member("timestamp").and_then(Value::as_f64).unwrap_or(f64::NAN);
        let delta = delta_of(&self.stored).map_or_else(|| "{}".into(), to_text);
        let timestamp = Timestamp::from_millis(timestamp)?;
        Ok(NewEvent::new(id, timestamp, &delta, self.stored.to_string().into())?)
    }
}

/// A handle of the suite.
#[derive(Clone)]
pub(super) struct Handle {
    pub(super) key: SessionKey,
    pub(super) position: HandlePosition,
    state: Map<String, Value>,
    events: Vec<Value>,
    last_update_time: Timestamp,
    description: DescriptionRow,
}

impl Handle {
    pub(super) fn of(session: ReadSession) -> Result<Self, Stop> {
        let head = session.head;
        Ok(Self {
            key: session.key,
            position: HandlePosition::Revision { created: head.created, revision: head.revision },
            state: parse_object(&session.state)?,
            events: parse_events(&session.events)?,
            last_update_time: head.last_update_time,
            description: session.description,
        })
    }

    /// Returns the revision of the handle; `None` while it is not known.
    pub(super) fn revision(&self) -> Option<Revision> {
        match self.position {
            HandlePosition::Revision { revision, .. } => Some(revision),
            HandlePosition::Latest | HandlePosition::LastEvent(_) => None,
        }
    }

    /// Makes a handle that no service gave out.
    pub(super) fn hand_made(key: SessionKey, written: &Map<String, Value>) -> Self {
        let events = written.get("events").and_then(Value::as_array);
        let events: Vec<Value> =
            events.into_iter().flatten().map(|event| Outgoing::new(event).stored).collect();
        let last = events.last().and_then(id_of).map(str::to_owned);
        Self {
            key,
            position: HandlePosition::LastEvent(last),
            state: written.get("state").and_then(Value::as_object).cloned().unwrap_or_default(),
            events,
            last_update_time: Timestamp::MIN,
            description: DescriptionRow::default(),
        }
    }

    /// Updates the handle after its append, as the service does in JavaScript.
    pub(super) fn receive(&mut self, appended: Appended, own: &[Outgoing]) -> Result<(), Stop> {
        let head = appended.head;
        let revision = appended.handle_revision().max(self.revision().unwrap_or_default());
        let mut missed = Vec::new();
        for row in appended.missed {
            missed.push((row.seq, row.revision, row.text.with(parse)?));
        }
        missed.sort_by_key(|(seq, ..)| *seq);
        for (seq, _, event) in &missed {
            self.put(event, Some(*seq) > appended.since);
        }
        missed.sort_by_key(|(_, revision, _)| *revision);
        for (.., event) in &missed {
            self.apply_delta(event);
        }
        if let Some(state) = appended.state {
            let stored = parse_object(&state)?;
            let missed = missed.iter().filter_map(|(.., event)| delta_of(event));
            let keys = missed.flat_map(Map::keys).filter(|key| !stored.contains_key(*key));
            keys.for_each(|key| self.state.retain(|name, _| name != key));
            self.state.extend(stored);
        }
        for (number, event) in own.iter().enumerate() {
            self.put(&event.stored, true);
            if !appended.unchanged.iter().any(|(unchanged, _)| *unchanged == number) {
                self.apply_delta(&event.given);
            }
        }
        self.position = HandlePosition::Revision { created: head.created, revision };
        self.last_update_time = head.last_update_time;
        Ok(())
    }

    /// Replaces the event with the same id, or adds the event at the end if it `is_new`.
    fn put(&mut self, event: &Value, is_new: bool) {
        match self.events.iter_mut().find(|held| id_of(held) == id_of(event)) {
            Some(held) => *held = event.clone(),
            None if is_new => self.events.push(event.clone()),
            None => {}
        }
    }

    fn apply_delta(&mut self, event: &Value) {
        for (key, value) in delta_of(event).into_iter().flatten() {
            if value == REMOVED {
                self.state.retain(|name, _| name != key);
            } else {
                self.state.insert(key.clone(), value.clone());
            }
        }
    }

    /// Returns the session object that JavaScript would hold.
    pub(super) fn to_json(&self) -> Value {
        json!({
            "id": self.key.session_id,
            "appName": self.key.app_name,
            "userId": self.key.user_id,
            "state": self.state,
            "events": self.events,
            "lastUpdateTime": self.last_update_time,
            "title": self.description.title,
            "labels": self.description.labels.as_deref().map(parse_object).transpose().ok(),
            "parent": self.description.parent.as_deref().map(parse_object).transpose().ok(),
        })
    }
}

fn id_of(event: &Value) -> Option<&str> {
    event.get("id")?.as_str()
}

fn delta_of(event: &Value) -> Option<&Map<String, Value>> {
    event.pointer("/actions/stateDelta")?.as_object()
}

pub(super) fn to_text(members: &Map<String, Value>) -> String {
    Value::Object(members.clone()).to_string()
}

/// Parses the texts of events.
pub(super) fn parse_events(events: &[TimedText]) -> Result<Vec<Value>, Stop> {
    events.iter().map(|(_, text)| text.with(parse)).collect()
}

fn parse(text: &str) -> Result<Value, Stop> {
    serde_json::from_str(text)
        .map_err(|error| Stop::Broken(format!("what was read is no JSON: {error}: {text}")))
}

pub(super) fn parse_object(text: &str) -> Result<Map<String, Value>, Stop> {
    match parse(text)? {
        Value::Object(members) => Ok(members),
        other => Err(Stop::Broken(format!("what was read is no JSON object: {other}"))),
    }
}
