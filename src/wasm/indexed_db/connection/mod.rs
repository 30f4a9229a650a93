//! Connections and transactions.

pub(super) mod access;
pub(super) mod database;
pub(super) mod listener;
pub(super) mod opening;
pub(super) mod timer;
pub(super) mod transaction;
