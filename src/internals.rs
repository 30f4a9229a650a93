//! What the crate `adk-session-wasm` needs of the inside, beside the methods that are hidden where they stand. It is
//! for nobody else, and may change in any version.

pub use crate::core::error::reason::{broken_storage, storage_error};
pub use crate::core::names::NameMap;
pub use crate::core::room::{SPARE, require_room};
pub use crate::core::session::key::check_owner;
pub use crate::core::template::missing::{artifact_error, missing_error};
pub use crate::core::view_rules;
pub use crate::core::write::rows::merge_scopes;
pub use crate::host::{has_room, now, random_seed};
