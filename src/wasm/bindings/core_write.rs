//! A write to a storage that JavaScript drives: SQL, Vertex AI, a user's own.
//!
//! JavaScript creates the write, reads the rows that it needs, calls [`CoreWrite::decide`],
//! writes the changes, and takes the result. It may call `decide` several times; the last call
//! counts.
//!
//! The rows are passed as numbers one by one and as one text of states, because objects cost more
//! than the decision. Its numbers come back at once. Texts of events stay JavaScript strings; only
//! references to them are passed.

use adk_session::error::Error;
use adk_session::internals::{merge_scopes, stored_time};
use adk_session::session::{Description, SessionHead};
use adk_session::state::{ByOwner, ScopedState};
use adk_session::write::{
    Changes, Decision, EventRow, Found, ScopeSet, SessionChange, SharedChange, SharedRow,
};
use js_sys::{Array, Function};
use wasm_bindgen::prelude::*;
use wasm_bindgen::{JsCast, JsValue};

use crate::bindings::appends::{Appends, Texts};
use crate::bindings::computed::{computing_append, update};
use crate::bindings::js_write::{Creation, JsWrite};
use crate::bindings::parts::Parts;
use crate::text::event_text;
use crate::thrown::Thrown;

/// A write that JavaScript carries out.
#[wasm_bindgen]
pub struct CoreWrite {
    write: Box<dyn JsWrite>,
    /// The new states of session, user and app, each empty if it does not change. Each ends with a NUL,
    /// which JSON text never contains.
    states: String,
}

#[wasm_bindgen]
impl CoreWrite {
    /// Begins to create a session. For the arguments see `SessionCore::create`.
    pub fn create(
        packed: &str,
        numbers: &[f64],
        texts: &Array,
        state: &str,
        delta: &str,
        shares_state: bool,
        if_absent: bool,
    ) -> Result<Self, Thrown> {
        let appends = Appends::new(packed, numbers, Texts::JavaScript(texts));
        let create = appends.creation(state, delta, shares_state, Description::default())?;
        Ok(Self::of(Box::new(Creation { create, if_absent })))
    }

    /// Begins to append events. For the arguments see `Appends`.
    pub fn append(
        packed: &str,
        numbers: &[f64],
        texts: &Array,
        compute: Option<Function>,
    ) -> Result<Self, Thrown> {
        let appends = Appends::new(packed, numbers, Texts::JavaScript(texts));
        Ok(Self::of(computing_append(appends.one()?, compute)))
    }

    /// Begins to change the states of a user and an app.
    pub fn update(
        app_name: String,
        user_id: Option<String>,
        delta: &str,
        compute: Option<Function>,
    ) -> Result<Self, Thrown> {
        Ok(Self::of(update(app_name, user_id, delta, compute)?))
    }

    fn of(write: Box<dyn JsWrite>) -> Self {
        Self { write, states: String::new() }
    }

    /// Returns which rows the decision needs, as three numbers: the states as a sum of session (1),
    /// user (2) and app (4); 1 if it needs the handle's last event, and not the events with the ids of
    /// the write; the revision after which it needs the changed events.
    pub fn plan(&self) -> Vec<f64> {
        let plan = self.write.plan();
        vec![f64::from(bits_of(plan.scopes)), f64::from(!plan.ids_are_new), plan.since as f64]
    }

    /// Computes the changes. Returns `undefined` if there is nothing to write, else numbers: the new
    /// revisions of session, user and app, each 0 if it does not change; the session's time (ms); the
    /// revision at which it was created; `index, seq, revision` of each event to write.
    ///
    /// - `revision`: below 0 if there is no session.
    /// - `states`: the requested states of session, user and app, as one text; a missing state is
    ///   empty. `session` and `user` are the lengths of the first two in UTF-16 code units.
    /// - `rows`: the events with the ids of the write, and those changed since its revision, as
    ///   `checked_rows.ts` lays them out; `undefined` if there are none.
    #[allow(clippy::too_many_arguments, reason = "an object would cost more than the call")]
    pub fn decide(
        &mut self,
        floor: f64,
        created: f64,
        revision: f64,
        time: f64,
        user_revision: f64,
        app_revision: f64,
        states: &str,
        session: usize,
        user: usize,
        rows: Option<Array>,
    ) -> Result<Option<Vec<f64>>, Thrown> {
        let mut parts = Parts::of(states);
        let [state, user, app] = [
            (parts.next(session), revision, "state of the session"),
            (parts.next(user), user_revision, "user state"),
            (parts.rest(), app_revision, "app state"),
        ]
        .map(|(text, revision, record)| {
            (!text.is_empty()).then(|| read_row(text, revision, record)).transpose()
        });
        let stored = [state?, user?, app?];
        let head = SessionHead {
            created: created as u64,
            revision: revision as u64,
            last_update_time: stored_time(time),
            ..SessionHead::default()
        };
        let events =
            |index| rows.as_ref().map(|rows| event_rows(&rows.get(index).unchecked_into()));
        let [state, user, app] = &stored;
        let decision = self.write.decide(Found {
            session: (revision >= 0.0).then_some(head),
            state: state.as_ref().map(|row| row.state.clone()),
            shared: ByOwner { user: user.clone(), app: app.clone() },
            events: events(0).unwrap_or_default(),
            changed: events(1).unwrap_or_default(),
            floor: floor as u64,
        });
        let Decision::Done(Some(changes)) = decision else { return Ok(None) };
        let (numbers, states) = written(changes, stored);
        self.states = states;
        Ok(Some(numbers))
    }

    /// Returns the new states of session, user and app, each empty if it does not change. Each ends
    /// with a NUL.
    pub fn states(&mut self) -> String {
        std::mem::take(&mut self.states)
    }

    /// Returns whether the write has to run again, with another plan. Nothing was written.
    pub fn replan(&mut self) -> bool {
        self.write.replan()
    }

    /// Frees the write, and returns its result as `SessionCore` does.
    pub fn finish(self) -> Result<JsValue, Thrown> {
        self.write.finish()
    }
}

/// Encodes the set as `SCOPES` in `js/wasm/protocol.ts` does: session 1, user 2, app 4.
fn bits_of(ScopeSet { session, shared: ByOwner { user, app } }: ScopeSet) -> u8 {
    u8::from(session) | u8::from(user) << 1 | u8::from(app) << 2
}

/// Returns the numbers and the states of changes, as [`CoreWrite::decide`] and
/// [`CoreWrite::states`] return them.
fn written(changes: Changes, stored: [Option<SharedRow>; 3]) -> (Vec<f64>, String) {
    let Changes { session, shared: ByOwner { user, app }, events } = changes;
    let head = session.as_ref().map(|session| session.head).unwrap_or_default();
    let session = session
        .map(|SessionChange { head, state, .. }| SharedChange { revision: head.revision, state });
    let mut numbers = Vec::with_capacity(5 + 3 * events.len());
    let mut states = String::new();
    for (row, change) in stored.into_iter().zip([session, user, app]) {
        numbers.push(change.as_ref().map_or(0.0, |change| change.revision as f64));
        // A session's state without changes is not printed again.
        if let Some(change) = change.filter(|change| !change.state.is_empty()) {
            let mut state = row.unwrap_or_default().state;
            state.apply(change.state);
            states.push_str(&state.to_json());
        }
        states.push('\0');
    }
    numbers.extend([head.last_update_time.as_millis(), head.created as f64]);
    for event in events {
        numbers.extend([event.index as f64, event.row.seq as f64, event.row.revision as f64]);
    }
    (numbers, states)
}

/// Merges a state with those of its user and its app into one JSON object, with prefixes. `record`
/// names the first state in an error.
///
/// The optional texts come first: TypeScript then requires each of them.
#[wasm_bindgen]
pub fn merge_states(
    user: Option<String>,
    app: Option<String>,
    state: &str,
    record: &str,
) -> Result<String, Thrown> {
    let state = read_row(state, 0.0, record)?.state;
    let user = user.map(|text| read_row(&text, 0.0, "user state")).transpose()?;
    let app = app.map(|text| read_row(&text, 0.0, "app state")).transpose()?;
    Ok(merge_scopes(&state, ByOwner { user: user.as_ref(), app: app.as_ref() })?)
}

/// Reads a state. `record` names it in an error.
fn read_row(text: &str, revision: f64, record: &str) -> Result<SharedRow, Error> {
    let state = ScopedState::parse(text).map_err(|error| Error::CorruptRecord {
        record: record.to_owned(),
        reason: error.to_string(),
    })?;
    Ok(SharedRow { revision: revision as u64, state })
}

/// Reads rows of `[id, seq, revision, timestamp, text]`.
fn event_rows(rows: &Array) -> Vec<EventRow> {
    let mut events = Vec::new();
    for row in rows.iter() {
        let row: Array = row.unchecked_into();
        let number = |index| row.get(index).as_f64().unwrap_or_default();
        events.push(EventRow {
            id: row.get(0).as_string().unwrap_or_default().into(),
            seq: number(1) as u64,
            revision: number(2) as u64,
            timestamp: stored_time(number(3)),
            text: event_text(row.get(4)),
        });
    }
    events
}
