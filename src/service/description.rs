//! The title, the labels, the parent and the initial state of a session, as Rust programs read and write them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::core::error::Error;
use crate::core::session::{DescriptionChange, DescriptionRow};
use crate::service::session::read_state;

/// What is known of a session besides its events and its state. No rule looks at it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Description {
    /// The title, if there is one.
    pub title: Option<String>,
    /// The labels by their names.
    pub labels: BTreeMap<String, String>,
    /// Where the session was forked from, if it is a fork.
    pub parent: Option<SessionParent>,
    /// The keys of its own that the session was created with. The service sets them. `None` for sessions that
    /// others created.
    pub initial_state: Option<Map<String, Value>>,
}

/// Where a session was forked from. The original session may have been deleted since.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionParent {
    /// The id of the original session. Both sessions have the same user.
    pub session_id: String,
    /// The last event that both sessions have. `None`: the new session began without events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_id: Option<String>,
}

/// A request to change the description of a session. `None` leaves a member as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DescribeRequest {
    /// The new title. An empty one removes the title.
    pub title: Option<String>,
    /// All labels that the session has from now on.
    pub labels: Option<BTreeMap<String, String>>,
    /// The title of a session that has none. It is applied after `title`.
    pub first_title: Option<String>,
}

impl Description {
    /// # Errors
    /// Fails with `corrupt_record` if the description of the session with that id cannot be read.
    pub(super) fn read(session_id: &str, row: DescriptionRow) -> Result<Self, Error> {
        let DescriptionRow { title, labels, parent, initial_state } = row;
        let record = |member: &str| format!("{member} of session {session_id:?}");
        let initial_state = initial_state.map(|text| read_state(&text, || record("initial state")));
        Ok(Self {
            title,
            labels: read(labels, || record("labels"))?.unwrap_or_default(),
            parent: read(parent, || record("parent"))?,
            initial_state: initial_state.transpose()?,
        })
    }

    /// Returns the row of a new session, without its initial state.
    pub(crate) fn new_row(self) -> DescriptionRow {
        let Self { title, labels, parent, initial_state: _ } = self;
        let parent = parent.map(|parent| serde_json::json!(parent).to_string());
        let labels = Some(labels_text(&labels)).filter(|labels| !labels.is_empty());
        let title = title.filter(|title| !title.is_empty());
        DescriptionRow { title, labels, parent, initial_state: None }
    }
}

impl From<DescribeRequest> for DescriptionChange {
    fn from(DescribeRequest { title, labels, first_title }: DescribeRequest) -> Self {
        Self { title, labels: labels.as_ref().map(labels_text), first_title, ..Self::default() }
    }
}

/// Returns the stored text of labels; empty if there are none.
fn labels_text(labels: &BTreeMap<String, String>) -> String {
    if labels.is_empty() { String::new() } else { serde_json::json!(labels).to_string() }
}

fn read<T: for<'de> Deserialize<'de>>(
    text: Option<String>,
    record: impl FnOnce() -> String,
) -> Result<Option<T>, Error> {
    let read = text.map(|text| serde_json::from_str(&text)).transpose();
    read.map_err(|error| Error::CorruptRecord { record: record(), reason: error.to_string() })
}
