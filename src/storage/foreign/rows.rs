//! The rows of an adapter, as the bridge hands them over.

use js_sys::Array;
use wasm_bindgen::{JsCast, JsValue};

use crate::error::Error;
use crate::session::{SessionHead, SessionKey};
use crate::state::ScopedState;
use crate::write::{EventRow, ScopeRow, SessionRow};

/// Where a session's state stands in its row: `[created, revision, lastUpdateTime, state]`.
const STATE: u32 = 3;

/// The fields of one row, in the bridge's order.
pub(super) struct Row(pub(super) Array);

impl Row {
    pub(super) fn of(value: JsValue) -> Self {
        Self(value.unchecked_into())
    }

    pub(super) fn number(&self, index: u32) -> f64 {
        self.0.get(index).as_f64().unwrap_or_default()
    }

    pub(super) fn text(&self, index: u32) -> String {
        self.0.get(index).as_string().unwrap_or_default()
    }

    pub(super) fn row(&self, index: u32) -> Option<Self> {
        let value = self.0.get(index);
        (!value.is_undefined()).then(|| Self::of(value))
    }

    pub(super) fn list(&self, index: u32) -> impl Iterator<Item = JsValue> {
        self.0.get(index).unchecked_into::<Array>().into_iter()
    }

    pub(super) fn head(&self) -> SessionHead {
        SessionHead {
            created: self.number(0) as u64,
            revision: self.number(1) as u64,
            last_update_time: self.number(2),
        }
    }

    pub(super) fn session(&self, key: SessionKey) -> Result<SessionRow, JsValue> {
        let record = format!("state of session \"{}\"", key.session_id);
        let state = read_state(&self.text(STATE), &record)?;
        Ok(SessionRow { key, head: self.head(), state })
    }

    /// `[revision, state]`
    pub(super) fn scope(&self, scope: &str) -> Result<ScopeRow, JsValue> {
        let state = read_state(&self.text(1), &format!("{scope} state"))?;
        Ok(ScopeRow { revision: self.number(0) as u64, state })
    }

    pub(super) fn events(&self, index: u32) -> Vec<EventRow> {
        let mut events = Vec::new();
        for row in self.list(index) {
            events.push(Self::of(row).event());
        }
        events
    }

    /// `[id, seq, revision, timestamp, text]`
    pub(super) fn event(&self) -> EventRow {
        EventRow {
            id: self.text(0).into(),
            seq: self.number(1) as u64,
            revision: self.number(2) as u64,
            timestamp: self.number(3),
            text: self.0.get(4).into(),
        }
    }
}

pub(super) fn read_state(text: &str, record: &str) -> Result<ScopedState, JsValue> {
    ScopedState::parse(text).map_err(|error| {
        Error::CorruptRecord { record: record.to_owned(), reason: error.to_string() }.into()
    })
}
