//! The sessions and pages that a service returns.

use crate::core::error::Error;
use crate::core::event::EventText;
use crate::core::names::Names;
use crate::core::read::{Listing, Page, PagePosition};
use crate::core::session::{Description, SessionHead, SessionKey};
use crate::core::state::Shared;
use crate::core::write::{SessionRow, SharedRevisions, SharedRow, merged};

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
    /// The new revisions of the shared states if the call created the session; `None` if it existed.
    pub created: Option<SharedRevisions>,
}

impl StoredSession {
    /// Returns a stored session with all scopes merged into one state.
    pub(super) fn of(
        row: SessionRow,
        shared: Shared<Option<&SharedRow>>,
        events: Vec<EventText>,
    ) -> Result<Self, Error> {
        let state = merged(&row.state, shared)?;
        let SessionRow { key, head, description, .. } = row;
        Ok(Self { key, head, state, events, description, created: None })
    }
}

/// A page of sessions, without events.
#[derive(Debug, Clone)]
pub struct SessionPage {
    /// The sessions of the page.
    pub sessions: Vec<StoredSession>,
    /// The position of the page.
    pub position: PagePosition,
    /// The number of all sessions of the app or user.
    pub total: usize,
}

impl SessionPage {
    /// Merges the states of a listing into a page.
    pub(super) fn of(listing: Listing, page: Page) -> Result<Self, Error> {
        let mut users = Names::default();
        for (user_id, state) in listing.users {
            if let Some(place) = users.get_or_default(&user_id) {
                *place = state;
            }
        }
        let mut sessions = Vec::with_capacity(listing.sessions.len());
        for row in listing.sessions {
            let user = users.get(&row.key.user_id);
            let shared = Shared { user, app: listing.app.as_ref() };
            sessions.push(StoredSession::of(row, shared, Vec::new())?);
        }
        Ok(Self { sessions, position: page.position(listing.total), total: listing.total })
    }
}
