//! The calls of a sequence, and the values that they pass.

use adk_session::event::{EventText, NewEvent};
use adk_session::session::{SessionKey, Timestamp};
use adk_session::state::{Delta, REMOVED};
use adk_session::write::StalePolicy;
use proptest::prelude::*;
use serde_json::Value;

pub const APPS: [&str; 2] = ["app", "app/ada"];
pub const USERS: [&str; 2] = ["ada", "grace"];
pub const IDS: [&str; 3] = ["s", "ada", "😀"];

/// Indices of a session's app, user and id.
pub type Place = (usize, usize, usize);
/// Key and value; `None` removes the key.
pub type Entry = (&'static str, Option<u8>);
/// An event: the number in its id, its time, its text, its delta.
pub type Given = (u8, Timestamp, u8, Vec<Entry>);

#[derive(Debug, Clone)]
pub enum Step {
    Create(Place, Vec<Entry>),
    GetOrCreate(Place, Vec<Entry>),
    Append(Place, Vec<Given>, Stand, StalePolicy),
    UpdateUser(Place, Vec<Entry>),
    UpdateApp(Place, Vec<Entry>),
    DeleteSession(Place),
    DeleteUser(Place),
    DeleteUserState(Place),
    DeleteAppState(Place),
}

/// The knowledge of the appending handle.
#[derive(Debug, Clone, Copy)]
pub enum Stand {
    Latest,
    /// The handle was read at this head, an index (modulo their number) of all heads of sessions with
    /// that key.
    Read(usize),
    /// Its last event is the one of that id.
    LastEvent(Option<u8>),
}

fn entries(keys: &'static [&'static str]) -> impl Strategy<Value = Vec<Entry>> {
    let value = prop_oneof![1 => Just(None), 3 => any::<u8>().prop_map(Some)];
    prop::collection::vec((prop::sample::select(keys), value), 0..4)
}

fn all_entries() -> impl Strategy<Value = Vec<Entry>> {
    entries(&["a", "b", "user:a", "user:b", "app:a", "app:__proto__", "temp:a"])
}

pub fn steps() -> impl Strategy<Value = Vec<Step>> {
    let place = || (0..APPS.len(), 0..USERS.len(), 0..IDS.len());
    let event = (
        0u8..6,
        (0u32..9).prop_map(|time| Timestamp::from_millis(time.into()).unwrap()),
        0u8..2,
        all_entries(),
    );
    let stand = prop_oneof![
        2 => Just(Stand::Latest),
        3 => any::<usize>().prop_map(Stand::Read),
        1 => prop::option::of(0u8..6).prop_map(Stand::LastEvent),
    ];
    let policies = vec![StalePolicy::Merge, StalePolicy::Append, StalePolicy::Reject];
    let events = prop::collection::vec(event, 0..4);
    let append = (place(), events, stand, prop::sample::select(policies));
    let step = prop_oneof![
        4 => (place(), all_entries()).prop_map(|(place, state)| Step::Create(place, state)),
        2 => (place(), all_entries()).prop_map(|(place, state)| Step::GetOrCreate(place, state)),
        16 => append.prop_map(|(place, events, stand, policy)| Step::Append(place, events, stand, policy)),
        1 => (place(), entries(&["user:a", "app:a", "temp:a"]))
            .prop_map(|(place, delta)| Step::UpdateUser(place, delta)),
        1 => (place(), entries(&["app:a", "app:b"])).prop_map(|(place, delta)| Step::UpdateApp(place, delta)),
        2 => place().prop_map(Step::DeleteSession),
        1 => place().prop_map(Step::DeleteUser),
        1 => place().prop_map(Step::DeleteUserState),
        1 => place().prop_map(Step::DeleteAppState),
    ];
    prop::collection::vec(step, 0..60)
}

pub fn key_of((app, user, id): Place) -> SessionKey {
    SessionKey::new(APPS[app], USERS[user], IDS[id]).unwrap()
}

fn delta_text(entries: &[Entry]) -> String {
    let value = |value: &Option<u8>| value.map_or_else(|| REMOVED.into(), Value::from);
    let members = entries.iter().map(|(key, change)| format!("\"{key}\":{}", value(change)));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

pub fn delta(entries: &[Entry]) -> Delta {
    Delta::parse(&delta_text(entries)).unwrap()
}

/// Other content has another delta, as an event's text holds it.
pub fn event_text((number, time, says, entries): &Given) -> String {
    format!("{number} at {time}: {says} {}", delta_text(entries))
}

pub fn new_event(given: &Given) -> NewEvent {
    let text = EventText::from(event_text(given));
    NewEvent::new(event_id(given.0), given.1, &delta_text(&given.3), text).unwrap()
}

pub fn event_id(number: u8) -> String {
    format!("event {number}")
}
