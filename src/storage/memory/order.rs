//! Sessions in the order in which they are listed.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::rc::Rc;

use crate::session::Page;

/// Where a session stands in a list: by last update, ties by id, then by user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Position {
    /// The bits of a time that is never negative, which order as the times do.
    pub(super) time: u64,
    pub(super) session_id: Rc<str>,
    pub(super) user_id: Rc<str>,
}

impl Ord for Position {
    fn cmp(&self, other: &Self) -> Ordering {
        self.time
            .cmp(&other.time)
            .then_with(|| compare_utf16(&self.session_id, &other.session_id))
            .then_with(|| compare_utf16(&self.user_id, &other.user_id))
    }
}

impl PartialOrd for Position {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// As JavaScript's `<` compares strings. UTF-8 would put U+FFFD before an emoji; UTF-16 after.
fn compare_utf16(one: &str, other: &str) -> Ordering {
    one.encode_utf16().cmp(other.encode_utf16())
}

/// The sessions of one app, or of one user of it.
#[derive(Debug, Default)]
pub(super) struct Order {
    positions: BTreeSet<Position>,
}

impl Order {
    pub(super) fn insert(&mut self, position: Position) {
        self.positions.insert(position);
    }

    pub(super) fn remove(&mut self, position: &Position) {
        self.positions.remove(position);
    }

    pub(super) fn len(&self) -> usize {
        self.positions.len()
    }

    /// Costs what it passes over and returns, not what lies beyond.
    pub(super) fn page(&self, page: Page, descending: bool) -> Vec<&Position> {
        let limit = page.limit.unwrap_or(usize::MAX);
        if descending {
            self.positions.iter().rev().skip(page.offset).take(limit).collect()
        } else {
            self.positions.iter().skip(page.offset).take(limit).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_order_as_javascript_strings_do() {
        assert_eq!(compare_utf16("\u{fffd}", "😀"), Ordering::Greater);
        assert_eq!("\u{fffd}".cmp("😀"), Ordering::Less);
        assert_eq!(compare_utf16("a", "ab"), Ordering::Less);
    }
}
