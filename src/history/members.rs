//! Members of events that other ADKs may have written in any form.

use serde_json::{Map, Value};

use crate::core::event::Event;

/// Returns a member that is an object.
pub(super) fn object<'a>(
    value: impl Into<Option<&'a Value>>,
    name: &str,
) -> Option<&'a Map<String, Value>> {
    value.into()?.get(name)?.as_object()
}

/// Returns a text that is not empty.
pub(super) fn text(value: Option<&Value>) -> Option<&str> {
    value?.as_str().filter(|text| !text.is_empty())
}

/// Whether a value is there, and not an empty text.
pub(super) fn is_filled(value: Option<&Value>) -> bool {
    value.is_some_and(|value| !value.is_null() && value.as_str() != Some(""))
}

/// Returns the node of a workflow that made the event.
pub(super) fn node_path(event: &Event) -> Option<&str> {
    text(event.other.get("nodeInfo")?.get("path"))
}
