//! What can go wrong, in one small enum with a stable code for each kind.

use std::fmt;

use crate::instruction::TemplateError;
use crate::session::{Revision, SessionKey};

/// A refusal: bad input, a missing session, a conflict. Whatever was asked for did not happen.
///
/// [`Error::code`] is stable and is the same word in Rust and JavaScript; the message says which
/// key is meant and what to do.
///
/// ```
/// use adk_session_wasm::Error;
/// let error = Error::invalid("num_recent_events", "must be a whole number from 0 up");
/// assert_eq!(error.code(), "invalid_argument");
/// assert_eq!(error.to_string(), "num_recent_events must be a whole number from 0 up");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// An argument that no session service takes: an empty id, a negative count.
    InvalidArgument {
        /// The argument's name.
        argument: &'static str,
        /// What it must be, as the rest of a sentence that begins with its name.
        rule: String,
    },
    /// A session of that id is stored already; it was left untouched.
    AlreadyExists(SessionKey),
    /// The session was deleted, or never existed.
    NotFound {
        /// The id that was asked for.
        session_id: String,
    },
    /// Someone else appended since the handle was read, and the caller asked to be told.
    StaleSession {
        /// The session.
        session_id: String,
        /// The revision that the handle was at.
        expected: Revision,
        /// The revision that the store is at.
        actual: Revision,
    },
    /// A bare session id that several users or apps have.
    Ambiguous {
        /// The id.
        session_id: String,
        /// How many sessions have it.
        count: usize,
    },
    /// A text that is not the JSON which it must be.
    Unserializable {
        /// Where: `state`, `event`, or a key.
        path: String,
        /// Why not.
        reason: String,
    },
    /// A stored record cannot be read. All others stay readable.
    CorruptRecord {
        /// Which record.
        record: String,
        /// Why not.
        reason: String,
    },
    /// A state would be larger than what can be stored, or memory has no room left.
    QuotaExceeded {
        /// What does not fit, and what to do.
        reason: String,
    },
    /// The state of a read-only context was written to.
    Readonly {
        /// The key that should have been written.
        key: String,
    },
    /// This storage cannot do that.
    Unsupported(&'static str),
    /// A storage answered what no storage may answer.
    StorageFailed {
        /// What it answered, or failed to.
        reason: String,
    },
    /// A storage could not do its work.
    Storage {
        /// What kind of problem it has.
        problem: StorageProblem,
        /// What it said itself.
        reason: String,
    },
    /// An instruction could not be rendered.
    Template(TemplateError),
}

/// Why a storage could not do its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StorageProblem {
    /// Something that it does not name.
    Failed,
    /// There is no such storage here: private mode, forbidden, missing.
    Unavailable,
    /// Another tab holds an older version of the database open.
    Blocked,
    /// The data was written by a newer version of this package.
    Newer,
    /// The browser gives this site no more room.
    QuotaExceeded,
    /// What was to be stored does not fit into one record.
    TooLarge,
    /// The connection broke, also when it was made again.
    ConnectionLost,
}

impl StorageProblem {
    fn code(self) -> &'static str {
        match self {
            Self::Failed => "storage_failed",
            Self::Unavailable => "storage_unavailable",
            Self::Blocked => "storage_blocked",
            Self::Newer => "storage_newer",
            Self::QuotaExceeded | Self::TooLarge => "quota_exceeded",
            Self::ConnectionLost => "connection_lost",
        }
    }

    /// What happened, and what to do.
    fn advice(self) -> &'static str {
        match self {
            Self::Failed => "the storage failed",
            Self::Unavailable => "no IndexedDB here; use 'auto' or 'memory'",
            Self::Blocked => "another tab holds the database; close or reload it",
            Self::Newer => "a newer version of this package has written the database; load it",
            Self::QuotaExceeded => "the browser gives this site no more room; delete sessions",
            Self::TooLarge => "too large for a record of IndexedDB; keep large data as artifacts",
            Self::ConnectionLost => "the connection to the database broke; try again",
        }
    }
}

impl Error {
    /// An [`Error::InvalidArgument`]; `rule` goes on where the argument's name stops.
    pub fn invalid(argument: &'static str, rule: impl Into<String>) -> Self {
        Self::InvalidArgument { argument, rule: rule.into() }
    }

    /// The stable word for this kind of error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::InvalidArgument { .. } => "invalid_argument",
            Self::AlreadyExists(_) => "already_exists",
            Self::NotFound { .. } => "not_found",
            Self::StaleSession { .. } => "stale_session",
            Self::Ambiguous { .. } => "ambiguous",
            Self::Unserializable { .. } => "unserializable",
            Self::CorruptRecord { .. } => "corrupt_record",
            Self::QuotaExceeded { .. } => "quota_exceeded",
            Self::Readonly { .. } => "readonly",
            Self::Unsupported(_) => "unsupported",
            Self::StorageFailed { .. } => "storage_failed",
            Self::Storage { problem, .. } => problem.code(),
            Self::Template(error) => error.code(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidArgument { argument, rule } => write!(f, "{argument} {rule}"),
            Self::AlreadyExists(key) => write!(
                f,
                "session \"{}\" of user \"{}\" in app \"{}\" already exists; choose another id, or get or create it",
                key.session_id, key.user_id, key.app_name
            ),
            Self::NotFound { session_id } => write!(
                f,
                "session \"{session_id}\" does not exist (any more); create it, or get it again"
            ),
            Self::StaleSession { session_id, expected, actual } => write!(
                f,
                "session \"{session_id}\" has moved on from revision {expected} to {actual}; get it again, then append"
            ),
            Self::Ambiguous { session_id, count } => write!(
                f,
                "{count} sessions have the id \"{session_id}\"; name the app and the user as well"
            ),
            Self::Unserializable { path, reason } => write!(f, "{path}: {reason}"),
            Self::CorruptRecord { record, reason } => {
                write!(f, "the stored {record} cannot be read: {reason}")
            }
            Self::QuotaExceeded { reason } => f.write_str(reason),
            Self::Readonly { key } => write!(
                f,
                "\"{key}\" cannot be set: this context is read-only; write in a callback or a tool"
            ),
            Self::Unsupported(operation) => write!(f, "this storage cannot {operation}"),
            Self::StorageFailed { reason } => write!(f, "the storage failed: {reason}"),
            Self::Storage { problem, reason } => write!(f, "{}: {reason}", problem.advice()),
            Self::Template(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Template(error) => error.source(),
            _ => None,
        }
    }
}

impl From<TemplateError> for Error {
    fn from(error: TemplateError) -> Self {
        Self::Template(error)
    }
}
