//! What has changed in a session since a revision.

use serde_json::{Map, Value};

use crate::core::error::Error;
use crate::core::read::{Read, Rows};
use crate::core::session::{Revision, SessionHead, SessionKey};
use crate::core::storage::Storage;
use crate::core::write::{SessionRow, merge_scopes};
use crate::service::session::read_state;
use crate::service::{StoredEvent, StoredSessionService};

/// With so many changed events the session has to be read as a whole: there may be more.
const MOST_CHANGED: usize = 1001;

/// The changes of a session since a revision.
#[derive(Debug, Clone)]
pub struct SessionChanges {
    /// The session's revisions and times now. [`SessionHead::revision`] is the `since` of the next
    /// call.
    pub head: SessionHead,
    /// The events that were appended or replaced since, by `seq`, and the state now. An event with a `seq` up
    /// to `since` was there before. `None` if the
    /// session has to be read as a whole: it was deleted or created again, more than 1,000 events have
    /// changed, or `since` is later than its revision.
    pub changes: Option<(Vec<StoredEvent>, Map<String, Value>)>,
}

impl<S: Storage> StoredSessionService<S> {
    /// Returns what has changed in a session since a revision. It writes nothing.
    ///
    /// # Errors
    /// Fails with `not_found` if the session does not exist, and with `corrupt_record` if a stored
    /// record cannot be read.
    ///
    /// ```
    /// use adk_session::{CreateRequest, Event, InMemorySessionService, SessionService};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), adk_session::Error> {
    /// let service = InMemorySessionService::new();
    /// let (app_name, user_id) = ("shop".to_owned(), "ada".to_owned());
    /// let session =
    ///     service.create(CreateRequest { app_name, user_id, ..Default::default() }).await?;
    /// service.append_event_to(session.key(), Event::new("invocation-1")).await?;
    /// let listed = service.list_changes(session.key(), session.revision()).await?;
    /// assert_eq!(listed.changes.map(|(events, _)| events.len()), Some(1));
    /// let listed = service.list_changes(session.key(), listed.head.revision).await?;
    /// assert_eq!(listed.changes.map(|(events, _)| events.len()), Some(0));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn list_changes(
        &self,
        key: &SessionKey,
        since: Revision,
    ) -> Result<SessionChanges, Error> {
        let read = Read::Since { revision: since, limit: Some(MOST_CHANGED) };
        let rows = self.storage().read(&key.clone().into(), &read, &()).await?;
        let Rows { session, shared, rows: mut changed, .. } = rows;
        let missing = || Error::NotFound { session_id: key.session_id.clone() };
        let SessionRow { head, state, .. } = session.ok_or_else(missing)?;
        if since < head.created || since > head.revision || changed.len() >= MOST_CHANGED {
            return Ok(SessionChanges { head, changes: None });
        }
        changed.sort_by_key(|row| row.seq);
        let events = StoredEvent::read(&key.session_id, changed)?;
        let record = || format!("state of session {:?}", key.session_id);
        let state = merge_scopes(&state, shared.as_ref().map(Option::as_ref))?;
        let state = read_state(&state, record)?;
        Ok(SessionChanges { head, changes: Some((events, state)) })
    }
}
