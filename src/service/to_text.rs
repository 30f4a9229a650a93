//! Converts events and states of Rust programs to the texts that storages keep.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use crate::core::error::{Error, Field};
use crate::core::event::{Event, EventText, NewEvent};
use crate::core::state::{Delta, Scope};
use crate::service::deep;

/// Reads a state or its changes. `temp:` keys are dropped.
///
/// # Errors
/// Fails with `unserializable` if a value nests too deep. `path` names the values in it.
pub(super) fn new_delta(path: &str, values: &HashMap<String, Value>) -> Result<Delta, Error> {
    check_values(path, values)?;
    Delta::parse(&to_json(path, &by_key(values))?)
}

/// Takes an event with an id as it is stored: without `temp:` keys, and with an object as content.
pub(super) fn new_event(event: Event) -> Result<NewEvent, Error> {
    let event = event.with_content_object()?.without_temp();
    check_event(&event)?;
    let delta = to_json("event.actions.state_delta", &by_key(&event.actions.state_delta))?;
    let text = EventText::from(to_json("event", &event)?);
    NewEvent::new(event.id, event.timestamp, &delta, text)
}

/// Checks that every storage can hold the values: none nests too deep. `temp:` keys are not stored
/// and not checked.
fn check_values(path: &str, values: &HashMap<String, Value>) -> Result<(), Error> {
    let mut stored = values.iter().filter(|(key, _)| Scope::split(key).0 != Scope::Temp);
    match stored.find(|(_, value)| !deep::nests_within(deep::STATE_LEVELS, value)) {
        Some((key, _)) => Err(too_deep(format!("{path}[{key:?}]"), deep::STATE_LEVELS)),
        None => Ok(()),
    }
}

fn check_event(event: &Event) -> Result<(), Error> {
    if let Some(field) = event.repeated_field() {
        return Err(Error::invalid(
            Field::EventOther,
            format!("must not hold \"{field}\", which has a place of its own in the event"),
        ));
    }
    check_values("event.actions.state_delta", &event.actions.state_delta)?;
    // The event and its actions are the outer levels.
    let (fields, in_actions) = (deep::EVENT_LEVELS - 1, deep::EVENT_LEVELS - 2);
    let within = event.content.iter().chain(event.other.values());
    let is_readable = within.into_iter().all(|value| deep::nests_within(fields, value))
        && event.actions.other.values().all(|value| deep::nests_within(in_actions, value));
    if is_readable { Ok(()) } else { Err(too_deep("event".to_owned(), deep::EVENT_LEVELS)) }
}

fn too_deep(path: String, levels: usize) -> Error {
    Error::Unserializable { path, reason: format!("it nests more than {levels} levels") }
}

/// Sorts the keys. The stored state keeps the order in which its keys were set, and the order of a
/// hash map differs from run to run.
fn by_key(values: &HashMap<String, Value>) -> BTreeMap<&String, &Value> {
    values.iter().collect()
}

fn to_json(path: &str, value: &impl serde::Serialize) -> Result<String, Error> {
    serde_json::to_string(value)
        .map_err(|error| Error::Unserializable { path: path.into(), reason: error.to_string() })
}
