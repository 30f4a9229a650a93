//! Whether memory has room. The memory of a wasm instance ends at 4 GB, and an allocation that fails ends the
//! instance. So the room for what is large is asked for first.

use std::hint::black_box;

use crate::error::Error;

/// The room that every write leaves for what is small: names, rows, arguments that JavaScript passes without
/// asking (`js/wasm/core.ts`), and a piece of a history on its way out.
pub(crate) const SPARE: usize = 2 << 20;

/// Makes sure that so many more bytes can be allocated in one piece.
///
/// # Errors
/// `quota_exceeded`.
pub(crate) fn require_room(bytes: usize) -> Result<(), Error> {
    if has_room(bytes) { Ok(()) } else { Err(no_room()) }
}

pub(crate) fn no_room() -> Error {
    let reason = "memory has no room for that; delete sessions, or read less at once (`limit`)";
    Error::QuotaExceeded { reason: reason.to_owned() }
}

/// See [`require_room`].
pub(crate) fn has_room(bytes: usize) -> bool {
    // Elsewhere the system has its own ways, and reserving takes a call of it.
    if !cfg!(target_arch = "wasm32") {
        return true;
    }
    let mut probe = Vec::<u8>::new();
    let is_there = probe.try_reserve_exact(bytes).is_ok();
    // Else the compiler leaves out an allocation that nobody uses.
    black_box(&mut probe);
    is_there
}
