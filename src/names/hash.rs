//! SipHash-1-3 with a key of chance, so that nobody can choose names that all hash alike.
//!
//! The standard library has it, but what its `RandomState` takes for chance is the same in each
//! instance of a wasm, and its many small functions are neither small nor fast there.

use crate::platform;

thread_local! {
    static KEY: [u64; 2] = [platform::random_seed(), platform::random_seed()];
}

pub(super) fn hash(name: &str) -> u32 {
    KEY.with(|key| siphash(*key, name.as_bytes())) as u32
}

fn siphash([key0, key1]: [u64; 2], bytes: &[u8]) -> u64 {
    let mut state = State(
        key0 ^ 0x736f_6d65_7073_6575,
        key1 ^ 0x646f_7261_6e64_6f6d,
        key0 ^ 0x6c79_6765_6e65_7261,
        key1 ^ 0x7465_6462_7974_6573,
    );
    let (words, rest) = bytes.as_chunks();
    for word in words {
        state.absorb(u64::from_le_bytes(*word));
    }
    let mut last = (bytes.len() as u64) << 56;
    for (at, byte) in rest.iter().enumerate() {
        last |= u64::from(*byte) << (8 * at);
    }
    state.absorb(last);
    state.2 ^= 0xff;
    for _ in 0..3 {
        state.round();
    }
    state.0 ^ state.1 ^ state.2 ^ state.3
}

struct State(u64, u64, u64, u64);

impl State {
    #[inline(always)]
    fn absorb(&mut self, word: u64) {
        self.3 ^= word;
        self.round();
        self.0 ^= word;
    }

    // Else the state would lie in memory, not in locals.
    #[inline(always)]
    fn round(&mut self) {
        let Self(v0, v1, v2, v3) = self;
        *v0 = v0.wrapping_add(*v1);
        *v1 = v1.rotate_left(13) ^ *v0;
        *v0 = v0.rotate_left(32);
        *v2 = v2.wrapping_add(*v3);
        *v3 = v3.rotate_left(16) ^ *v2;
        *v0 = v0.wrapping_add(*v3);
        *v3 = v3.rotate_left(21) ^ *v0;
        *v2 = v2.wrapping_add(*v1);
        *v1 = v1.rotate_left(17) ^ *v2;
        *v2 = v2.rotate_left(32);
    }
}

#[cfg(test)]
mod tests {
    use std::hash::{DefaultHasher, Hasher};

    use super::*;

    /// The standard library's has the key 0.
    #[test]
    fn it_is_the_siphash_of_the_standard_library() {
        for length in 0..70 {
            let bytes: Vec<u8> = (0..length).map(|number: u8| number.wrapping_mul(37)).collect();
            let mut expected = DefaultHasher::new();
            expected.write(&bytes);
            assert_eq!(siphash([0, 0], &bytes), expected.finish());
        }
    }

    #[test]
    fn the_key_counts() {
        assert_ne!(siphash([0, 1], b"name"), siphash([0, 0], b"name"));
        assert_ne!(siphash([1, 0], b"name"), siphash([0, 0], b"name"));
    }
}
