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
    /// The fields of an event that have no member of their own.
    EventOther,
    /// The timestamp of an event.
    Timestamp,
    /// The changes of a state.
    StateDelta,
    /// The policy for stale handles.
    Stale,
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
    /// Returns its name in Rust.
    pub fn rust(self) -> &'static str {
        self.names().0
    }

    /// Returns its name in JavaScript.
    pub fn javascript(self) -> &'static str {
        self.names().1
    }

    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::AppName => ("app_name", "appName"),
            Self::UserId => ("user_id", "userId"),
            Self::SessionId => ("session_id", "sessionId"),
            Self::Events => ("events", "events"),
            Self::EventId => ("event.id", "event.id"),
            Self::EventIds => ("event_ids", "eventIds"),
            Self::EventOther => ("event.other", "event"),
            Self::Timestamp => ("timestamp", "timestamp"),
            Self::StateDelta => ("state_delta", "stateDelta"),
            Self::Stale => ("stale", "stale"),
            Self::End => ("end", "end"),
            Self::Limit => ("limit", "limit"),
            Self::Invocation => ("invocation", "invocation"),
            Self::Context => ("context", "context"),
        }
    }
}
