//! Why a step has no result.

use crate::conformance::verdict::failed;
use crate::core::error::Error;

/// The reason why a step has no result.
#[derive(Debug)]
pub(super) enum Stop {
    /// A rule refused the call, which the case may expect.
    Refused(Error),
    /// An error that no case expects.
    Broken(String),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        match error {
            Error::StaleSession { expected, actual, .. } if expected >= actual => {
                Self::Broken(format!(
                    "the error of a stale handle has the revision {expected}, and the store {actual}"
                ))
            }
            Error::Storage { .. } => Self::Broken(failed(error)),
            error => Self::Refused(error),
        }
    }
}
