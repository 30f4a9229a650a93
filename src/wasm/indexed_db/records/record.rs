//! Records as they are stored: plain objects, readable in a browser's developer tools.

use adk_session::session::{
    DescriptionChange, DescriptionRow, Revision, SessionHead, SessionKey, Timestamp,
};
use adk_session::state::ScopedState;
use adk_session::storage::Deletion;
use adk_session::storage::{SessionRow, SharedRow};
use adk_session::write::MarkerSeqs;
use js_sys::{Array, Float64Array, JsString};
use wasm_bindgen::prelude::*;

use crate::indexed_db::records::failure::{Failure, session_name};
use crate::indexed_db::records::keys;
use crate::object::JsObject;
use crate::text::{STATE_UNIT, TEXT_UNIT, copy_text};

/// The members of a session with its title, and with the JSON of its labels, parent and initial state.
const TITLE: &str = "title";
const LABELS: &str = "labels";
const PARENT: &str = "parent";
const INITIAL_STATE: &str = "initialState";
/// The member of a session with the `seq`s of its markers; `null` if some are lost.
const MARKERS: &str = "markers";

/// The end of revisions and session numbers: JavaScript holds all integers below it exactly.
const COUNTER_END: f64 = (1_u64 << 53) as f64;

/// Whether a number is a valid revision or session number. A damaged one is not.
pub(crate) fn is_counter(number: f64) -> bool {
    (0.0..COUNTER_END).contains(&number) && number.trunc() == number
}

impl JsObject {
    /// Returns a count; 0 if it is missing or damaged.
    pub(crate) fn count(&self, member: &str) -> f64 {
        self.number(member).filter(|number| *number >= 0.0).unwrap_or_default()
    }

    /// Returns a revision or a session number; `None` if it is missing or damaged.
    pub(crate) fn counter(&self, member: &str) -> Option<f64> {
        self.number(member).filter(|number| is_counter(*number))
    }

    pub(crate) fn revision(&self) -> Revision {
        self.count("revision") as Revision
    }

    /// Returns the UTF-16 code units of its texts, which may be long.
    pub(crate) fn length(&self) -> u32 {
        let length = |member| self.get(member).dyn_ref().map_or(0, JsString::length);
        ["text", "state", INITIAL_STATE].into_iter().map(length).fold(0, u32::saturating_add)
    }

    /// Makes the record of a new session, yet without revision and time of the last update. `token`
    /// identifies the write that created it.
    pub(crate) fn session(key: &SessionKey, number: f64, token: f64, head: SessionHead) -> Self {
        let record = Self::empty();
        record.set_text("appName", key.app_name());
        record.set_text("userId", key.user_id());
        record.set_text("sessionId", key.session_id());
        record.set_session_number(number);
        record.set_number("token", token);
        record.set_text("state", "{}");
        record.set_number("created", head.created as f64);
        record.set_number("createTime", head.create_time.as_millis());
        record
    }

    /// Makes the record of a new app or user, without state and sessions.
    pub(crate) fn owner(key: &JsValue) -> Self {
        let record = Self::empty();
        record.set("key", key);
        record
    }

    /// Whether an app's or user's record holds more than its count of sessions.
    pub(crate) fn has_state(&self) -> bool {
        !(self.get("state").is_undefined() && self.get("revision").is_undefined())
    }

    /// Adds to the count of an app's or user's sessions; a negative number subtracts.
    pub(crate) fn add_sessions(&self, sessions: f64) {
        self.set_number("sessions", (self.count("sessions") + sessions).max(0.0));
    }

    pub(crate) fn session_key(&self) -> SessionKey {
        SessionKey::stored(self.text("appName"), self.text("userId"), self.text("sessionId"))
    }

    /// Sets a session's number, twice. A damaged number may be the number of another session, whose
    /// events nobody may see in this one.
    pub(crate) fn set_session_number(&self, number: f64) {
        self.set_number("number", number);
        self.set_number("numberCopy", number);
    }

    /// Returns a session's number. Returns `None` if it is missing or damaged.
    pub(crate) fn session_number(&self) -> Option<f64> {
        let copy = self.get("numberCopy").as_f64();
        self.counter("number").filter(|number| copy == Some(*number))
    }

    /// Returns a session's head. Fails with `corrupt_record` if it is damaged.
    pub(crate) fn head(&self) -> Result<SessionHead, Failure> {
        let counters = [self.counter("created"), self.counter("revision"), self.session_number()];
        let time = self.number("lastUpdateTime").and_then(Timestamp::valid);
        match (counters, time) {
            ([Some(created), Some(revision), Some(_)], Some(last_update_time))
                if created <= revision =>
            {
                let (created, revision) = (created as Revision, revision as Revision);
                let create_time = Timestamp::stored(self.count("createTime"));
                Ok(SessionHead { created, revision, last_update_time, create_time })
            }
            _ => Err(self.damaged("it is damaged")),
        }
    }

    /// Returns the state of a session, an app or a user. Fails with `corrupt_record` if it is
    /// damaged.
    pub(crate) fn state(&self) -> Result<ScopedState, Failure> {
        let text = self.long_text("state", STATE_UNIT)?;
        let text = text.ok_or_else(|| self.damaged("it is damaged"))?;
        ScopedState::parse(&text).map_err(|error| self.damaged(&error.to_string()))
    }

    /// Copies a text that may be long; `None` if it is missing. See [`copy_text`].
    fn long_text(&self, member: &str, unit: usize) -> Result<Option<String>, Failure> {
        let text = self.get(member);
        let text = text.dyn_ref().map(|text| copy_text(text, unit)).transpose();
        text.map_err(Failure::from)
    }

    pub(crate) fn set_state(&self, state: &ScopedState) {
        self.set_text("state", &state.to_json());
    }

    /// Changes a session's title and labels, and sets its parent and initial state. An empty text
    /// removes the member.
    pub(crate) fn describe(&self, change: DescriptionChange) {
        let DescriptionChange { title, labels, parent, initial_state, first_title } = change;
        let members =
            [(TITLE, title), (LABELS, labels), (PARENT, parent), (INITIAL_STATE, initial_state)];
        for (member, new) in members {
            match new {
                Some(new) if new.is_empty() => self.set(member, &JsValue::UNDEFINED),
                Some(new) => self.set_text(member, &new),
                None => {}
            }
        }
        let title = self.get(TITLE).as_string().unwrap_or_default();
        if let Some(first_title) = DescriptionRow::first_title(&title, first_title) {
            self.set_text(TITLE, &first_title);
        }
    }

    /// Returns the `seq`s of a session's markers. Damaged ones count as incomplete.
    pub(crate) fn markers(&self) -> MarkerSeqs {
        let markers = self.get(MARKERS);
        let stored = markers.dyn_ref::<Float64Array>();
        let mut seqs = Vec::new();
        for seq in stored.map(Float64Array::to_vec).unwrap_or_default() {
            seqs.push(seq as Revision);
        }
        MarkerSeqs { seqs, is_incomplete: stored.is_none() && !markers.is_undefined() }
    }

    pub(crate) fn add_markers(&self, new: &MarkerSeqs) {
        if *new == MarkerSeqs::default() {
            return;
        }
        let mut markers = self.markers();
        markers.add(new);
        let mut seqs = Vec::new();
        for seq in markers.seqs {
            seqs.push(seq as f64);
        }
        let stored = Float64Array::from(seqs.as_slice()).into();
        self.set(MARKERS, &if markers.is_incomplete { JsValue::NULL } else { stored });
    }

    /// Whether a session is as a deletion requires it.
    pub(crate) fn is_unchanged(&self, deletion: &Deletion) -> bool {
        let labels = self.get(LABELS).as_string();
        let revision = self.counter("revision");
        revision
            .is_some_and(|revision| deletion.is_allowed(revision as Revision, labels.as_deref()))
    }

    pub(crate) fn session_row(&self) -> Result<SessionRow, Failure> {
        let [title, labels, parent] =
            [TITLE, LABELS, PARENT].map(|member| self.get(member).as_string());
        let initial_state = self.long_text(INITIAL_STATE, TEXT_UNIT)?;
        Ok(SessionRow {
            key: self.session_key(),
            head: self.head()?,
            state: self.state()?,
            description: DescriptionRow { title, labels, parent, initial_state },
        })
    }

    /// Returns the revision of an app's or user's state. Fails with `corrupt_record` if it is
    /// damaged.
    pub(crate) fn shared_revision(&self) -> Result<Revision, Failure> {
        let revision = self.counter("revision").map(|revision| revision as Revision);
        revision.ok_or_else(|| self.damaged("it is damaged"))
    }

    /// Returns an app's or user's state with its revision; `None` if it has no state.
    pub(crate) fn shared_row(&self) -> Result<Option<SharedRow>, Failure> {
        if !self.has_state() {
            return Ok(None);
        }
        Ok(Some(SharedRow { revision: self.shared_revision()?, state: self.state()? }))
    }

    #[cold]
    pub(crate) fn damaged(&self, reason: &str) -> Failure {
        Failure::corrupt(self.name(), reason)
    }

    /// Returns a name of the record for error messages.
    #[cold]
    pub(crate) fn name(&self) -> String {
        if let Some(session_id) = self.get("sessionId").as_string() {
            return session_name(&session_id, &self.text("userId"), &self.text("appName"));
        }
        if let Some(ids) = Self::found(self.get("ids")) {
            return format!("event \"{}\"", keys::plain_id(&ids.text("0")));
        }
        let key = Array::from(&self.get("key"));
        let [app, user] = [0, 1].map(|index| key.get(index).as_string());
        let user = user.map_or_else(String::new, |user| format!("user \"{user}\" in "));
        format!("state of {user}app \"{}\"", app.unwrap_or_default())
    }
}
