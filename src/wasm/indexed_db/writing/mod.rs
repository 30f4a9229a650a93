//! Writes: their groups, deletions, and the sealing of pages in the background.

pub(super) mod deleting;
pub(super) mod group;
mod group_decisions;
pub(super) mod group_rows;
mod owner_buffer;
pub(super) mod sealing;
mod sequence;
mod session_buffer;
