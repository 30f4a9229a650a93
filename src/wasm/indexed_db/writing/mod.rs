//! Writes: their groups, deletions, and the writing of page records in the background.

pub(super) mod deleting;
pub(super) mod group;
mod group_decisions;
pub(super) mod group_rows;
mod owner_buffer;
pub(super) mod page_writer;
mod sequence;
mod session_buffer;
