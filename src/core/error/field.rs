//! The fields that errors name.

/// An invalid field of a request or of an event, or an invalid argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Field {
    /// The name of an app.
    AppName,
    /// The id of a user.
    UserId,
    /// The id of a session.
    SessionId,
    /// The events of a new session.
    Events,
    /// The id of an event.
    EventId,
    /// The ids of events.
    EventIds,
    /// The content of an event.
    EventContent,
    /// The fields of an event that have no member of their own.
    EventOther,
    /// The timestamp of an event.
    Timestamp,
    /// The changes of a state.
    StateDelta,
    /// The end of a page.
    End,
    /// The size of a page.
    Limit,
    /// An invocation.
    Invocation,
    /// A context.
    Context,
}

impl Field {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::AppName => "app_name",
            Self::UserId => "user_id",
            Self::SessionId => "session_id",
            Self::Events => "events",
            Self::EventId => "event.id",
            Self::EventIds => "event_ids",
            Self::EventContent => "event.content",
            Self::EventOther => "event.other",
            Self::Timestamp => "timestamp",
            Self::StateDelta => "state_delta",
            Self::End => "end",
            Self::Limit => "limit",
            Self::Invocation => "invocation",
            Self::Context => "context",
        }
    }
}
