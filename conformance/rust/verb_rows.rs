//! The rows and plans that the tests of the verbs write and expect.

use std::sync::Arc;

use crate::conformance::case::time;
use crate::core::session::{Revision, SessionHead, SessionKey};
use crate::core::state::{ByOwner, Change, StateChanges};
use crate::core::write::{
    Changes, EventChange, EventRow, Plan, Repetition, ScopeSet, SessionChange, SharedChange,
};

pub(super) fn key() -> SessionKey {
    SessionKey { app_name: "app".into(), user_id: "user".into(), session_id: "session".into() }
}

pub(super) fn plan(event_ids: &[&str], since: Revision) -> Plan {
    Plan {
        creates: false,
        target: key().into(),
        scopes: ScopeSet { session: true, shared: ByOwner { user: true, app: true } },
        event_ids: event_ids.iter().map(|id| Arc::from(*id)).collect(),
        ids_are_new: false,
        since,
        repetition: Repetition::SetsAgain,
    }
}

/// Digits and keys that a storage would lose if it parsed the values.
pub(super) const STATE: &str = r#"{"z":1.50,"__proto__":12345678901234567890,"a":{"b": 1e400}}"#;

/// Texts of JSON that is no event.
pub(super) const ODD_TEXTS: [&str; 4] =
    [r#"{ "n" : 1.50, "a": 12e300 }"#, "[]", "null", "\"\u{ffff}😀\""];

pub(super) fn set_all() -> StateChanges {
    set(&[("z", "1.50"), ("__proto__", "12345678901234567890"), ("a", r#"{"b": 1e400}"#)])
}

pub(super) fn set(members: &[(&str, &str)]) -> StateChanges {
    let set = |(name, value): &(&str, &str)| (Arc::from(*name), Change::Set(Arc::from(*value)));
    members.iter().map(set).collect()
}

pub(super) fn session_change(
    created: Revision,
    revision: Revision,
    state: &[(&str, &str)],
) -> SessionChange {
    let (last_update_time, create_time) = (time(1000.25), time(1000.25));
    let head = SessionHead { created, revision, last_update_time, create_time };
    let (description, markers) = Default::default();
    SessionChange { head, state: set(state), description, markers }
}

/// Returns a write of everything, with `events` events; their revisions count from `created`.
pub(super) fn filled(created: Revision, revision: Revision, events: usize) -> Changes {
    let events = (0..events).zip(created..).map(|(position, seq)| change(position, seq, seq));
    Changes {
        session: Some(SessionChange { state: set_all(), ..session_change(created, revision, &[]) }),
        shared: ByOwner::default().map(|()| Some(SharedChange { revision, state: set_all() })),
        events: events.collect(),
    }
}

/// Returns the change of an event of a [`Script`](crate::conformance::script::Script), which fills in
/// the rest of the row.
pub(super) fn change(index: usize, seq: Revision, revision: Revision) -> EventChange {
    EventChange { index, row: EventRow { seq, revision, ..event("") } }
}

/// The time of each event, in milliseconds.
pub(super) const EVENT_TIME: f64 = 0.5;

/// Returns a new event.
pub(super) fn event(id: &str) -> EventRow {
    EventRow {
        id: id.into(),
        seq: 0,
        revision: 0,
        timestamp: time(EVENT_TIME),
        text: text_of(id).into(),
    }
}

pub(super) fn text_of(id: &str) -> String {
    format!(r#"{{ "id":"{id}", "n":1.50 }}"#)
}

pub(super) fn texts_of(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|id| text_of(id)).collect()
}
