//! An index from names to positions in a list.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::core::names::hash::hash;

/// An index from names to positions in a list that holds the names.
///
/// It is one type for all kinds of names: the wasm would hold the code of a map once for each type.
#[derive(Debug, Clone, Default)]
pub(crate) struct Index {
    table: HashTable<TableEntry>,
}

/// The hash is stored with the position, so that growing the table needs no names.
#[derive(Debug, Clone, Copy)]
struct TableEntry {
    hash: u32,
    position: u32,
}

/// Spreads the hash for the table, which also uses its high bits. The table has code for each function
/// that it gets hashes from, so there is one.
fn hash_of(entry: &TableEntry) -> u64 {
    spread(entry.hash)
}

fn spread(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
}

impl Index {
    /// Returns the position of that name. `is_named` says whether a position holds it.
    pub(crate) fn find(&self, name: &str, is_named: &dyn Fn(usize) -> bool) -> Option<usize> {
        if self.is_empty() {
            return None;
        }
        let hash = hash(name);
        let is_wanted =
            |entry: &TableEntry| entry.hash == hash && is_named(entry.position as usize);
        self.table.find(spread(hash), is_wanted).map(|entry| entry.position as usize)
    }

    /// Does the same as [`Index::find`], but adds a missing name at `position` and returns `None`.
    pub(crate) fn find_or_insert(
        &mut self,
        name: &str,
        position: usize,
        is_named: &dyn Fn(usize) -> bool,
    ) -> Option<usize> {
        let hash = hash(name);
        let is_wanted =
            |entry: &TableEntry| entry.hash == hash && is_named(entry.position as usize);
        match self.table.entry(spread(hash), is_wanted, hash_of) {
            Entry::Occupied(entry) => Some(entry.get().position as usize),
            Entry::Vacant(entry) => {
                entry.insert(TableEntry { hash, position: position as u32 });
                None
            }
        }
    }

    /// Removes a name that [`Index::find`] found at that position.
    pub(crate) fn remove(&mut self, name: &str, position: usize) {
        let is_wanted = |entry: &TableEntry| entry.position as usize == position;
        if let Ok(entry) = self.table.find_entry(spread(hash(name)), is_wanted) {
            entry.remove();
        }
    }

    /// Reserves room for `count` more names. Returns `false` if memory has none.
    pub(crate) fn try_reserve(&mut self, count: usize) -> bool {
        self.table.try_reserve(count, hash_of).is_ok()
    }

    pub(crate) fn clear(&mut self) {
        self.table = HashTable::new();
    }

    pub(crate) fn len(&self) -> usize {
        self.table.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.table.is_empty()
    }
}

#[cfg(test)]
mod properties {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_index_behaves_as_a_map(steps in prop::collection::vec((any::<bool>(), 0..300_u32), 0..2_000)) {
            let mut index = Index::default();
            let mut names: Vec<String> = Vec::new();
            let mut expected: HashMap<String, usize> = HashMap::new();
            for (add, number) in steps {
                let name = format!("name {number}");
                let found = index.find(&name, &|position| names[position] == name);
                prop_assert_eq!(found, expected.get(&name).copied());
                match found {
                    None if add => {
                        let is_named = |at: usize| names[at] == name;
                        prop_assert_eq!(index.find_or_insert(&name, names.len(), &is_named), None);
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
