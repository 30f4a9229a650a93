//! Reads: what a read asks for, and the rows that answer it.
//!
//! A read of a session or of states is a [`Target`](crate::core::write::Target) with a [`Read`] of its
//! events; a read of a list is a [`ListQuery`]. A storage answers with [`Rows`] or a [`Listing`],
//! and decides nothing. Its caller converts these rows: `service` to values of Rust, the crate of the wasm
//! to values of JavaScript.

mod event_page;
mod list_place;
mod session_read;

pub use event_page::{PageEdges, PageEnd, PageQuery};
pub use list_place::{ListOrder, ListPlace};
pub use session_read::Read;

use crate::core::event::EventText;
use crate::core::session::Timestamp;
use crate::core::state::ByOwner;
use crate::core::write::{EventRow, SessionRow, SharedRow};

/// The [timestamp](EventRow::timestamp) of an event, and its text.
pub type TimedText = (Timestamp, EventText);

/// The result of `read`. `E` holds the events: their times and texts, or a list in JavaScript.
#[derive(Debug, Clone)]
pub struct Rows<E = Vec<TimedText>> {
    /// The session, if one was requested and exists.
    pub session: Option<SessionRow>,
    /// The states of the requested user and of the app, each if it exists.
    pub shared: ByOwner<Option<SharedRow>>,
    /// The events of [`Read::Last`] or [`Read::Page`], by `seq`.
    pub events: E,
    /// Where the events of a page stand. `None` if no event has the id that the page begins or ends at.
    /// Ignored without a [`Read::Page`].
    pub edges: Option<PageEdges>,
    /// The events of [`Read::Since`] or [`Read::Ids`], in any order.
    pub rows: Vec<EventRow>,
}

/// The sessions that `list` returns, ordered by a time, then by id, then by user. Ids compare in
/// UTF-16 order, as JavaScript compares strings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListQuery {
    /// The app.
    pub app_name: String,
    /// Only this user's sessions; `None` for all users.
    pub user_id: Option<String>,
    /// The order of the sessions.
    pub order: ListOrder,
    /// Only the sessions after this place; `None` for all.
    pub after: Option<ListPlace>,
    /// How many sessions of the rest to skip.
    pub offset: usize,
    /// The most sessions to return; `None` for all.
    pub limit: Option<usize>,
    /// Whether the total is requested; otherwise [`Listing::total`] may be any number.
    pub with_total: bool,
}

/// The result of `list`.
#[derive(Debug, Clone)]
pub struct Listing {
    /// The sessions of the page.
    pub sessions: Vec<SessionRow>,
    /// The states of these sessions' users, each user once.
    pub users: Vec<(String, SharedRow)>,
    /// The app's state.
    pub app: Option<SharedRow>,
    /// The number of all sessions of the app or user, not only of the page.
    pub total: usize,
}
