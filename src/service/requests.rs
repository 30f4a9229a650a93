//! The requests of [`SessionService`](super::SessionService).

use std::collections::HashMap;

use serde_json::Value;

use crate::core::event::Event;
use crate::core::read::ListPlace;
use crate::core::session::{Description, Timestamp};

/// A request to create a session.
#[derive(Debug, Clone, Default)]
pub struct CreateRequest {
    /// The app.
    pub app_name: String,
    /// The user of the app.
    pub user_id: String,
    /// The session's id; `None` or blank for a fresh UUID v4.
    pub session_id: Option<String>,
    /// The initial state. It is split by scope; `temp:` keys are dropped.
    pub state: HashMap<String, Value>,
    /// The events that the session begins with. Their deltas change the initial state, in order.
    pub events: Vec<Event>,
    /// The title and the labels.
    pub description: Description,
}

/// A request to read a session and some of its events.
#[derive(Debug, Clone, Default)]
pub struct GetRequest {
    /// The app.
    pub app_name: String,
    /// The user of the app.
    pub user_id: String,
    /// The session of the user.
    pub session_id: String,
    /// Only the last `num_recent_events` events; `None` for all.
    pub num_recent_events: Option<usize>,
    /// Only events with this timestamp or a later one.
    pub after: Option<Timestamp>,
}

/// A request for a user's sessions, oldest update first.
#[derive(Debug, Clone, Default)]
pub struct ListRequest {
    /// The app.
    pub app_name: String,
    /// The user of the app. [`SessionService::list_app`](super::SessionService::list_app) lists all users, so a forgotten user id
    /// never lists all sessions.
    pub user_id: String,
    /// The most sessions to return; `None` for all.
    pub limit: Option<usize>,
    /// How many sessions to skip; `None` for 0.
    pub offset: Option<usize>,
    /// Only the sessions after this place, see [`Session::place`](super::Session::place). A page costs the same wherever it
    /// begins. `None` for all.
    pub after: Option<ListPlace>,
}

/// A request to delete a session.
#[derive(Debug, Clone, Default)]
pub struct DeleteRequest {
    /// The app.
    pub app_name: String,
    /// The user of the app.
    pub user_id: String,
    /// The session of the user.
    pub session_id: String,
}
