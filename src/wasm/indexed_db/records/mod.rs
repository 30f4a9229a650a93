//! The records in the stores: keys, layout, and checks for damage.

pub(super) mod failure;
pub(super) mod keys;
pub(super) mod page;
pub(super) mod record;
pub(super) mod schema;
