//! The events of a session that a read returns.

use std::sync::Arc;

use crate::core::read::event_page::{PageEnd, PageQuery};
use crate::core::session::{Revision, Timestamp};
use crate::core::write::EventRow;

/// Which events of a session a read returns. A read of states alone has none.
#[derive(Debug, Clone, PartialEq)]
pub enum Read {
    /// The last events of those that `after` admits.
    Last {
        /// The most events; `None` for all.
        limit: Option<usize>,
        /// Only events with this timestamp or a later one, in any position; `None` for all.
        after: Option<Timestamp>,
    },
    /// A page of events, with its edges.
    Page(PageQuery),
    /// The events that were written after a revision, as [`Rows::rows`](crate::read::Rows::rows).
    Since {
        /// The revision.
        revision: Revision,
        /// How many events are needed; `None` for all. The result may have more.
        limit: Option<usize>,
    },
    /// The stored ones of the events with these ids, as [`Rows::rows`](crate::read::Rows::rows). Each id comes
    /// once.
    Ids(Vec<Arc<str>>),
}

impl Read {
    /// All events.
    pub const ALL: Self = Self::Last { limit: None, after: None };
    /// No event at all.
    pub const NONE: Self = Self::Last { limit: Some(0), after: None };

    /// Whether [`Rows::rows`](crate::read::Rows::rows) has this row of the session.
    pub fn asks_for(&self, row: &EventRow) -> bool {
        match self {
            Self::Since { revision, .. } => row.revision > *revision,
            Self::Ids(ids) => ids.contains(&row.id),
            Self::Last { .. } | Self::Page(_) => false,
        }
    }

    /// Returns the positions of the events of [`Rows::events`](crate::read::Rows::events) among the `len` events
    /// of a session, which are ordered by `seq`. `None` if no event has the id that the page begins or ends at.
    ///
    /// For storages that can reach each event by its position.
    pub fn positions(
        &self,
        len: usize,
        position_of: impl Fn(&str) -> Option<usize>,
        time_at: impl Fn(usize) -> Timestamp,
    ) -> Option<Vec<usize>> {
        let (limit, after, end) = match self {
            Self::Last { limit, after } => (limit.unwrap_or(usize::MAX), *after, &PageEnd::Last),
            Self::Page(PageQuery { end, limit, .. }) => (*limit, None, end),
            Self::Since { .. } | Self::Ids(_) => return Some(Vec::new()),
        };
        let mut range = match end {
            PageEnd::Before(id) => 0..position_of(id)?,
            PageEnd::After(id) => position_of(id)?.saturating_add(1)..len,
            PageEnd::First | PageEnd::Last => 0..len,
        };
        let mut positions = Vec::new();
        while positions.len() < limit {
            let next = if end.is_forward() { range.next() } else { range.next_back() };
            let Some(position) = next else { break };
            if after.is_none_or(|after| time_at(position) >= after) {
                positions.push(position);
            }
        }
        if !end.is_forward() {
            positions.reverse();
        }
        Some(positions)
    }
}
