//! The numbers of a session, counted from its stored events.
//!
//! TypeScript counts them in `js/core/storage/reads/session_info.ts`, because its events are parsed already. The
//! conformance suite runs the same cases over both.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::core::error::Error;
use crate::core::read::Read;
use crate::core::session::{SessionKey, Timestamp};
use crate::core::storage::Storage;
use crate::service::session::corrupt_event;
use crate::service::{Description, StoredSessionService};

/// The model of events that name none.
const UNKNOWN_MODEL: &str = "unknown";

/// The tokens of a model, by the names of `usageMetadata` that end in `TokenCount`.
pub type TokenUsage = BTreeMap<String, u64>;

/// The times, numbers and names of a session, as
/// [`session_info`](crate::service::StoredSessionService::session_info) returns them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionInfo {
    /// The first time of its last update; [`Timestamp::MIN`] if it is not known.
    pub create_time: Timestamp,
    /// The time of its last update.
    pub last_update_time: Timestamp,
    /// The number of its events.
    pub event_count: usize,
    /// The size of their JSON texts in bytes.
    pub bytes: usize,
    /// Their tokens by model: by their `modelVersion`, or by `unknown` where they have none. An event
    /// that was replaced counts once, as it is now.
    pub usage: BTreeMap<String, TokenUsage>,
    /// Its title, its labels, and the state of its own that it was created with.
    pub description: Description,
}

impl<S: Storage> StoredSessionService<S> {
    /// Counts what a session holds: its events, their bytes and their tokens. Reads all its events.
    ///
    /// # Errors
    /// Fails with `not_found` if the session does not exist, and with `corrupt_record` if an event
    /// cannot be read.
    ///
    /// ```
    /// use adk_session::{CreateRequest, Event, InMemorySessionService, SessionService};
    /// use serde_json::json;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), adk_session::Error> {
    /// let service = InMemorySessionService::new();
    /// let (app_name, user_id) = ("shop".to_owned(), "ada".to_owned());
    /// let session =
    ///     service.create(CreateRequest { app_name, user_id, ..Default::default() }).await?;
    /// let mut event = Event::new("invocation-1");
    /// event.other.insert("modelVersion".into(), json!("gemini"));
    /// event.other.insert("usageMetadata".into(), json!({"totalTokenCount": 15}));
    /// service.append_event_to(session.key(), event).await?;
    ///
    /// let info = service.session_info(session.key()).await?;
    /// assert_eq!(info.event_count, 1);
    /// assert_eq!(info.usage["gemini"]["totalTokenCount"], 15);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn session_info(&self, key: &SessionKey) -> Result<SessionInfo, Error> {
        let missing = Error::NotFound { session_id: key.session_id.clone() };
        let stored = self.texts.get_session(key.clone(), Read::ALL).await?.ok_or(missing)?;
        let mut info = SessionInfo {
            create_time: stored.head.create_time,
            last_update_time: stored.head.last_update_time,
            event_count: stored.events.len(),
            description: Description::read(&key.session_id, stored.description)?,
            ..SessionInfo::default()
        };
        for (number, (_, text)) in stored.events.iter().enumerate() {
            let added = text.with(|text| info.add(text));
            added.map_err(|error| corrupt_event(&key.session_id, number, &error))?;
        }
        Ok(info)
    }
}

/// The members of an event that are counted. Other ADKs may write any JSON there.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Counted<'a> {
    #[serde(borrow)]
    usage_metadata: Option<&'a RawValue>,
    #[serde(borrow)]
    model_version: Option<&'a RawValue>,
}

impl SessionInfo {
    fn add(&mut self, text: &str) -> serde_json::Result<()> {
        self.bytes += text.len();
        let Counted { usage_metadata, model_version } = serde_json::from_str(text)?;
        let usage: Option<BTreeMap<String, &RawValue>> = read(usage_metadata);
        let Some(usage) = usage else { return Ok(()) };
        let model = read(model_version).filter(|model: &String| !model.is_empty());
        let sums = self.usage.entry(model.unwrap_or_else(|| UNKNOWN_MODEL.to_owned())).or_default();
        for (name, count) in usage {
            let count: Option<f64> = read(Some(count)).filter(|_| name.ends_with("TokenCount"));
            if let Some(count) = count {
                let sum = sums.entry(name).or_default();
                *sum = sum.saturating_add(count as u64);
            }
        }
        Ok(())
    }
}

/// Reads a value, if it is there and has that type.
fn read<'a, T: Deserialize<'a>>(value: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(value?.get()).ok()
}
