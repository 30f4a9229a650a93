//! Writes: their queue and groups, deletions, and the sealing of pages in the background.

mod decision;
pub(super) mod deleting;
pub(super) mod group;
mod group_rows;
pub(super) mod owner_buffer;
pub(super) mod queue;
pub(super) mod sealing;
pub(super) mod sequence;
pub(super) mod session_buffer;
