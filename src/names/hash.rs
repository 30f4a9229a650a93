//! Hashes of names, seeded so that nobody can choose names that all hash alike.

use std::hash::BuildHasher;

use foldhash::quality::FixedState;

use crate::platform;

thread_local! {
    // By hand: what hash maps take for chance by themselves is the same in each instance of a wasm.
    static STATE: FixedState = FixedState::with_seed(platform::random_seed());
}

pub(super) fn hash(name: &str) -> u32 {
    STATE.with(|state| state.hash_one(name)) as u32
}
