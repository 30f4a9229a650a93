//! The requests of [`SessionService`](super::SessionService).

use std::collections::HashMap;

use serde_json::Value;

use crate::core::read::{ListOrder, ListPlace};
use crate::core::session::Timestamp;

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
    /// The user of the app. [`SessionService::list_app`](super::SessionService::list_app) lists all users, so a
    /// forgotten user id never lists all sessions.
    pub user_id: String,
}

/// A page of a list, and the order of the list.
///
/// ```
/// use adk_session::{
///     CreateRequest, InMemorySessionService, ListOrder, ListPage, ListRequest, SessionService,
/// };
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), adk_session::Error> {
/// let service = InMemorySessionService::new();
/// let (app_name, user_id) = ("shop".to_owned(), "ada".to_owned());
/// for id in ["s-1", "s-2", "s-3"] {
///     let (app_name, user_id, session_id) = (app_name.clone(), user_id.clone(), Some(id.to_owned()));
///     service.create(CreateRequest { app_name, user_id, session_id, ..Default::default() }).await?;
/// }
/// let list = ListRequest { app_name, user_id };
/// let order = ListOrder { by_creation: true, descending: true };
/// let first = ListPage { limit: Some(2), order, ..Default::default() };
/// let page = service.list_page(list.clone(), first.clone()).await?;
/// assert_eq!(page.len(), 2);
/// let after = page.last().map(|session| session.place(order));
/// let page = service.list_page(list, ListPage { after, ..first }).await?;
/// assert_eq!(page[0].id(), "s-1");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct ListPage {
    /// The most sessions to return; `None` for all.
    pub limit: Option<usize>,
    /// How many sessions to skip; `None` for 0.
    pub offset: Option<usize>,
    /// Only the sessions after this place, see [`Session::place`](super::Session::place). A page costs the same
    /// wherever it begins. `None` for all.
    pub after: Option<ListPlace>,
    /// The order of the sessions. The default is by last update, oldest first.
    pub order: ListOrder,
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
