//! The part of a session's events that a read returns.

use std::sync::Arc;

use crate::core::read::event_page::{PageEnd, PageQuery};
use crate::core::session::{Revision, Timestamp};

/// A part of a session's events: first the filter by time, then the last events of the rest, or
/// those at another end.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Window {
    /// The most events, counted from the window's end; `None` for all.
    pub limit: Option<usize>,
    /// Only events with this timestamp or a later one, in any position.
    pub after: Option<Timestamp>,
    /// The end of a page, which is read with its edges. `None`: the last events, without edges.
    pub page: Option<PageQuery>,
    /// Instead, the events at the session's [`MarkerSeqs`](crate::write::MarkerSeqs), and the one at
    /// which the page begins or ends. The rows have no edges if it is not stored, or if places are lost. Only this
    /// crate's storages get such a window.
    pub only_markers: bool,
    /// Asks for the events that were written after this revision, and for no others. They come as
    /// [`Rows::changed`](crate::core::read::Rows::changed), and may be more than the limit.
    pub since: Option<Revision>,
}

impl Window {
    /// All events.
    pub const ALL: Self =
        Self { limit: None, after: None, page: None, only_markers: false, since: None };
    /// No event at all.
    pub const NONE: Self = Self { limit: Some(0), ..Self::ALL };

    /// The window of a page of at most `limit` events.
    pub fn page(end: PageEnd, limit: usize, with_count: bool) -> Self {
        Self { limit: Some(limit), page: Some(PageQuery { end, with_count }), ..Self::ALL }
    }

    /// Returns the event that the page begins or ends at.
    pub(crate) fn end_event(&self) -> Option<&Arc<str>> {
        self.page.as_ref()?.end.event()
    }

    /// Whether an event with this timestamp passes the filter.
    pub fn admits(&self, timestamp: Timestamp) -> bool {
        self.after.is_none_or(|after| timestamp >= after)
    }

    /// Returns the positions of the window's events among the `len` events of a session, which are
    /// ordered by `seq`. `None` if no event has the id that the page begins or ends at.
    ///
    /// For storages that can reach each event by its position.
    pub fn positions(
        &self,
        len: usize,
        position_of: impl Fn(&str) -> Option<usize>,
        time_at: impl Fn(usize) -> Timestamp,
    ) -> Option<Vec<usize>> {
        let end = self.page.as_ref().map(|page| &page.end);
        let is_forward = end.is_some_and(PageEnd::is_forward);
        let mut range = match end {
            Some(PageEnd::Before(id)) => 0..position_of(id)?,
            Some(PageEnd::After(id)) => position_of(id)?.saturating_add(1)..len,
            _ => 0..len,
        };
        let limit = if self.since.is_some() { 0 } else { self.limit.unwrap_or(usize::MAX) };
        let mut positions = Vec::new();
        while positions.len() < limit {
            let next = if is_forward { range.next() } else { range.next_back() };
            let Some(position) = next else { break };
            if self.admits(time_at(position)) {
                positions.push(position);
            }
        }
        if !is_forward {
            positions.reverse();
        }
        Some(positions)
    }
}
