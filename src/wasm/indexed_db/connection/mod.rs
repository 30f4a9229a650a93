//! Connections and transactions.

pub(super) mod access;
pub(super) mod database;
pub(super) mod one_shot;
pub(super) mod opening;
pub(super) mod timer;
pub(super) mod transaction;
pub(super) mod transaction_events;
