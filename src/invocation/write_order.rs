//! Which of several writes of one state key is the newest. `js/state/write_order.ts` is the same rule in
//! TypeScript; `tests/vectors/write_order.json` is for both.

use std::collections::HashMap;

/// The place of a write in the order of all writes of an invocation: the later, the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp(u64);

/// The order of the writes of one invocation, for agents that run in parallel.
///
/// They share one state, and each collects its writes in a delta of its own; their events are
/// appended in whatever order the agents finish. Without more, the delta that is appended last wins,
/// even where another agent wrote the key later: an old value would roll back a newer one. So every
/// write gets a [`Stamp`], which goes with it in its delta, and the append of a delta has three steps:
///
/// 1. when it begins, entries that no context wrote (made by hand, an output key) count as written
///    now: [`WriteOrder::now`];
/// 2. when those ahead of it are stored, every entry that [`WriteOrder::is_superseded`] is left out of
///    the event;
/// 3. when it is stored, every entry that is not [`WriteOrder::is_overtaken`] is applied to the shared
///    state, and all of them are [`WriteOrder::commit`]ted.
///
/// Then the shared state holds the last write of each key, and the stored state, which is the fold of
/// the stored deltas, the last write among those appended, in whatever order they were. A removal is a
/// write like any other. `temp:` keys go through the same steps, but for the storing.
///
/// [`Invocation::append`](crate::Invocation::append) does all that. It knows no value and no storage,
/// so it can be used alone:
///
/// ```
/// use adk_session_wasm::invocation::WriteOrder;
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

/// Of one key.
#[derive(Debug, Default)]
struct LastWrites {
    /// The write that readers of the shared state see.
    newest: Option<Stamp>,
    /// The write that the stored state holds.
    stored: Option<Stamp>,
}

impl WriteOrder {
    /// The place of a write that happens now and that nobody sees before its event is stored.
    pub fn now(&mut self) -> Stamp {
        self.clock += 1;
        Stamp(self.clock)
    }

    /// The place of a write that happens now and is seen at once: through a context.
    pub fn record(&mut self, key: &str) -> Stamp {
        let stamp = self.now();
        self.last(key).newest = Some(stamp);
        stamp
    }

    /// Whether the shared state holds a newer write of the key, which applying this one would roll
    /// back.
    pub fn is_overtaken(&self, key: &str, stamp: Stamp) -> bool {
        self.keys.get(key).is_some_and(|last| last.newest > Some(stamp))
    }

    /// Whether a newer write of the key is stored already, which storing this one would roll back.
    pub fn is_superseded(&self, key: &str, stamp: Stamp) -> bool {
        self.keys.get(key).is_some_and(|last| last.stored > Some(stamp))
    }

    /// Says that the event which carries that write is stored.
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
    fn what_is_committed_is_not_newer_than_itself() {
        let mut order = WriteOrder::default();
        let stamp = order.record("k");
        order.commit("k", stamp);
        assert!(!order.is_superseded("k", stamp) && !order.is_overtaken("k", stamp));
    }

    #[test]
    fn an_entry_made_by_hand_overtakes_what_was_written_before_once_it_is_stored() {
        let mut order = WriteOrder::default();
        let (written, by_hand) = (order.record("k"), order.now());
        assert!(!order.is_overtaken("k", written));
        order.commit("k", by_hand);
        assert!(order.is_overtaken("k", written) && order.is_superseded("k", written));
    }

    #[test]
    fn keys_do_not_touch_each_other() {
        let mut order = WriteOrder::default();
        let older = order.record("k");
        let newer = order.record("other");
        order.commit("other", newer);
        assert!(!order.is_superseded("k", older) && !order.is_overtaken("k", older));
    }
}
