//! Events: the steps of a conversation.

mod adk_event;
mod marker;
mod new_event;
mod text;

pub use adk_event::{Event, EventActions};
pub use new_event::{NewEvent, Replaceable};
pub(crate) use text::RewindMembers;
pub use text::{EventText, ForeignText, TextSlice};
