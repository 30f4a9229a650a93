//! Hashes of names, seeded so that nobody can choose names that all hash alike.

use std::hash::{BuildHasher, Hasher};

use foldhash::quality::FixedState;

use crate::platform;

thread_local! {
    // By hand: what hash maps take for chance by themselves is the same in each instance of a wasm.
    static STATE: FixedState = FixedState::with_seed(platform::random_seed());
}

/// By words: what foldhash has for long texts is a hundredth of the wasm, and no faster for names.
pub(super) fn hash(name: &str) -> u32 {
    let mut hasher = STATE.with(FixedState::build_hasher);
    let (words, rest) = name.as_bytes().as_chunks::<8>();
    for word in words {
        hasher.write_u64(u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    for (byte, given) in last.iter_mut().zip(rest) {
        *byte = *given;
    }
    hasher.write_u64(u64::from_le_bytes(last));
    // Else names that end in NULs would hash alike.
    hasher.write_u64(name.len() as u64);
    hasher.finish() as u32
}
