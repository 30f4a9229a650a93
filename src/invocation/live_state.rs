//! The state that all contexts of an invocation share.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use super::write_order::{Stamp, WriteOrder};
use crate::core::state::{REMOVED, Scope};

/// A value with the stamp of its write; [`REMOVED`] removes its key.
#[derive(Debug, Clone)]
pub(super) struct Write {
    pub(super) value: Value,
    pub(super) stamp: Stamp,
}

/// Writes by key, as a delta holds them.
pub(super) type Writes = BTreeMap<String, Write>;

/// [`LiveState`] behind a lock, which is never held across an await.
#[derive(Debug)]
pub(super) struct LockedState {
    state: Mutex<LiveState>,
}

impl LockedState {
    pub(super) fn new(values: HashMap<String, Value>) -> Self {
        let values = values.into_iter().collect();
        let state = LiveState { values, order: WriteOrder::default(), has_ended: false };
        Self { state: Mutex::new(state) }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, LiveState> {
        // A panic cannot leave the state half changed, so a poisoned lock is still usable.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The session's current state for its agents, stored or not, with `temp:` keys.
#[derive(Debug)]
pub(super) struct LiveState {
    values: BTreeMap<String, Value>,
    order: WriteOrder,
    has_ended: bool,
}

impl LiveState {
    pub(super) fn values(&self) -> &BTreeMap<String, Value> {
        &self.values
    }

    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Writes a value through a context. All contexts see it at once. Returns `None` after the end.
    pub(super) fn write(&mut self, key: &str, value: Value) -> Option<Write> {
        if self.has_ended {
            return None;
        }
        let stamp = self.order.record(key);
        self.apply(key, &value);
        Some(Write { value, stamp })
    }

    /// Converts delta entries that no context wrote to writes that happen now.
    pub(super) fn by_hand(&mut self, delta: HashMap<String, Value>) -> Writes {
        let stamp = self.order.now();
        delta.into_iter().map(|(key, value)| (key, Write { value, stamp })).collect()
    }

    /// Returns the delta to store, without `temp:` keys and superseded writes.
    pub(super) fn storable(&self, writes: &Writes) -> HashMap<String, Value> {
        let is_stored = |key: &str, write: &Write| {
            Scope::split(key).0 != Scope::Temp && !self.order.is_superseded(key, write.stamp)
        };
        let stored = writes.iter().filter(|(key, write)| is_stored(key, write));
        stored.map(|(key, write)| (key.clone(), write.value.clone())).collect()
    }

    /// Notes that the event with these writes is stored.
    pub(super) fn commit(&mut self, writes: &Writes) {
        for (key, Write { value, stamp }) in writes {
            if !self.order.is_overtaken(key, *stamp) {
                self.apply(key, value);
            }
            self.order.commit(key, *stamp);
        }
        if self.has_ended {
            self.drop_temp();
        }
    }

    pub(super) fn end(&mut self) {
        self.has_ended = true;
        self.drop_temp();
    }

    fn apply(&mut self, key: &str, value: &Value) {
        if value == REMOVED {
            self.values.remove(key);
        } else {
            self.values.insert(key.to_owned(), value.clone());
        }
    }

    fn drop_temp(&mut self) {
        self.values.retain(|key, _| Scope::split(key).0 != Scope::Temp);
    }
}
