//! Errors of storages whose source is only a text.

use std::error::Error as Source;
use std::fmt;

use crate::core::error::{Error, StorageProblem};

/// A text as an error. Its `Debug` prints it as it is: that of a `String` would add 6 kB to the wasm.
struct Reason(String);

impl fmt::Debug for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Source for Reason {}

/// Returns the error of a storage that this package itself found.
#[cold]
#[inline(never)]
pub fn storage_error(problem: StorageProblem, reason: String) -> Error {
    Error::Storage { problem, source: Box::new(Reason(reason)) }
}

/// Returns the error of a storage that broke its rules.
#[cold]
#[inline(never)]
pub fn broken_storage(reason: &str) -> Error {
    storage_error(StorageProblem::Failed, reason.to_owned())
}
