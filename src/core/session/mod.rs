//! Sessions: their keys, and the revisions and times that order their changes.

mod description;
pub(crate) mod key;
mod revision;
mod timestamp;

pub use description::{DescriptionChange, DescriptionRow};
pub use key::{MAX_ID_BYTES, SessionKey};
pub(crate) use key::{check_id, check_owner};
pub use revision::{NEVER, Revision, SessionHead};
pub use timestamp::Timestamp;
