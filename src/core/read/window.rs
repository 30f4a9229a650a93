//! The part of a session's events that a read returns.

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
}
