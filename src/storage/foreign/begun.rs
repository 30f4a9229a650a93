//! Writes to a foreign storage that are under way. JavaScript knows each by its place, and asks what to
//! write once the storage has read.
//!
//! Numbers cross as numbers, and the states as one text: an object or a function that JavaScript would
//! have to be handed costs more than all that is decided. Only what is seldom there, events that were
//! found, crosses as rows.

use std::cell::RefCell;

use js_sys::Array;
use wasm_bindgen::JsValue;

use crate::session::SessionHead;
use crate::storage::answer::push_numbers;
use crate::storage::foreign::rows::{Row, read_state};
use crate::storage::shared_write::SharedWrite;
use crate::write::{Changes, EventRow, Found, ScopeChange, ScopeRow, SessionChange};

thread_local! {
    /// Of all services: JavaScript then needs to know no more than a write's place.
    static PLACES: RefCell<Vec<Option<SharedWrite>>> = const { RefCell::new(Vec::new()) };
    /// What was decided last.
    static DECIDED: RefCell<Decided> = const { RefCell::new(Decided::NOTHING) };
}

/// What JavaScript asks for after a decision.
pub(crate) struct Decided {
    /// The new revisions of session, user and app, 0 where they do not change; the session's time.
    pub(crate) numbers: [f64; 4],
    /// The states of session, user and app, each empty where it does not change, with a NUL between
    /// them, which no JSON has.
    pub(crate) states: String,
    pub(crate) events: Vec<EventRow>,
}

impl Decided {
    const NOTHING: Self = Self { numbers: [0.0; 4], states: String::new(), events: Vec::new() };
}

/// What a storage found, but for the events.
pub(crate) struct FoundStates<'a> {
    pub(crate) floor: f64,
    pub(crate) head: Option<SessionHead>,
    pub(crate) user_revision: f64,
    pub(crate) app_revision: f64,
    /// Of session, user and app, as far as they are there and were asked for; else empty.
    pub(crate) states: [&'a str; 3],
}

/// Returns its place.
pub(crate) fn begin(write: SharedWrite) -> usize {
    PLACES.with_borrow_mut(|places| {
        let free = places.iter().position(Option::is_none).unwrap_or(places.len());
        match places.get_mut(free) {
            Some(place) => *place = Some(write),
            None => places.push(Some(write)),
        }
        free
    })
}

pub(crate) fn end(place: usize) -> Option<SharedWrite> {
    // An event's text may be large, and JavaScript asks only for what it does not know.
    DECIDED.set(Decided::NOTHING);
    PLACES.with_borrow_mut(|places| places.get_mut(place)?.take())
}

/// What was decided last.
pub(crate) fn decided<T>(read: impl FnOnce(&mut Decided) -> T) -> T {
    DECIDED.with_borrow_mut(read)
}

/// Decides; returns whether there is anything to write.
///
/// `rows`: `[events, changed]`, if there are any.
pub(crate) fn decide(
    place: usize,
    found: FoundStates<'_>,
    rows: Option<Array>,
) -> Result<bool, JsValue> {
    let write = PLACES.with_borrow(|places| places.get(place)?.clone());
    // The bridge lets nobody ask after the end.
    let Some(write) = write else { return Ok(false) };
    let mut stored = [const { None }; 3];
    let revisions = [0.0, found.user_revision, found.app_revision];
    let records = ["state of the session", "user state", "app state"];
    for (((row, text), revision), record) in
        stored.iter_mut().zip(found.states).zip(revisions).zip(records)
    {
        if !text.is_empty() {
            *row = Some(ScopeRow { revision: revision as u64, state: read_state(text, record)? });
        }
    }
    let rows = rows.map(Row);
    let events = |index| rows.as_ref().map(|rows| rows.events(index)).unwrap_or_default();
    let [state, user, app] = &stored;
    let found = Found {
        session: found.head,
        state: state.as_ref().map(|row| &row.state),
        user: user.as_ref(),
        app: app.as_ref(),
        events: events(0),
        changed: events(1),
        floor: found.floor as u64,
    };
    let changes = write.with(|write| {
        let changes = write.decide(found)?;
        let events = changes.events.iter().filter_map(|event| write.row(event)).collect();
        Some((changes, events))
    })?;
    let Some((Changes { session, user, app, .. }, events)) = changes else { return Ok(false) };
    let time = session.as_ref().map_or(0.0, |session| session.head.last_update_time);
    let mut decided = Decided { events, numbers: [0.0, 0.0, 0.0, time], ..Decided::NOTHING };
    let session =
        session.map(|SessionChange { head, state }| ScopeChange { revision: head.revision, state });
    for ((number, row), change) in decided.numbers.iter_mut().zip(stored).zip([session, user, app])
    {
        if let Some(ScopeChange { revision, state: changes }) = change {
            *number = revision as f64;
            // A session's state that no change touches goes back as it came, unread.
            if !changes.is_empty() {
                let mut state = row.unwrap_or_default().state;
                state.check_size(&changes)?;
                state.apply(changes);
                decided.states.push_str(&state.to_json());
            }
        }
        decided.states.push('\0');
    }
    DECIDED.set(decided);
    Ok(true)
}

/// `[id, seq, revision, timestamp, text]` each.
pub(crate) fn rows_of(events: Vec<EventRow>) -> Array {
    let rows = Array::new();
    for row in events {
        let fields = Array::of1(&JsValue::from_str(&row.id));
        push_numbers(&fields, &[row.seq as f64, row.revision as f64, row.timestamp]);
        fields.push(&row.text.into());
        rows.push(&fields);
    }
    rows
}
