//! Sessions in the order of lists.

use std::cmp::Ordering;
use std::rc::Rc;

use crate::core::read::Page;

/// The most keys in a chunk: few enough to be moved when one is inserted.
const CHUNK: usize = 256;

/// A session's place in a list: ordered by last update, then by session id, then by user id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SortKey {
    /// The bits of the time. Times are never negative, so their bits have the same order.
    pub(super) time: u64,
    pub(super) session_id: Rc<str>,
    pub(super) user_id: Rc<str>,
}

impl Ord for SortKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.time
            .cmp(&other.time)
            .then_with(|| compare_utf16(&self.session_id, &other.session_id))
            .then_with(|| compare_utf16(&self.user_id, &other.user_id))
    }
}

impl PartialOrd for SortKey {
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

/// The sessions of one app, or of one user of it.
///
/// A sorted list in chunks, none of them empty. A `BTreeSet` would take 9 kB of wasm. It is made
/// for keys in any order, but a session nearly always moves to the end.
#[derive(Debug, Default)]
pub(super) struct Order {
    chunks: Vec<Vec<SortKey>>,
    len: usize,
}

impl Order {
    /// Returns the index of the first chunk whose last key is not before `key`.
    fn chunk(&self, key: &SortKey) -> usize {
        self.chunks.partition_point(|chunk| chunk.last().is_some_and(|last| last < key))
    }

    /// Adds a key that is not in the list yet.
    pub(super) fn insert(&mut self, key: SortKey) {
        self.len += 1;
        let at = self.chunk(&key);
        let Some(chunk) = self.chunks.get_mut(at) else {
            match self.chunks.last_mut() {
                Some(last) if last.len() < CHUNK => last.push(key),
                _ => self.chunks.push(vec![key]),
            }
            return;
        };
        let place = chunk.partition_point(|other| *other < key);
        chunk.insert(place, key);
        if chunk.len() > CHUNK {
            let half = chunk.split_off(CHUNK / 2);
            self.chunks.insert(at + 1, half);
        }
    }

    /// Changes the time of a key.
    pub(super) fn shift(&mut self, key: &SortKey, time: u64) {
        let at = self.chunk(key);
        let Some(chunk) = self.chunks.get(at) else {
            return;
        };
        let Ok(place) = chunk.binary_search(key) else {
            return;
        };
        let moved = SortKey { time, ..key.clone() };
        let next = chunk.get(place + 1).or_else(|| self.chunks.get(at + 1)?.first());
        // Usually the order stays the same.
        if time >= key.time && next.is_none_or(|next| moved < *next) {
            if let Some(key) = self.chunks.get_mut(at).and_then(|chunk| chunk.get_mut(place)) {
                key.time = time;
            }
        } else {
            self.insert(moved);
            self.remove(key);
        }
    }

    pub(super) fn remove(&mut self, key: &SortKey) {
        let at = self.chunk(key);
        let Some(chunk) = self.chunks.get_mut(at) else {
            return;
        };
        if let Ok(place) = chunk.binary_search(key) {
            chunk.remove(place);
            self.len -= 1;
            if chunk.is_empty() {
                self.chunks.remove(at);
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns a page. Its cost grows with the keys skipped and returned, not with the rest.
    pub(super) fn page(&self, page: Page, descending: bool) -> Vec<&SortKey> {
        let mut ascending = self.chunks.iter().flatten();
        let mut reversed = ascending.clone().rev();
        // One type for both directions, so that the code that collects a page exists once.
        let keys: &mut dyn Iterator<Item = &SortKey> =
            if descending { &mut reversed } else { &mut ascending };
        let limit = page.limit.unwrap_or(usize::MAX);
        let mut listed = Vec::new();
        for key in keys.skip(page.offset) {
            if listed.len() == limit {
                break;
            }
            listed.push(key);
        }
        listed
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

// proptest has no random numbers on wasm32.
#[cfg(all(test, not(target_arch = "wasm32")))]
mod properties {
    use proptest::prelude::*;

    use super::*;

    fn key(time: u64) -> SortKey {
        SortKey { time, session_id: Rc::from("s"), user_id: Rc::from("u") }
    }

    fn times(order: &Order, page: Page, descending: bool) -> Vec<u64> {
        order.page(page, descending).iter().map(|key| key.time).collect()
    }

    /// A step of a test: whether it adds or removes times; the first time, how many, and how far
    /// apart.
    fn step() -> impl Strategy<Value = (bool, u64, usize, usize)> {
        (any::<bool>(), 0..3_000_u64, 1..700_usize, 1..5_usize)
    }

    fn id() -> &'static str {
        "[a\u{d7ff}\u{e000}\u{fffd}😀é]{0,4}"
    }

    proptest! {
        #[test]
        fn ids_compare_by_their_code_units(one in id(), other in id()) {
            let by_units = one.encode_utf16().cmp(other.encode_utf16());
            prop_assert_eq!(compare_utf16(&one, &other), by_units);
        }

        #[test]
        fn an_order_behaves_as_a_sorted_list(
            steps in prop::collection::vec(step(), 1..12),
            offset in 0..3_000_usize,
            limit in prop::option::of(0..600_usize),
        ) {
            let mut order = Order::default();
            let mut sorted: Vec<u64> = Vec::new();
            for (come, from, count, apart) in steps {
                for time in (from..).step_by(apart).take(count) {
                    match sorted.binary_search(&time) {
                        Err(place) if come => {
                            sorted.insert(place, time);
                            order.insert(key(time));
                        }
                        // Moved away and back, or moved to a nearby time.
                        Ok(place) if come && !sorted.contains(&(time + 1)) => {
                            sorted[place] = time + 1;
                            order.shift(&key(time), time + 1);
                        }
                        Ok(_) if come => {
                            order.shift(&key(time), 9_999);
                            order.shift(&key(9_999), time);
                        }
                        Ok(place) if !come => {
                            sorted.remove(place);
                            order.remove(&key(time));
                        }
                        Err(_) => order.remove(&key(time)),
                        Ok(_) => {}
                    }
                }
            }
            prop_assert_eq!(order.len(), sorted.len());
            prop_assert!(order.chunks.iter().all(|chunk| (1..=CHUNK).contains(&chunk.len())));
            let page = Page { offset, limit };
            let limit = limit.unwrap_or(usize::MAX);
            let ascending: Vec<u64> = sorted.iter().copied().skip(offset).take(limit).collect();
            prop_assert_eq!(times(&order, page, false), ascending);
            let descending: Vec<u64> = sorted.into_iter().rev().skip(offset).take(limit).collect();
            prop_assert_eq!(times(&order, page, true), descending);
        }
    }
}
