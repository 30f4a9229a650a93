//! The request of a step, with its defaults.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::conformance::handle::{Outgoing, to_text};
use crate::conformance::stop::Stop;
use crate::core::read::Read;
use crate::core::session::{SessionKey, Timestamp};
use crate::core::state::Delta;
use crate::core::write::NewSession;
use crate::host;
use crate::service::{DescribeRequest, Description, SessionParent};

/// The members of a step's `with`.
#[derive(Clone, Copy)]
pub(super) struct Request<'a>(pub(super) &'a Map<String, Value>);

impl Request<'_> {
    pub(super) fn text(self, name: &str, default: Option<&str>) -> Option<String> {
        match self.0.get(name) {
            None => default.map(str::to_owned),
            Some(value) => value.as_str().map(str::to_owned),
        }
    }

    /// Returns the strings of a list.
    pub(super) fn texts(self, name: &str) -> Vec<String> {
        let list = self.0.get(name).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    pub(super) fn number(self, name: &str) -> Option<f64> {
        self.0.get(name).and_then(Value::as_f64)
    }

    pub(super) fn count(self, name: &str) -> Option<usize> {
        self.number(name).map(|number| number as usize)
    }

    pub(super) fn needed(self, name: &str, default: &str) -> Result<String, Stop> {
        let missing = || Stop::Broken(format!("\"{name}\" is not a string"));
        self.text(name, Some(default)).ok_or_else(missing)
    }

    pub(super) fn app_name(self) -> Result<String, Stop> {
        self.needed("appName", "app")
    }

    pub(super) fn user_id(self) -> Result<String, Stop> {
        self.needed("userId", "user")
    }

    pub(super) fn key(self) -> Result<SessionKey, Stop> {
        let session_id = self.needed("sessionId", "session")?;
        Ok(SessionKey::new(self.app_name()?, self.user_id()?, session_id)?)
    }

    pub(super) fn new_key(self) -> Result<SessionKey, Stop> {
        let session_id = self.text("sessionId", Some("session"));
        let session_id = session_id.unwrap_or_else(host::new_id);
        Ok(SessionKey::new(self.app_name()?, self.user_id()?, session_id)?)
    }

    pub(super) fn new_session(self, now: Timestamp) -> Result<NewSession, Stop> {
        let delta_of = |member: &str| match self.0.get(member).and_then(Value::as_object) {
            Some(delta) => Delta::parse(&to_text(delta)),
            None => Ok(Delta::default()),
        };
        let (state, delta) = (delta_of("state")?, delta_of("stateDelta")?);
        let events = self.0.get("events").and_then(Value::as_array);
        let events = events.into_iter().flatten().map(|event| Outgoing::new(event).to_new_event());
        let last_update_time =
            self.number("lastUpdateTime").map(Timestamp::from_millis).transpose()?;
        let shares_state = self.0.get("sharedState").and_then(Value::as_str) != Some("keep");
        let events = events.collect::<Result<_, _>>()?;
        let description = self.description().new_row();
        Ok(NewSession { state, events, delta, last_update_time, now, shares_state, description })
    }

    fn title(self) -> Option<String> {
        self.0.get("title").map(|title| title.as_str().unwrap_or_default().to_owned())
    }

    fn labels(self) -> Option<BTreeMap<String, String>> {
        let labels = self.0.get("labels")?.as_object().into_iter().flatten();
        Some(labels.map(|(name, value)| (name.clone(), text_of(value))).collect())
    }

    fn description(self) -> Description {
        let parent = self.0.get("parent").and_then(Value::as_object).map(|parent| SessionParent {
            session_id: parent.get("sessionId").map(text_of).unwrap_or_default(),
            event_id: parent.get("eventId").map(text_of),
        });
        let labels = self.labels().unwrap_or_default();
        Description { title: self.title(), labels, parent, ..Description::default() }
    }

    pub(super) fn describe(self) -> DescribeRequest {
        DescribeRequest { title: self.title(), labels: self.labels(), ..DescribeRequest::default() }
    }

    pub(super) fn read(self) -> Result<Read, Stop> {
        let config = self.0.get("config");
        let number =
            |name: &str| config.and_then(|config| config.get(name)).and_then(Value::as_f64);
        let limit = number("numRecentEvents").map(|count| count as usize);
        let after = number("afterTimestamp").map(|time| Timestamp::from_millis(time.max(0.0)));
        Ok(Read::Last { limit, after: after.transpose()? })
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
