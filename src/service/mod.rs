//! The session service over any [`Storage`](crate::storage::Storage). It has every rule of creating,
//! reading, listing, appending and deleting, and takes the ADK's events and JSON values.
//!
//! The trait [`SessionService`] has the methods of adk-rust's services. [`StoredSessionService`]
//! implements it over a storage. It has more methods, such as
//! [`list_changes`](StoredSessionService::list_changes).

mod changes;
mod deep;
mod description;
mod events_page;
mod info;
mod position;
mod requests;
mod session;
mod session_service;
mod shared_state;
mod stored_event;
mod stored_session_service;
#[cfg(feature = "testing")]
pub mod text_service;
#[cfg(not(feature = "testing"))]
pub(crate) mod text_service;
mod to_text;

pub use changes::SessionChanges;
pub use description::{DescribeRequest, Description, SessionParent};
pub use events_page::{EventPage, ListEventsRequest};
pub use info::{SessionInfo, TokenUsage};
pub use position::SessionPosition;
pub use requests::{CreateRequest, DeleteRequest, GetRequest, ListPage, ListRequest};
pub use session::{Events, Session};
pub use session_service::SessionService;
pub use stored_event::{StoredEvent, StoredEvents};
pub use stored_session_service::{InMemorySessionService, Source, StoredSessionService};
pub use text_service::EventCursor;
