//! Checks whether memory has room. Memory of a wasm instance ends at 4 GB, and a failed allocation
//! ends the instance. So the room for large values is checked first.

#[cfg(target_arch = "wasm32")]
use js_sys::JsString;

use crate::core::error::Error;
use crate::platform::has_room;

/// The bytes that every write leaves for small values: names, rows, and a piece of a history on its
/// way to JavaScript. Arguments that JavaScript passes without a check also count
/// (`js/wasm/core.ts`).
pub(crate) const SPARE: usize = 2 << 20;

/// Checks that `bytes` more bytes can be allocated in one piece.
///
/// # Errors
/// Fails with `quota_exceeded` if they cannot.
pub(crate) fn require_room(bytes: usize) -> Result<(), Error> {
    if has_room(bytes) { Ok(()) } else { Err(no_room()) }
}

/// Bytes of memory for each UTF-16 code unit of a text that is copied, as in `js/wasm/core.ts`.
#[cfg(target_arch = "wasm32")]
pub(crate) const TEXT_UNIT: usize = 4;

/// The same for the text of a state, which is parsed.
#[cfg(target_arch = "wasm32")]
pub(crate) const STATE_UNIT: usize = 12;

/// Shorter texts need no check: [`SPARE`] is kept for them. In UTF-16 code units.
#[cfg(target_arch = "wasm32")]
const SHORT_TEXT: u32 = 1 << 16;

/// Copies a JavaScript text that takes `unit` bytes for each of its UTF-16 code units.
///
/// # Errors
/// Fails with `quota_exceeded` if memory has no room.
#[cfg(target_arch = "wasm32")]
pub(crate) fn copy_text(text: &JsString, unit: usize) -> Result<String, Error> {
    if text.length() > SHORT_TEXT {
        require_room(text.length() as usize * unit)?;
    }
    Ok(text.into())
}

pub(crate) fn no_room() -> Error {
    let reason = "memory has no room for that; delete sessions, or read less at once (`limit`)";
    Error::QuotaExceeded { reason: reason.to_owned() }
}
