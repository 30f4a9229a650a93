//! Why a step has no result.

use std::fmt::Debug;

use crate::core::error::Error;
use crate::service::Refusal;

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
            error => Self::Refused(error),
        }
    }
}

impl<F: Debug> From<Refusal<F>> for Stop {
    fn from(refusal: Refusal<F>) -> Self {
        match refusal {
            Refusal::Rule(error) => error.into(),
            Refusal::Storage(failure) => Self::Broken(format!("the storage failed: {failure:?}")),
        }
    }
}
