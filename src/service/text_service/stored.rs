//! The sessions that a [`TextService`](super::TextService) returns.

use crate::core::error::Error;
use crate::core::event::EventText;
use crate::core::session::{Description, SessionHead, SessionKey};
use crate::core::write::{SessionRow, SharedRow, merged};

/// A session as read from a storage.
#[derive(Debug, Clone)]
pub struct StoredSession {
    /// The key of the session.
    pub key: SessionKey,
    /// Its revisions and time.
    pub head: SessionHead,
    /// The JSON object of app, user and session state, with prefixes.
    pub state: String,
    /// The texts of the events in the window, in append order.
    pub events: Vec<EventText>,
    /// Its title and labels.
    pub description: Description,
}

impl StoredSession {
    /// Returns a stored session with all scopes merged into one state.
    pub(super) fn of(
        row: SessionRow,
        user: Option<&SharedRow>,
        app: Option<&SharedRow>,
        events: Vec<EventText>,
    ) -> Result<Self, Error> {
        let state = merged(&row.state, user, app)?;
        let SessionRow { key, head, description, .. } = row;
        Ok(Self { key, head, state, events, description })
    }
}
