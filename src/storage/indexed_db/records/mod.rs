//! What lies in the stores, under which keys, and what is wrong with it.

pub(super) mod failure;
pub(super) mod keys;
pub(super) mod object;
pub(super) mod page;
pub(super) mod record;
pub(super) mod schema;
