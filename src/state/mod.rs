//! State: one map of keys that an agent sees, kept in four scopes told apart by prefix.

mod access;
mod delta;
mod scope;
mod scoped_state;

pub use access::{ReadonlyState, State, StateMap};
pub use delta::{Change, Changes, Delta, REMOVED};
pub use scope::{KEY_PREFIX_APP, KEY_PREFIX_TEMP, KEY_PREFIX_USER, Scope};
pub use scoped_state::{ScopedState, merge_to_json};
