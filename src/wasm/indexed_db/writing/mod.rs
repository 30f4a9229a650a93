//! Writes: their groups, deletions, and the sealing of pages in the background.

mod decision;
pub(super) mod deleting;
pub(super) mod group;
pub(super) mod group_rows;
mod owner_buffer;
pub(super) mod sealing;
mod sequence;
mod session_buffer;
