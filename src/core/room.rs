//! Checks whether memory has room. Memory of a wasm instance ends at 4 GB, and a failed allocation
//! ends the instance. So the room for large values is checked first.

use crate::core::error::Error;
use crate::host::has_room;

/// The most bytes of a row that is handed out: its fields, and an id of up to 512 bytes.
pub(crate) const ROW: usize = 640;
/// The most bytes that a comparison needs for each value beside the trees: a pair, a member of an
/// object and its key, in lists that double.
pub(crate) const COMPARED: usize = 128;
/// The bytes that every write leaves for small values: names, rows, and a piece of a history on its
/// way to JavaScript. Arguments that JavaScript passes without a check also count
/// (`js/core/wasm/core.ts`).
pub const SPARE: usize = 2 << 20;

/// Checks that `bytes` more bytes can be allocated in one piece.
///
/// # Errors
/// Fails with `quota_exceeded` if they cannot.
pub fn require_room(bytes: usize) -> Result<(), Error> {
    if has_room(bytes) { Ok(()) } else { Err(no_room()) }
}

pub(crate) fn no_room() -> Error {
    let reason = "memory has no room for that; delete sessions, or read less at once (`limit`)";
    Error::QuotaExceeded { reason: reason.to_owned() }
}
