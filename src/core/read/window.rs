//! The part of a session's events that a read returns, and the part of a list.

use crate::core::error::Error;
use crate::core::read::count::check_count;
use crate::core::read::event_page::{EventPage, PageEnd};
use crate::core::session::Timestamp;

/// A part of a session's events: first the filter by time, then the last events of the rest, or
/// those at another end.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Window {
    /// The most events, counted from the window's end; `None` for all.
    pub limit: Option<usize>,
    /// Only events with this timestamp or a later one, in any position.
    pub after: Option<Timestamp>,
    /// The end of a page, which is read with its edges. `None`: the last events, without edges.
    pub page: Option<EventPage>,
}

impl Window {
    /// All events.
    pub const ALL: Self = Self { limit: None, after: None, page: None };
    /// No event at all.
    pub const NONE: Self = Self { limit: Some(0), after: None, page: None };

    /// Checks numbers from a caller. Each number but NaN is a valid time here: no event is earlier than
    /// 1970, or later than the year 9999.
    ///
    /// # Errors
    /// Fails with `invalid_argument` if a count is negative or fractional, or if a time is NaN.
    pub fn from_numbers(last: Option<f64>, after: Option<f64>) -> Result<Self, Error> {
        let last = last.map(|n| check_count("numRecentEvents", n, 0)).transpose()?;
        if after.is_some_and(f64::is_nan) {
            return Err(Error::invalid("afterTimestamp", "must be a number; it is NaN"));
        }
        let Some(after) = after else {
            return Ok(Self { limit: last, ..Self::ALL });
        };
        let after = Timestamp::valid(after.max(0.0));
        Ok(after.map_or(Self::NONE, |after| Self { limit: last, after: Some(after), page: None }))
    }

    /// The window of a page of at most `limit` events.
    pub fn page(end: PageEnd, limit: usize, with_count: bool) -> Self {
        Self { limit: Some(limit), after: None, page: Some(EventPage { end, with_count }) }
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
        let limit = self.limit.unwrap_or(usize::MAX);
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

/// A page of a list of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// How many sessions to skip.
    pub offset: usize,
    /// The most sessions to return; `None` for all.
    pub limit: Option<usize>,
}

/// The position of a page among all pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PagePosition {
    /// The page's number, from 1.
    pub page: usize,
    /// The page's size; without a limit, the number of all items.
    pub limit: usize,
    /// The number of pages of that size.
    pub total_pages: usize,
}

impl Page {
    /// Checks numbers from a caller. `page` counts from 1, needs `limit`, and wins over `offset`.
    ///
    /// # Errors
    /// Fails with `invalid_argument` naming the number if it is negative or fractional, or if
    /// `page` is 0 or has no `limit`.
    pub fn from_numbers(
        limit: Option<f64>,
        offset: Option<f64>,
        page: Option<f64>,
    ) -> Result<Self, Error> {
        let limit = limit.map(|n| check_count("limit", n, 0)).transpose()?;
        let offset = offset.map(|n| check_count("offset", n, 0)).transpose()?;
        let page = page.map(|n| check_count("page", n, 1)).transpose()?;
        let offset = match (page, limit) {
            (Some(_), None) => {
                return Err(Error::invalid("page", "needs a limit: the number of items on a page"));
            }
            (Some(page), Some(limit)) => page.saturating_sub(1).saturating_mul(limit),
            (None, _) => offset.unwrap_or(0),
        };
        Ok(Self { offset, limit })
    }

    /// Returns the position of this page among `total` items.
    pub fn position(&self, total: usize) -> PagePosition {
        match self.limit {
            None => PagePosition { page: 1, limit: total, total_pages: usize::from(total > 0) },
            Some(0) => PagePosition { page: 1, limit: 0, total_pages: 0 },
            Some(limit) => PagePosition {
                page: (self.offset / limit).saturating_add(1),
                limit,
                total_pages: total.div_ceil(limit),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::read::count::MAX_SAFE_INTEGER;

    #[test]
    fn a_window_refuses_invalid_counts_and_times() {
        let bad = [
            (-1.0, "negative"),
            (1.5, "a fraction, NaN or too large"),
            (f64::NAN, "a fraction, NaN or too large"),
            (f64::INFINITY, "a fraction, NaN or too large"),
            (MAX_SAFE_INTEGER + 1.0, "9007199254740992"),
        ];
        for (bad, given) in bad {
            let error = Window::from_numbers(Some(bad), None).unwrap_err().to_string();
            let rule = "numRecentEvents must be a whole number from 0 up";
            assert_eq!(error, format!("{rule}; it is {given}"));
        }
        assert!(Window::from_numbers(None, Some(f64::NAN)).is_err());
        let all = Window { after: Some(Timestamp::MIN), ..Window::ALL };
        assert_eq!(Window::from_numbers(None, Some(f64::NEG_INFINITY)).unwrap(), all);
        assert_eq!(Window::from_numbers(None, Some(f64::INFINITY)).unwrap(), Window::NONE);
        assert_eq!(Window::from_numbers(Some(0.0), None).unwrap(), Window::NONE);
    }

    #[test]
    fn a_page_wins_over_an_offset() {
        let page = Page::from_numbers(Some(10.0), Some(3.0), Some(4.0)).unwrap();
        assert_eq!(page, Page { offset: 30, limit: Some(10) });
    }

    #[test]
    fn a_page_needs_a_limit_and_counts_from_one() {
        assert!(Page::from_numbers(None, None, Some(1.0)).is_err());
        assert!(Page::from_numbers(Some(5.0), None, Some(0.0)).is_err());
    }

    #[test]
    fn pages_are_counted_from_the_total() {
        let page = Page { offset: 20, limit: Some(10) };
        assert_eq!(page.position(21), PagePosition { page: 3, limit: 10, total_pages: 3 });
        let all = Page { offset: 0, limit: None };
        assert_eq!(all.position(0), PagePosition { page: 1, limit: 0, total_pages: 0 });
        assert_eq!(all.position(7), PagePosition { page: 1, limit: 7, total_pages: 1 });
        let none = Page { offset: 0, limit: Some(0) };
        assert_eq!(none.position(7), PagePosition { page: 1, limit: 0, total_pages: 0 });
    }
}
