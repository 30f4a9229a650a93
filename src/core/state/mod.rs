//! State: one map of keys for agents, stored in four scopes that the keys' prefixes tell apart.

mod access;
mod delta;
mod scope;
mod scoped_state;

pub use access::{ReadonlyState, State};
pub use delta::{Change, Delta, REMOVED, StateChanges};
pub use scope::{ByOwner, KEY_PREFIX_APP, KEY_PREFIX_TEMP, KEY_PREFIX_USER, Scope};
pub(crate) use scoped_state::merge_changed_to_json;
pub use scoped_state::{ScopedState, merge_to_json};
