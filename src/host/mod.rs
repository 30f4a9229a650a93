//! What the library needs of its host, and nothing else knows: the time, fresh ids, random numbers,
//! Unicode tables, the reading of numbers, room in memory, threads.
//!
//! It is the only module that knows which host there is.

#[cfg(target_arch = "wasm32")]
#[path = "javascript.rs"]
mod this_host;
#[cfg(not(target_arch = "wasm32"))]
#[path = "native.rs"]
mod this_host;

pub use this_host::{
    BoxFuture, ErrorSource, SendOutsideWasm, SyncOutsideWasm, has_room, now, random_seed,
};
pub(crate) use this_host::{Guard, is_identifier, lock, new_id, number};
