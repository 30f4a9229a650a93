//! What the core knows of an event that is to be stored.

use std::rc::Rc;

use crate::error::Error;
use crate::event::EventText;
use crate::session::{check_id, check_timestamp};
use crate::state::Delta;

/// A snapshot of an event: its text, and the few fields that the rules need.
///
/// The text is opaque. It was made from the caller's event once, with `temp:` keys taken out, and
/// is what every later read returns, so unknown fields survive and nothing is shared with the
/// caller.
#[derive(Debug, Clone)]
pub struct NewEvent {
    /// Unique within the session; an event of the same id is replaced.
    pub id: Rc<str>,
    /// Milliseconds since 1970.
    pub timestamp: f64,
    /// What the event changes in the state.
    pub delta: Delta,
    /// The event's JSON text.
    pub text: EventText,
    /// The event's JSON text before superseded keys were taken out of its delta, if any were: an event
    /// that is stored with them is this one as well.
    pub whole: Option<EventText>,
}

impl NewEvent {
    /// Checks the fields; `delta` is the JSON text of the event's `stateDelta`.
    ///
    /// # Errors
    /// `invalid_argument` for an id or a timestamp that is none, `unserializable` for a delta that
    /// is not a JSON object.
    pub fn new(
        id: impl Into<Rc<str>>,
        timestamp: f64,
        delta: &str,
        text: EventText,
    ) -> Result<Self, Error> {
        let id = id.into();
        check_id("event.id", &id)?;
        let timestamp = check_timestamp("event.timestamp", timestamp)?;
        Ok(Self { id, timestamp, delta: Delta::parse(delta)?, text, whole: None })
    }
}
