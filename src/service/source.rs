//! The clock of a service, and its source of ids.

use std::fmt::Debug;

use crate::core::session::Timestamp;
use crate::host::{self, SendOutsideWasm, SyncOutsideWasm};

/// Gives a service the times of new sessions, and ids of sessions and events that have none. `()` is the host's
/// clock and random UUIDs.
///
/// ```
/// use adk_session::memory::MemoryStorage;
/// use adk_session::service::{Source, StoredSessionService};
/// use adk_session::{CreateRequest, SessionService, Timestamp};
///
/// #[derive(Debug)]
/// struct Fixed;
///
/// impl Source for Fixed {
///     fn now(&self) -> Timestamp {
///         Timestamp::MIN
///     }
///
///     fn new_id(&self) -> String {
///         "s-1".to_owned()
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), adk_session::Error> {
/// let service = StoredSessionService::over(MemoryStorage::new()).with_source(Fixed);
/// let (app_name, user_id) = ("shop".to_owned(), "ada".to_owned());
/// let session = service.create(CreateRequest { app_name, user_id, ..Default::default() }).await?;
/// assert_eq!((session.id(), session.last_update_time()), ("s-1", Timestamp::MIN));
/// # Ok(())
/// # }
/// ```
pub trait Source: Debug + SendOutsideWasm + SyncOutsideWasm {
    /// Returns the current time.
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    /// Returns a fresh id.
    fn new_id(&self) -> String {
        host::new_id()
    }
}

impl Source for () {}
