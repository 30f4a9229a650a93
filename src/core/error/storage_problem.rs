//! The kinds of failures of storages.

/// The kind of a storage's failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StorageProblem {
    /// A failure without a known kind, or a storage that broke its rules.
    Failed,
    /// The storage does not exist here, or access to it is forbidden.
    Unavailable,
    /// Another program, or another tab, holds the data.
    Blocked,
    /// The data was written by a newer version of this package.
    Newer,
    /// The disk is full, or the storage gives this program no more space.
    QuotaExceeded,
    /// A value is too large for one record.
    TooLarge,
    /// The connection broke, and again after a reconnect.
    ConnectionLost,
}

impl StorageProblem {
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::Failed => "storage_failed",
            Self::Unavailable => "storage_unavailable",
            Self::Blocked => "storage_blocked",
            Self::Newer => "storage_newer",
            Self::QuotaExceeded | Self::TooLarge => "quota_exceeded",
            Self::ConnectionLost => "connection_lost",
        }
    }

    /// Returns the message. It holds for every storage: what to do is known where the problem is found.
    pub(super) fn message(self) -> &'static str {
        match self {
            Self::Failed => "the storage failed",
            Self::Unavailable => "the storage is unavailable",
            Self::Blocked => "the storage is blocked",
            Self::Newer => "the storage is of a newer version",
            Self::QuotaExceeded => "the storage is full",
            Self::TooLarge => "a record of the storage is too large",
            Self::ConnectionLost => "the connection to the storage broke",
        }
    }
}
