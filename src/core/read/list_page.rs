//! A page of a list of sessions.

use crate::core::error::Error;
use crate::core::read::count::check_count;

/// A page of a list of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListPage {
    /// How many sessions to skip.
    pub offset: usize,
    /// The most sessions to return; `None` for all.
    pub limit: Option<usize>,
}

impl ListPage {
    /// Checks numbers from a caller. `page` counts from 1 and needs `limit`.
    ///
    /// # Errors
    /// Fails with `invalid_argument` naming the number if it is negative or fractional, or if
    /// `page` is 0 or has no `limit`.
    pub fn from_numbers(limit: Option<f64>, page: Option<f64>) -> Result<Self, Error> {
        let limit = limit.map(|n| check_count("limit", n, 0)).transpose()?;
        let page = page.map(|n| check_count("page", n, 1)).transpose()?;
        let offset = match (page, limit) {
            (Some(_), None) => {
                return Err(Error::invalid("page", "needs a limit: the number of items on a page"));
            }
            (Some(page), Some(limit)) => page.saturating_sub(1).saturating_mul(limit),
            (None, _) => 0,
        };
        Ok(Self { offset, limit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_begins_after_the_ones_before_it() {
        let page = ListPage::from_numbers(Some(10.0), Some(4.0)).unwrap();
        assert_eq!(page, ListPage { offset: 30, limit: Some(10) });
    }

    #[test]
    fn a_page_needs_a_limit_and_counts_from_one() {
        assert!(ListPage::from_numbers(None, Some(1.0)).is_err());
        assert!(ListPage::from_numbers(Some(5.0), Some(0.0)).is_err());
    }
}
