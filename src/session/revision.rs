//! The number that orders the changes of a session.

/// Grows with each stored change of a session (or of a user's or an app's state) and is never
/// used again for the same id, also after the session was deleted and created anew. Order and
/// staleness are decided by it, never by a clock.
///
/// It stays below 2^53, so that JavaScript holds it exactly.
pub type Revision = u64;

/// A revision that nothing has reached: as `since`, it asks for no changes at all.
pub const NEVER: Revision = 9_007_199_254_740_991;

/// What is known of a stored session beside its state and events.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SessionHead {
    /// The revision that the session was created at. Tells a session from a later one of that id.
    pub created: Revision,
    /// The revision of its last change.
    pub revision: Revision,
    /// Milliseconds since 1970; never goes back.
    pub last_update_time: f64,
}
