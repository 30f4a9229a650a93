//! Sessions: their keys, the revisions that order their changes, and the parts that reads return.

mod key;
mod revision;
mod timestamp;
mod window;

pub use key::{MAX_ID_BYTES, SessionKey, check_id};
pub use revision::{NEVER, Revision, SessionHead};
pub use timestamp::{MAX_TIMESTAMP, check_timestamp};
pub use window::{Page, PagePosition, Window, check_count};
