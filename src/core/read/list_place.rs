//! The place of a session in a list.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::core::session::Timestamp;

/// The order of a list of sessions. The default is by last update, ascending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ListOrder {
    /// Whether sessions are ordered by creation, instead of by last update.
    pub by_creation: bool,
    /// Whether the order is reversed, exactly.
    pub descending: bool,
}

/// A session's place in a list: ordered by last update or creation, then by session id, then by
/// user id. The place stays valid when its session moves or is deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListPlace {
    /// The time of its last update, or of its creation.
    pub time: Timestamp,
    /// The session's id.
    pub session_id: Arc<str>,
    /// The user's id.
    pub user_id: Arc<str>,
}

impl ListPlace {
    /// The place of the session with this `last_update_time` or `create_time`, by which the list is
    /// ordered.
    pub fn new(time: Timestamp, session_id: &str, user_id: &str) -> Self {
        Self { time, session_id: session_id.into(), user_id: user_id.into() }
    }

    /// Whether a list in this order has this place after the other.
    pub fn follows(&self, other: &Self, descending: bool) -> bool {
        if descending { self < other } else { self > other }
    }
}

impl Ord for ListPlace {
    fn cmp(&self, other: &Self) -> Ordering {
        self.time
            .cmp(&other.time)
            .then_with(|| compare_utf16(&self.session_id, &other.session_id))
            .then_with(|| compare_utf16(&self.user_id, &other.user_id))
    }
}

impl PartialOrd for ListPlace {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Compares two strings as JavaScript's `<` does. UTF-16 puts U+E000 to U+FFFF after all emoji,
/// UTF-8 before them. All other characters have the same order in both.
fn compare_utf16(one: &str, other: &str) -> Ordering {
    // The bytes EE and EF begin those characters; no byte of UTF-8 is greater than F4.
    if one == other {
        return Ordering::Equal;
    }
    let rank = |byte| if matches!(byte, 0xEE | 0xEF) { byte + 0x10 } else { byte };
    one.bytes().map(rank).cmp(other.bytes().map(rank))
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

#[cfg(test)]
mod properties {
    use proptest::prelude::*;

    use super::*;

    fn id() -> &'static str {
        "[a\u{d7ff}\u{e000}\u{fffd}😀é]{0,4}"
    }

    proptest! {
        #[test]
        fn ids_compare_by_their_code_units(one in id(), other in id()) {
            let by_units = one.encode_utf16().cmp(other.encode_utf16());
            prop_assert_eq!(compare_utf16(&one, &other), by_units);
        }
    }
}
