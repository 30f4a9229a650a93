//! Pages of a session's events, as Rust programs read them.

use crate::core::event::Event;
use crate::core::read::PageEnd;
use crate::core::session::SessionKey;
use crate::service::text_service::EventCursor;

/// A request for a page of a session's events. The pages of all ages cost the same.
///
/// ```
/// use adk_session::{
///     CreateRequest, Event, InMemorySessionService, ListEventsRequest, PageEnd, SessionService,
/// };
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), adk_session::Error> {
/// let service = InMemorySessionService::new();
/// let (app_name, user_id) = ("shop".to_owned(), "ada".to_owned());
/// let session = service.create(CreateRequest { app_name, user_id, ..Default::default() }).await?;
/// for number in 0..5 {
///     service.append_event_to(session.key(), Event::new(format!("invocation-{number}"))).await?;
/// }
/// let last = ListEventsRequest { limit: Some(2), ..ListEventsRequest::of(session.key()) };
/// let page = service.list_events(last.clone()).await?;
/// assert_eq!(page.events[0].invocation_id, "invocation-3");
/// let older = page.before.map(PageEnd::Before).unwrap_or_default();
/// let page = service.list_events(ListEventsRequest { end: older, ..last }).await?;
/// assert_eq!(page.events[0].invocation_id, "invocation-1");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct ListEventsRequest {
    /// The app.
    pub app_name: String,
    /// The user of the app.
    pub user_id: String,
    /// The session of the user.
    pub session_id: String,
    /// Which events the page has; default: the last ones.
    pub end: PageEnd<EventCursor>,
    /// The most events, 1 to 1,000; `None` for 50.
    pub limit: Option<usize>,
    /// Whether [`EventPage::event_count`] is requested.
    pub with_count: bool,
}

impl ListEventsRequest {
    /// Requests the last events of a session.
    pub fn of(key: &SessionKey) -> Self {
        let SessionKey { app_name, user_id, session_id } = key.clone();
        Self { app_name, user_id, session_id, ..Self::default() }
    }
}

/// A page of a session's events, in append order.
#[derive(Debug, Clone)]
pub struct EventPage {
    /// The events.
    pub events: Vec<Event>,
    /// For [`PageEnd::Before`]: the events before this page. `None` if there are none.
    pub before: Option<EventCursor>,
    /// For [`PageEnd::After`]: the events after this page. Events may be appended later, so it is
    /// `None` only if the page has no events and was requested without a cursor.
    pub after: Option<EventCursor>,
    /// The number of all events of the session, if it was requested.
    pub event_count: Option<usize>,
}
