//! The order of writes of a state key. `js/values/state/write_order.ts` is the same rule in TypeScript;
//! `tests/vectors/write_order.json` tests both.

use std::collections::HashMap;

/// The place of a write in the order of all writes of an invocation; later is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp(u64);

/// The order of the writes of one invocation, for agents that run in parallel.
///
/// The agents share one state. Each collects its writes in its own delta, and events are appended
/// in the order in which the agents finish. Without further rules the last appended delta would
/// win, and an old value could overwrite a newer one. So every write gets a [`Stamp`], which its
/// delta keeps. The append of a delta has three steps:
///
/// 1. When it begins, entries that no context wrote (made by hand, an output key) count as written
///    now: [`WriteOrder::now`].
/// 2. When the appends before it are stored, entries that are superseded
///    ([`WriteOrder::is_superseded`]) are removed from the event.
/// 3. When it is stored, entries that are not overtaken ([`WriteOrder::is_overtaken`]) are applied
///    to the shared state. All entries are committed ([`WriteOrder::commit`]).
///
/// Then the shared state holds the last write of each key. The stored state is the fold of the
/// stored deltas; it holds the last of the appended writes, in any append order. A removal is a
/// write as well. `temp:` keys take the same steps but are not stored.
///
/// [`Invocation::append`](crate::Invocation::append) does all of this. This type needs no values
/// and no storage, so it can be used alone:
///
/// ```
/// use adk_session::invocation::WriteOrder;
/// let mut order = WriteOrder::default();
/// let draft = order.record("answer"); // one agent writes
/// let final_version = order.record("answer"); // another agent writes
///
/// assert!(!order.is_superseded("answer", final_version));
/// order.commit("answer", final_version); // the other agent's event is stored first
/// assert!(order.is_superseded("answer", draft)); // so the draft is left out of the one's event
/// ```
#[derive(Debug, Default)]
pub struct WriteOrder {
    clock: u64,
    keys: HashMap<Box<str>, LastWrites>,
}

/// The last writes of one key.
#[derive(Debug, Default)]
struct LastWrites {
    /// The write that the shared state holds.
    newest: Option<Stamp>,
    /// The write that the stored state holds.
    stored: Option<Stamp>,
}

impl WriteOrder {
    /// Returns the stamp of a write that happens now, but is not visible before its event is
    /// stored.
    pub fn now(&mut self) -> Stamp {
        self.clock += 1;
        Stamp(self.clock)
    }

    /// Returns the stamp of a write that happens now, through a context, and is visible at once.
    pub fn record(&mut self, key: &str) -> Stamp {
        let stamp = self.now();
        self.last(key).newest = Some(stamp);
        stamp
    }

    /// Whether the shared state holds a newer write of the key. Applying this one would undo it.
    pub fn is_overtaken(&self, key: &str, stamp: Stamp) -> bool {
        self.keys.get(key).is_some_and(|last| last.newest > Some(stamp))
    }

    /// Whether a newer write of the key is stored already. Storing this one would undo it.
    pub fn is_superseded(&self, key: &str, stamp: Stamp) -> bool {
        self.keys.get(key).is_some_and(|last| last.stored > Some(stamp))
    }

    /// Notes that the event with this write is stored.
    pub fn commit(&mut self, key: &str, stamp: Stamp) {
        let last = self.last(key);
        last.newest = last.newest.max(Some(stamp));
        last.stored = last.stored.max(Some(stamp));
    }

    fn last(&mut self, key: &str) -> &mut LastWrites {
        self.keys.entry(key.into()).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_committed_write_does_not_supersede_itself() {
        let mut order = WriteOrder::default();
        let stamp = order.record("k");
        order.commit("k", stamp);
        assert!(!order.is_superseded("k", stamp) && !order.is_overtaken("k", stamp));
    }

    #[test]
    fn a_stored_hand_made_entry_overtakes_earlier_writes() {
        let mut order = WriteOrder::default();
        let (written, by_hand) = (order.record("k"), order.now());
        assert!(!order.is_overtaken("k", written));
        order.commit("k", by_hand);
        assert!(order.is_overtaken("k", written) && order.is_superseded("k", written));
    }

    #[test]
    fn keys_are_ordered_independently() {
        let mut order = WriteOrder::default();
        let older = order.record("k");
        let newer = order.record("other");
        order.commit("other", newer);
        assert!(!order.is_superseded("k", older) && !order.is_overtaken("k", older));
    }

    #[test]
    fn a_write_that_is_stored_late_is_not_the_newest() {
        let mut order = WriteOrder::default();
        let (older, newer) = (order.record("k"), order.record("k"));
        order.commit("k", older);
        assert!(order.is_overtaken("k", older) && !order.is_overtaken("k", newer));
    }
}
