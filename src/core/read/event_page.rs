//! Pages of a session's events: windows whose end is an event.

use std::sync::Arc;

/// A page of events: its end, and whether the session's events are counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageQuery {
    /// Where the page begins or ends.
    pub end: PageEnd,
    /// The most events.
    pub limit: usize,
    /// Whether [`PageEdges::count`] is requested.
    pub with_count: bool,
}

/// The end of a session's events from which a page takes its events. A replaced event keeps its `seq`, so
/// its id names the same end for as long as the session exists.
///
/// `E` names an event: its id, or a cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PageEnd<E = Arc<str>> {
    /// The page has the last events.
    #[default]
    Last,
    /// The page has the first events.
    First,
    /// The page has the last events before this one.
    Before(E),
    /// The page has the first events after this one.
    After(E),
}

impl<E> PageEnd<E> {
    /// Returns the event that the page begins or ends at.
    pub fn event(&self) -> Option<&E> {
        match self {
            Self::Last | Self::First => None,
            Self::Before(event) | Self::After(event) => Some(event),
        }
    }

    /// Returns the same end with another name for its event.
    pub fn map<Other>(self, name: impl FnOnce(E) -> Other) -> PageEnd<Other> {
        match self {
            Self::Last => PageEnd::Last,
            Self::First => PageEnd::First,
            Self::Before(event) => PageEnd::Before(name(event)),
            Self::After(event) => PageEnd::After(name(event)),
        }
    }

    /// Whether the page takes the first events from its end on, and not the last ones up to it.
    pub fn is_forward(&self) -> bool {
        matches!(self, Self::First | Self::After(_))
    }
}

/// Where the events of a page stand among those of their session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PageEdges {
    /// The id of the page's first event; `None` for a page without events.
    pub first: Option<Arc<str>>,
    /// The id of the page's last event; `None` for a page without events.
    pub last: Option<Arc<str>>,
    /// Whether the session has events before the page's first one.
    pub has_older: bool,
    /// The number of all events of the session, if it is requested.
    pub count: Option<usize>,
}

impl PageEdges {
    /// Returns the edges of a page whose events stand at these positions among `len` events.
    pub fn of(positions: &[usize], len: usize, id_at: impl Fn(usize) -> Option<Arc<str>>) -> Self {
        Self {
            first: positions.first().and_then(|position| id_at(*position)),
            last: positions.last().and_then(|position| id_at(*position)),
            has_older: positions.first().is_some_and(|position| *position > 0),
            count: Some(len),
        }
    }
}
