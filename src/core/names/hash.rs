//! Hashes of names, seeded so that nobody can choose names with equal hashes.

use std::hash::{BuildHasher, Hasher};
use std::sync::LazyLock;

use foldhash::quality::FixedState;

use crate::host;

// Seeded by hand: the built-in randomness of hash maps is the same in each wasm instance. All threads
// share the seed, because they share maps.
static STATE: LazyLock<FixedState> = LazyLock::new(|| FixedState::with_seed(host::random_seed()));

/// Hashes sixteen bytes at a time. The code that foldhash has for long texts is 1 % of the wasm, and no faster
/// for names.
pub(super) fn hash(name: &str) -> u32 {
    let mut hasher = STATE.build_hasher();
    let (words, rest) = name.as_bytes().as_chunks::<16>();
    for word in words {
        hasher.write_u128(u128::from_le_bytes(*word));
    }
    let mut last = [0; 16];
    for (byte, given) in last.iter_mut().zip(rest) {
        *byte = *given;
    }
    hasher.write_u128(u128::from_le_bytes(last));
    // Otherwise names that end in NULs would have equal hashes.
    hasher.write_u64(name.len() as u64);
    hasher.finish() as u32
}
