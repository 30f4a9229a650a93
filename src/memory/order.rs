//! Sessions in the order of lists.

use std::iter;

use crate::core::read::{ListOrder, ListPlace, ListQuery};
use crate::core::session::Timestamp;

/// The most keys in a chunk: few enough to be moved when one is inserted.
const CHUNK: usize = 256;

/// The most moved sessions that a deletion leaves to the next list.
pub(super) const MOST_MOVED: usize = CHUNK;

/// The sessions of one app, or of one user of it, in both orders of lists.
#[derive(Debug, Default)]
pub(super) struct Orders {
    pub(super) by_update: Order,
    pub(super) by_creation: Order,
}

/// Sessions ordered by a time.
///
/// A sorted list in chunks, none of them empty. With a `BTreeSet` the wasm has 7 KB more, 2.9 KB gzipped
/// (`node js/build/wasm.mjs target/size`). That is made for keys in any order, but a session nearly always
/// moves to the end.
#[derive(Debug, Default)]
pub(super) struct Order {
    chunks: Vec<Vec<ListPlace>>,
    len: usize,
}

impl Order {
    /// Returns the index of the first chunk whose last key is not before `key`.
    fn chunk_index(&self, key: &ListPlace) -> usize {
        self.chunks.partition_point(|chunk| chunk.last().is_some_and(|last| last < key))
    }

    /// Adds a key that is not in the list yet.
    pub(super) fn insert(&mut self, key: ListPlace) {
        self.len += 1;
        // Mostly it is the last one.
        let last = self.chunks.last_mut();
        if last.as_deref().and_then(|chunk| chunk.last()).is_none_or(|last| *last < key) {
            match last {
                Some(last) if last.len() < CHUNK => last.push(key),
                _ => self.chunks.push(vec![key]),
            }
            return;
        }
        let at = self.chunk_index(&key);
        let Some(chunk) = self.chunks.get_mut(at) else {
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
    pub(super) fn set_time(&mut self, key: &ListPlace, time: Timestamp) {
        let at = self.chunk_index(key);
        let Some(chunk) = self.chunks.get(at) else {
            return;
        };
        let Ok(place) = chunk.binary_search(key) else {
            return;
        };
        let moved = ListPlace { time, ..key.clone() };
        let next = chunk.get(place + 1).or_else(|| self.chunks.get(at + 1)?.first());
        // Mostly the key stays where it is.
        if time >= key.time && next.is_none_or(|next| moved < *next) {
            if let Some(key) = self.chunks.get_mut(at).and_then(|chunk| chunk.get_mut(place)) {
                key.time = time;
            }
        } else {
            self.insert(moved);
            self.remove(key);
        }
    }

    pub(super) fn remove(&mut self, key: &ListPlace) {
        let at = self.chunk_index(key);
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

    /// Returns the requested page. Its cost grows with the keys skipped
    /// and returned, not with the rest.
    pub(super) fn page(&self, request: &ListQuery) -> Vec<&ListPlace> {
        let ListQuery { order: ListOrder { descending, .. }, offset, limit, .. } = *request;
        let after = request.after.as_ref();
        let at = after.map(|after| self.chunk_index(after));
        let chunks = match (at, descending) {
            (Some(at), false) => self.chunks.get(at..),
            (Some(at), true) => self.chunks.get(..=at),
            (None, _) => None,
        };
        let mut keys = chunks.unwrap_or(&self.chunks).iter().flatten();
        // One type for both directions, so that the code that collects a page exists once.
        let keys = iter::from_fn(|| if descending { keys.next_back() } else { keys.next() });
        let keys =
            keys.skip_while(|key| after.is_some_and(|after| !key.follows(after, descending)));
        let limit = limit.unwrap_or(usize::MAX);
        let mut listed = Vec::new();
        for key in keys.skip(offset) {
            if listed.len() == limit {
                break;
            }
            listed.push(key);
        }
        listed
    }
}

#[cfg(test)]
mod properties {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;

    fn time(milliseconds: u32) -> Timestamp {
        Timestamp::from_millis(milliseconds.into()).unwrap_or_default()
    }

    fn key(milliseconds: u32) -> ListPlace {
        ListPlace { time: time(milliseconds), session_id: Arc::from("s"), user_id: Arc::from("u") }
    }

    fn times(order: &Order, request: &ListQuery) -> Vec<Timestamp> {
        order.page(request).iter().map(|key| key.time).collect()
    }

    /// A step of a test: whether it adds times or removes them, the first time, their number, and the
    /// distance between them.
    fn step() -> impl Strategy<Value = (bool, u32, usize, usize)> {
        (any::<bool>(), 0..3_000_u32, 1..700_usize, 1..5_usize)
    }

    proptest! {
        #[test]
        fn an_order_behaves_as_a_sorted_list(
            steps in prop::collection::vec(step(), 1..12),
            offset in 0..3_000_usize,
            limit in prop::option::of(0..600_usize),
            after in prop::option::of(0..4_000_u32),
        ) {
            let mut order = Order::default();
            let mut sorted: Vec<u32> = Vec::new();
            for (come, from, count, apart) in steps {
                for now in (from..).step_by(apart).take(count) {
                    match sorted.binary_search(&now) {
                        Err(place) if come => {
                            sorted.insert(place, now);
                            order.insert(key(now));
                        }
                        // Moved away and back, or moved to a nearby time.
                        Ok(place) if come && !sorted.contains(&(now + 1)) => {
                            sorted[place] = now + 1;
                            order.set_time(&key(now), time(now + 1));
                        }
                        Ok(_) if come => {
                            order.set_time(&key(now), time(9_999));
                            order.set_time(&key(9_999), time(now));
                        }
                        Ok(place) if !come => {
                            sorted.remove(place);
                            order.remove(&key(now));
                        }
                        Err(_) => order.remove(&key(now)),
                        Ok(_) => {}
                    }
                }
            }
            prop_assert_eq!(order.len(), sorted.len());
            prop_assert!(order.chunks.iter().all(|chunk| (1..=CHUNK).contains(&chunk.len())));
            let mut request =
                ListQuery { offset, limit, after: after.map(key), ..ListQuery::default() };
            let limit = limit.unwrap_or(usize::MAX);
            let (mut ascending, mut descending) = (sorted.clone(), sorted);
            ascending.retain(|time| after.is_none_or(|after| *time > after));
            descending.retain(|time| after.is_none_or(|after| *time < after));
            descending.reverse();
            for (expected, is_descending) in [(ascending, false), (descending, true)] {
                let expected = expected.into_iter().skip(offset).take(limit);
                let expected: Vec<Timestamp> = expected.map(time).collect();
                request.order.descending = is_descending;
                prop_assert_eq!(times(&order, &request), expected);
            }
        }
    }
}
