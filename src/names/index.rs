//! Positions by name.

use std::hash::{DefaultHasher, Hasher};

use hashbrown::HashTable;

use crate::platform;

thread_local! {
    /// Hashed before each name, so that nobody can choose names that all hash alike.
    static SEED: u64 = platform::random_seed();
}

/// Positions by name, for lists that hold the names themselves.
///
/// The one hash table of the core. What stands at a position is asked of the caller through
/// `dyn`: with types, the table would stand in the wasm once for each of its users.
#[derive(Debug, Clone, Default)]
pub(crate) struct Index {
    entries: HashTable<Entry>,
}

/// The hash stays with the position, so that growing asks nobody for names.
#[derive(Debug, Clone, Copy)]
struct Entry {
    hash: u32,
    position: u32,
}

impl Index {
    /// The position of that name; `is_named` tells whether a position holds it.
    pub(crate) fn find(&self, name: &str, is_named: &dyn Fn(usize) -> bool) -> Option<usize> {
        let hash = hash(name);
        let same = |entry: &Entry| entry.hash == hash && is_named(entry.position as usize);
        self.entries.find(spread(hash), same).map(|entry| entry.position as usize)
    }

    /// Adds a name that is not there yet.
    pub(crate) fn insert(&mut self, name: &str, position: usize) {
        let entry = Entry { hash: hash(name), position: position as u32 };
        self.entries.insert_unique(spread(entry.hash), entry, |entry| spread(entry.hash));
    }

    /// Takes out a name that [`Index::find`] found at that position.
    pub(crate) fn remove(&mut self, name: &str, position: usize) {
        let same = |entry: &Entry| entry.position as usize == position;
        if let Ok(entry) = self.entries.find_entry(spread(hash(name)), same) {
            entry.remove();
        }
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// SipHash, with a seed of our own: what the standard library and hashbrown take for chance is the
/// same in each instance of a wasm.
fn hash(name: &str) -> u32 {
    let mut hasher = DefaultHasher::new();
    hasher.write_u64(SEED.with(|seed| *seed));
    hasher.write(name.as_bytes());
    hasher.finish() as u32
}

/// hashbrown takes bits from both ends.
fn spread(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
}
