//! The number that orders the changes of a session.

use crate::core::session::Timestamp;

/// Increases with each stored change of a session, or of a user's or an app's state. No revision is
/// reused for the same id, not even after the session was deleted and created again. Order and
/// staleness depend on it, never on a clock.
///
/// It stays below 2^53, so that JavaScript holds it exactly.
pub type Revision = u64;

/// A revision that is never reached. As `since`, it requests no changes at all.
pub const NEVER: Revision = 9_007_199_254_740_991;

/// The revisions and the time of a stored session.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SessionHead {
    /// The revision at which the session was created. It distinguishes the session from a later one
    /// with the same id.
    pub created: Revision,
    /// The revision of its last change.
    pub revision: Revision,
    /// Never decreases.
    pub last_update_time: Timestamp,
    /// When the session was created: the `last_update_time` that it then had, but no later than that
    /// moment. [`Timestamp::MIN`] if it is not known.
    pub create_time: Timestamp,
}
