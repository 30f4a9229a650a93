//! The kinds of failures of storages.

/// The kind of a storage's failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StorageProblem {
    /// A failure without a known kind, or a storage that broke its rules.
    Failed,
    /// The storage does not exist here: missing, forbidden, or private mode.
    Unavailable,
    /// Another tab keeps an older version of the database open.
    Blocked,
    /// The data was written by a newer version of this package.
    Newer,
    /// The data was written by an earlier build of this package, which was never published.
    Older,
    /// The browser allows this site no more space.
    QuotaExceeded,
    /// A value is too large for one record.
    TooLarge,
    /// The connection broke, and again after a reconnect.
    ConnectionLost,
}

impl StorageProblem {
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::Failed | Self::Older => "storage_failed",
            Self::Unavailable => "storage_unavailable",
            Self::Blocked => "storage_blocked",
            Self::Newer => "storage_newer",
            Self::QuotaExceeded | Self::TooLarge => "quota_exceeded",
            Self::ConnectionLost => "connection_lost",
        }
    }

    /// Returns the start of the message: the problem and what to do.
    pub(super) fn advice(self) -> &'static str {
        match self {
            Self::Failed => "the storage failed",
            Self::Unavailable => "no IndexedDB here; use 'auto' or 'memory'",
            Self::Blocked => "another tab holds the database; close or reload it",
            Self::Newer => "a newer version of this package has written the database; load it",
            Self::Older => "an earlier build has written the database; call deleteDatabase",
            Self::QuotaExceeded => "the browser gives this site no more room; delete sessions",
            Self::TooLarge => "too large for a record of IndexedDB; keep large data as artifacts",
            Self::ConnectionLost => "the connection to the database broke; try again",
        }
    }
}
