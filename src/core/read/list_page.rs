//! A page of a list of sessions.

/// A page of a list of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListPage {
    /// How many sessions to skip.
    pub offset: usize,
    /// The most sessions to return; `None` for all.
    pub limit: Option<usize>,
}
