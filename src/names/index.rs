//! Positions by name.

use crate::names::hash::hash;

/// Positions by name, for lists that hold the names themselves.
///
/// A hash table with linear probing, the only one of the core. A general one is five times the
/// wasm, and stands there once for each type of key.
#[derive(Debug, Clone, Default)]
pub(crate) struct Index {
    /// None at all, or a power of two of them; at least a quarter is free.
    slots: Vec<Slot>,
    len: usize,
}

/// The hash stays with the position, so that growing asks nobody for names.
#[derive(Debug, Clone, Copy)]
struct Slot {
    hash: u32,
    position: u32,
}

/// A table's size to begin with.
const LEAST: usize = 4;
const FREE: Slot = Slot { hash: 0, position: u32::MAX };

impl Slot {
    fn is_free(self) -> bool {
        self.position == FREE.position
    }
}

impl Index {
    /// The position of that name; `is_named` tells whether a position holds it.
    pub(crate) fn find(&self, name: &str, is_named: &dyn Fn(usize) -> bool) -> Option<usize> {
        let slot = if self.slots.len() <= LEAST {
            // Comparing so few costs less than hashing.
            let mut taken = self.slots.iter().filter(|slot| !slot.is_free());
            *taken.find(|slot| is_named(slot.position as usize))?
        } else {
            let hash = hash(name);
            let same = |slot: Slot| slot.hash == hash && is_named(slot.position as usize);
            self.slot(self.seek(hash, &same))
        };
        (!slot.is_free()).then_some(slot.position as usize)
    }

    /// Adds a name that is not there yet.
    pub(crate) fn insert(&mut self, name: &str, position: usize) {
        self.len += 1;
        if self.len * 4 > self.slots.len() * 3 {
            let room = (self.slots.len() * 2).max(LEAST);
            for slot in std::mem::replace(&mut self.slots, vec![FREE; room]) {
                self.put(slot);
            }
        }
        self.put(Slot { hash: hash(name), position: position as u32 });
    }

    /// Takes out a name that [`Index::find`] found at that position.
    pub(crate) fn remove(&mut self, name: &str, position: usize) {
        let mut hole = self.seek(hash(name), &|slot| slot.position as usize == position);
        if self.slot(hole).is_free() {
            return;
        }
        self.len -= 1;
        // Whatever was put behind the hole because it was taken moves into it, so that no search
        // ends there too early.
        let mut at = hole;
        loop {
            at = self.wrap(at + 1);
            let slot = self.slot(at);
            if slot.is_free() {
                break;
            }
            let from_home = self.wrap(at.wrapping_sub(slot.hash as usize));
            let from_hole = self.wrap(at.wrapping_sub(hole));
            if from_home >= from_hole {
                self.set(hole, slot);
                hole = at;
            }
        }
        self.set(hole, FREE);
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The first slot for that hash which is wanted, or else the first that is free.
    fn seek(&self, hash: u32, is_wanted: &dyn Fn(Slot) -> bool) -> usize {
        let mut at = self.wrap(hash as usize);
        loop {
            let slot = self.slot(at);
            if slot.is_free() || is_wanted(slot) {
                return at;
            }
            at = self.wrap(at + 1);
        }
    }

    fn put(&mut self, slot: Slot) {
        if !slot.is_free() {
            let at = self.seek(slot.hash, &|_| false);
            self.set(at, slot);
        }
    }

    fn wrap(&self, at: usize) -> usize {
        at & self.slots.len().wrapping_sub(1)
    }

    fn slot(&self, at: usize) -> Slot {
        self.slots.get(at).copied().unwrap_or(FREE)
    }

    fn set(&mut self, at: usize, slot: Slot) {
        if let Some(place) = self.slots.get_mut(at) {
            *place = slot;
        }
    }
}

// proptest has no random numbers on wasm32.
#[cfg(all(test, not(target_arch = "wasm32")))]
mod properties {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_index_is_a_map(steps in prop::collection::vec((any::<bool>(), 0..300_u32), 0..2_000)) {
            let mut index = Index::default();
            let mut names: Vec<String> = Vec::new();
            let mut expected: HashMap<String, usize> = HashMap::new();
            for (add, number) in steps {
                let name = format!("name {number}");
                let found = index.find(&name, &|position| names[position] == name);
                prop_assert_eq!(found, expected.get(&name).copied());
                match found {
                    None if add => {
                        index.insert(&name, names.len());
                        expected.insert(name.clone(), names.len());
                        names.push(name);
                    }
                    Some(position) if !add => {
                        index.remove(&name, position);
                        expected.remove(&name);
                    }
                    _ => {}
                }
                prop_assert_eq!(index.len(), expected.len());
            }
            for (name, position) in expected {
                prop_assert_eq!(index.find(&name, &|at| names[at] == name), Some(position));
            }
        }
    }
}
