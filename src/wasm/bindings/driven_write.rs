//! A write to a storage that JavaScript drives: SQL, Vertex AI, a user's own.
//!
//! JavaScript creates the write, reads the rows that it needs, calls [`DrivenWrite::decide`],
//! writes the changes, and takes the result. It may call `decide` several times; the last call
//! counts.
//!
//! The rows are passed as one list of numbers and one text of states, because objects cost more than the
//! decision. Its numbers come back at once. Texts of events stay JavaScript strings; only
//! references to them are passed.

use adk_session::error::Error;
use adk_session::internals::merge_scopes;
use adk_session::session::{SessionHead, Timestamp};
use adk_session::state::{ByOwner, ScopedState};
use adk_session::write::{
    Changes, Decision, EventRow, Found, ScopeSet, SessionChange, SharedChange, SharedRow,
};
use js_sys::{Array, Function};
use wasm_bindgen::prelude::*;
use wasm_bindgen::{JsCast, JsValue};

use crate::bindings::appends::Appends;
use crate::bindings::computed::{computing_append, update};
use crate::bindings::js_write::JsWrite;
use crate::bindings::packed::Parts;
use crate::bindings::packed::{
    DecisionNumber, FoundNumber, PlanNumber, WrittenNumber, list, number,
};
use crate::text::event_text;
use crate::thrown::Thrown;

/// A write that JavaScript carries out.
#[wasm_bindgen]
pub struct DrivenWrite {
    write: Box<dyn JsWrite>,
    /// The new states of session, user and app, each empty if it does not change. Each ends with a NUL,
    /// which JSON text never contains.
    states: String,
}

#[wasm_bindgen]
impl DrivenWrite {
    /// Begins to create a session. For the arguments see `Appends`.
    pub fn create(packed: &str, numbers: &[f64], texts: &Array) -> Result<Self, Thrown> {
        let appends = Appends::new(packed, numbers, texts);
        Ok(Self::of(Box::new(appends.creation()?)))
    }

    /// Begins to append events. For the arguments see `Appends`.
    pub fn append(
        packed: &str,
        numbers: &[f64],
        texts: &Array,
        compute: Option<Function>,
    ) -> Result<Self, Thrown> {
        let appends = Appends::new(packed, numbers, texts);
        Ok(Self::of(computing_append(appends.one()?, compute)?))
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

    /// Returns which rows the decision needs: a `PlanNumber` each.
    pub fn plan(&self) -> Vec<f64> {
        let plan = self.write.plan();
        let numbers = list([
            (PlanNumber::Scopes as usize, f64::from(bits_of(plan.scopes))),
            (PlanNumber::IsLocating as usize, f64::from(!plan.ids_are_new)),
            (PlanNumber::Since as usize, plan.since as f64),
        ]);
        numbers.to_vec()
    }

    /// Computes the changes. Returns `undefined` if there is nothing to write, else a `DecisionNumber` each, and then
    /// a `WrittenNumber` each for the events to write.
    ///
    /// - `found`: a `FoundNumber` each.
    /// - `states`: the requested states of session, user and app, as one text; a missing state is
    ///   empty.
    /// - `rows`: the events with the ids of the write, and those changed since its revision, as
    ///   `checked_rows.ts` lays them out; `undefined` if there are none.
    pub fn decide(
        &mut self,
        found: &[f64],
        states: &str,
        rows: Option<Array>,
    ) -> Result<Option<Vec<f64>>, Thrown> {
        let number = |name: FoundNumber| number(found, name as usize);
        let [floor, created, revision, time] = [
            FoundNumber::Floor,
            FoundNumber::Created,
            FoundNumber::Revision,
            FoundNumber::LastUpdateTime,
        ]
        .map(number);
        let [user_revision, app_revision] =
            [FoundNumber::UserRevision, FoundNumber::AppRevision].map(number);
        let [session, user] =
            [FoundNumber::SessionState, FoundNumber::UserState].map(|name| number(name) as usize);
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
            last_update_time: Timestamp::stored(time),
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
        let Decision::Done(Some(changes)) = decision else {
            return Ok(None);
        };
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

    /// Frees the write, and returns its result as `WasmStorage` does.
    pub fn finish(self) -> Result<JsValue, Thrown> {
        self.write.finish()
    }
}

/// Encodes the set as `SCOPES` in `js/core/wasm/protocol.ts` does: session 1, user 2, app 4.
fn bits_of(ScopeSet { session, shared: ByOwner { user, app } }: ScopeSet) -> u8 {
    u8::from(session) | u8::from(user) << 1 | u8::from(app) << 2
}

/// Returns the numbers and the states of changes, as [`DrivenWrite::decide`] and
/// [`DrivenWrite::states`] return them.
fn written(changes: Changes, stored: [Option<SharedRow>; 3]) -> (Vec<f64>, String) {
    let Changes { session, shared: ByOwner { user, app }, events } = changes;
    let head = session.as_ref().map(|session| session.head).unwrap_or_default();
    let session = session
        .map(|SessionChange { head, state, .. }| SharedChange { revision: head.revision, state });
    let revision =
        |change: &Option<SharedChange>| change.as_ref().map_or(0, |change| change.revision);
    let head = list([
        (DecisionNumber::Session as usize, revision(&session) as f64),
        (DecisionNumber::User as usize, revision(&user) as f64),
        (DecisionNumber::App as usize, revision(&app) as f64),
        (DecisionNumber::LastUpdateTime as usize, head.last_update_time.as_millis()),
        (DecisionNumber::Created as usize, head.created as f64),
    ]);
    let mut numbers = head.to_vec();
    let mut states = String::new();
    for (row, change) in stored.into_iter().zip([session, user, app]) {
        // A session's state without changes is not printed again.
        if let Some(change) = change.filter(|change| !change.state.is_empty()) {
            let mut state = row.unwrap_or_default().state;
            state.apply(change.state);
            states.push_str(&state.to_json());
        }
        states.push('\0');
    }
    for event in events {
        numbers.extend(list([
            (WrittenNumber::Position as usize, event.index as f64),
            (WrittenNumber::Seq as usize, event.row.seq as f64),
            (WrittenNumber::Revision as usize, event.row.revision as f64),
        ]));
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
            timestamp: Timestamp::stored(number(3)),
            text: event_text(row.get(4)),
        });
    }
    events
}
