//! The error of all calls about sessions.

use std::borrow::Cow;
use std::fmt;

use crate::core::error::template_error::{write_artifact, write_missing, write_no_service};
use crate::core::error::{ArtifactPlace, Field, MissingVariable, StorageProblem};
use crate::host::ErrorSource;

/// An error: bad input, a missing session, a conflict, a failed storage, an instruction that cannot be rendered.
///
/// [`Error::code`] is stable, and equal in Rust and JavaScript. The message names the key and says
/// what to do.
///
/// ```
/// use adk_session::SessionKey;
/// let error = SessionKey::new("shop", "", "s-1").unwrap_err();
/// assert_eq!(error.code(), "invalid_argument");
/// assert_eq!(error.to_string(), "user_id must not be empty");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An invalid argument, such as an empty id or a negative count.
    #[error("{} {rule}", field.name())]
    InvalidArgument {
        /// The field.
        field: Field,
        /// The rule it breaks, which continues a sentence that begins with its name.
        rule: String,
    },
    /// A session with that id exists already; it was left untouched.
    #[error(
        "session \"{session_id}\" of user \"{user_id}\" in app \"{app_name}\" already exists; choose another id, or get or create it"
    )]
    AlreadyExists {
        /// The app.
        app_name: String,
        /// The user of the app.
        user_id: String,
        /// The id that is taken.
        session_id: String,
    },
    /// The session was deleted or never existed.
    #[error("session \"{session_id}\" does not exist (any more); create it, or get it again")]
    NotFound {
        /// The requested id.
        session_id: String,
    },
    /// The session is not as the caller of an append knows it.
    #[error(fmt = write_stale)]
    StaleSession {
        /// The session.
        session_id: String,
        /// Why the append is refused.
        reason: StaleReason,
        /// The revision that the caller knows.
        expected: u64,
        /// The revision of the stored session.
        actual: u64,
    },
    /// The append would replace other events than its caller expects.
    #[error(fmt = write_conflict)]
    EventConflict {
        /// The session.
        session_id: String,
        /// The ids of these events, and their stored revisions; `None` if there is no such event.
        actual: Vec<(String, Option<u64>)>,
    },
    /// Several users or apps have a session with that bare id.
    #[error("{count} sessions have the id \"{session_id}\"; name the app and the user as well")]
    Ambiguous {
        /// The id.
        session_id: String,
        /// How many sessions have it.
        count: usize,
    },
    /// A text is not the JSON that it must be.
    #[error("{path}: {reason}")]
    Unserializable {
        /// The place: `state`, `event`, or a key.
        path: String,
        /// The reason.
        reason: String,
    },
    /// A stored record cannot be read. All others stay readable.
    #[error("the stored {record} cannot be read: {reason}")]
    CorruptRecord {
        /// The name of the record.
        record: String,
        /// The reason.
        reason: String,
    },
    /// A state would be too large to be stored, or memory has no room left.
    #[error("{reason}")]
    QuotaExceeded {
        /// The data that does not fit, and advice.
        reason: String,
    },
    /// A read-only context's state was written to.
    #[error("\"{key}\" cannot be set: this context is read-only; write in a callback or a tool")]
    Readonly {
        /// The key of that write.
        key: String,
    },
    /// The storage does not support that operation. It continues a sentence that begins with "this storage cannot".
    #[error("this storage cannot {0}")]
    Unsupported(Cow<'static, str>),
    /// The storage failed: its disk is full, for example, or it returned an invalid result.
    /// [`Error::storage`] makes one of any error.
    #[error("{}", problem.message())]
    Storage {
        /// The kind of failure.
        problem: StorageProblem,
        /// The storage's own error. The message does not repeat it.
        source: ErrorSource,
    },
    /// Placeholders of an instruction that are not optional have no value: all, in the order of the instruction. A name
    /// that occurs twice is listed twice.
    #[error(fmt = write_missing)]
    MissingVariables(Vec<MissingVariable>),
    /// An artifact is asked for, and there is no artifact service.
    #[error(fmt = write_no_service)]
    NoArtifactService {
        /// The placeholder that names the artifact, if an instruction does.
        place: Option<ArtifactPlace>,
    },
    /// The artifact service failed. A missing artifact is no failure. [`Error::artifact`] makes one of any error.
    #[error(fmt = write_artifact)]
    Artifact {
        /// The placeholder that names the artifact, if an instruction does.
        place: Option<ArtifactPlace>,
        /// The service's own error. The message does not repeat it.
        source: ErrorSource,
    },
    /// The error of other code, passed on unchanged: of a [`Call`](crate::storage::Call), or of a function
    /// that a storage calls.
    #[error(transparent)]
    Other(ErrorSource),
}

/// Why an append is refused with [`Error::StaleSession`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StaleReason {
    /// The append requires another revision of the session.
    OtherRevision,
    /// The session was changed since the handle was read, other than through this handle, and the
    /// policy is to refuse then.
    HandleBehind,
    /// The same, for a handle that is known by its last event only: events follow that event.
    LaterEvents,
    /// The append continues a run that a rewind has undone since the handle was read. All policies
    /// refuse that.
    Undone,
    /// The append continues a run that was cancelled since the handle was read. All policies refuse
    /// that.
    Cancelled,
}

impl StaleReason {
    /// Returns its stable name, equal in Rust and JavaScript.
    pub fn name(self) -> &'static str {
        match self {
            Self::OtherRevision => "other_revision",
            Self::HandleBehind => "handle_behind",
            Self::LaterEvents => "later_events",
            Self::Undone => "undone",
            Self::Cancelled => "cancelled",
        }
    }
}

impl Error {
    /// Returns an [`Error::InvalidArgument`]; `rule` continues the sentence that begins with the
    /// field's name.
    pub(crate) fn invalid(field: Field, rule: impl Into<String>) -> Self {
        Self::InvalidArgument { field, rule: rule.into() }
    }

    /// Returns the error of a storage that failed for a reason without a kind of its own.
    ///
    /// ```
    /// use std::error::Error as _;
    /// use adk_session::Error;
    /// let opened = std::fs::File::open("/no/such/file").map_err(Error::storage);
    /// let error = opened.unwrap_err();
    /// assert_eq!((error.code(), error.to_string().as_str()), ("storage_failed", "the storage failed"));
    /// assert!(error.source().is_some_and(|cause| cause.is::<std::io::Error>()));
    /// ```
    pub fn storage(source: impl Into<ErrorSource>) -> Self {
        Self::Storage { problem: StorageProblem::Failed, source: source.into() }
    }

    /// Returns the error of an artifact service that failed.
    ///
    /// ```
    /// use adk_session::Error;
    /// let error = Error::artifact("disk full");
    /// assert_eq!(error.code(), "storage_failed");
    /// assert_eq!(Error::NoArtifactService { place: None }.code(), "artifact_service_missing");
    /// assert_eq!(Error::MissingVariables(Vec::new()).code(), "missing_variable");
    /// ```
    pub fn artifact(source: impl Into<ErrorSource>) -> Self {
        Self::Artifact { place: None, source: source.into() }
    }

    /// Returns the stable code of this kind of error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidArgument { .. } => "invalid_argument",
            Self::AlreadyExists { .. } => "already_exists",
            Self::NotFound { .. } => "not_found",
            Self::StaleSession { .. } | Self::EventConflict { .. } => "stale_session",
            Self::Ambiguous { .. } => "ambiguous",
            Self::Unserializable { .. } => "unserializable",
            Self::CorruptRecord { .. } => "corrupt_record",
            Self::QuotaExceeded { .. } => "quota_exceeded",
            Self::Readonly { .. } => "readonly",
            Self::Unsupported(_) => "unsupported",
            Self::Storage { problem, .. } => problem.code(),
            Self::MissingVariables(_) => "missing_variable",
            Self::NoArtifactService { .. } => "artifact_service_missing",
            Self::Artifact { .. } => "storage_failed",
            Self::Other(_) => "internal",
        }
    }
}

fn write_stale(
    session_id: &str,
    reason: &StaleReason,
    expected: &u64,
    actual: &u64,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    match reason {
        StaleReason::Undone => write!(
            f,
            "a rewind of session \"{session_id}\" has undone the run of this event; drop the event, and begin a new invocation"
        ),
        StaleReason::Cancelled => write!(
            f,
            "the run of this event in session \"{session_id}\" was cancelled; drop the event, and begin a new invocation"
        ),
        _ => write!(
            f,
            "session \"{session_id}\" is at revision {actual} and no longer at {expected}; get it again, then append"
        ),
    }
}

fn write_conflict(
    session_id: &str,
    actual: &[(String, Option<u64>)],
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let (id, actual) = actual.first().map_or(("", None), |(id, at)| (id, *at));
    write!(f, "event \"{id}\" of session \"{session_id}\" is ")?;
    match actual {
        Some(revision) => write!(f, "stored at revision {revision}")?,
        None => f.write_str("not stored")?,
    }
    f.write_str(", which the append does not expect; get it again, then append")
}
