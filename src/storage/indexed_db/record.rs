//! Records as they lie in the stores: plain objects, readable in a browser's tools.
//!
//! One getter and one setter for all members. One each would be forty imports in the wasm.

use js_sys::{Array, Object};
use wasm_bindgen::prelude::*;

use crate::session::{Revision, SessionHead, SessionKey};
use crate::state::ScopedState;
use crate::storage::ScopeRow;
use crate::storage::indexed_db::failure::Failure;
use crate::storage::indexed_db::keys;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(extends = Object)]
    #[derive(Debug, Clone)]
    pub(super) type Record;

    #[wasm_bindgen(method, structural, indexing_getter)]
    pub(super) fn get(this: &Record, member: &str) -> JsValue;

    #[wasm_bindgen(method, structural, indexing_setter)]
    pub(super) fn set(this: &Record, member: &str, value: &JsValue);
}

impl Record {
    pub(super) fn empty() -> Self {
        Object::new().unchecked_into()
    }

    /// What a store gave for a key.
    pub(super) fn found(value: JsValue) -> Option<Self> {
        value.is_object().then(|| value.unchecked_into())
    }

    pub(super) fn number(&self, member: &str) -> Option<f64> {
        self.get(member).as_f64()
    }

    /// 0 where there is none.
    pub(super) fn count(&self, member: &str) -> f64 {
        self.number(member).unwrap_or_default()
    }

    pub(super) fn text(&self, member: &str) -> Option<String> {
        self.get(member).as_string()
    }

    pub(super) fn set_number(&self, member: &str, number: f64) {
        self.set(member, &JsValue::from_f64(number));
    }

    pub(super) fn set_text(&self, member: &str, text: &str) {
        self.set(member, &JsValue::from_str(text));
    }

    fn state(&self, name: impl Fn() -> String) -> Result<ScopedState, Failure> {
        let text = self.text("state");
        let text = text.ok_or_else(|| Failure::corrupt(name(), "its state is no text"))?;
        ScopedState::parse(&text).map_err(|error| Failure::corrupt(name(), error.to_string()))
    }
}

/// A session's record.
#[derive(Clone)]
pub(super) struct SessionRecord {
    pub(super) record: Record,
    pub(super) key: SessionKey,
    pub(super) head: SessionHead,
    /// What its events are kept under.
    pub(super) number: f64,
}

impl SessionRecord {
    pub(super) fn read(record: Record) -> Result<Self, Failure> {
        let key = SessionKey {
            app_name: record.text("appName").unwrap_or_default(),
            user_id: record.text("userId").unwrap_or_default(),
            session_id: record.text("sessionId").unwrap_or_default(),
        };
        let numbers = ["created", "revision", "lastUpdateTime", "number"];
        let [Some(created), Some(revision), Some(last_update_time), Some(number)] =
            numbers.map(|member| record.number(member))
        else {
            return Err(Failure::corrupt(session_name(&key), "a number is missing in it"));
        };
        let head = SessionHead {
            created: created as Revision,
            revision: revision as Revision,
            last_update_time,
        };
        Ok(Self { record, key, head, number })
    }

    /// A new session's, with nothing in it. `token` tells who made it.
    pub(super) fn new(key: &SessionKey, number: f64, token: f64) -> Self {
        let record = Record::empty();
        record.set_text("appName", &key.app_name);
        record.set_text("userId", &key.user_id);
        record.set_text("sessionId", &key.session_id);
        record.set_number("number", number);
        record.set_number("token", token);
        record.set_text("state", "{}");
        Self { record, key: key.clone(), head: SessionHead::default(), number }
    }

    pub(super) fn set_head(&mut self, head: SessionHead) {
        self.head = head;
        self.record.set_number("created", head.created as f64);
        self.record.set_number("revision", head.revision as f64);
        self.record.set_number("lastUpdateTime", head.last_update_time);
    }

    pub(super) fn state(&self) -> Result<ScopedState, Failure> {
        self.record.state(|| session_name(&self.key))
    }
}

fn session_name(key: &SessionKey) -> String {
    format!(
        "session \"{}\" of user \"{}\" in app \"{}\"",
        key.session_id, key.user_id, key.app_name
    )
}

/// The state of an app, or of a user.
pub(super) fn read_scope(record: &Record) -> Result<ScopeRow, Failure> {
    let name = || {
        let key = Array::from(&record.get("key"));
        let [app, user] = [0, 1].map(|index| key.get(index).as_string());
        let user = user.map_or_else(String::new, |user| format!("user \"{user}\" in "));
        format!("state of {user}app \"{}\"", app.unwrap_or_default())
    };
    let state = record.state(name)?;
    Ok(ScopeRow { revision: record.count("revision") as Revision, state })
}

pub(super) fn write_scope(app_name: &str, user_id: Option<&str>, row: &ScopeRow) -> Record {
    let record = Record::empty();
    record.set("key", &keys::scope(app_name, user_id));
    record.set_number("revision", row.revision as f64);
    record.set_text("state", &row.state.to_json());
    record
}
