//! The errors of this crate, with a stable code for each kind.

mod field;
pub(crate) mod reason;
mod session_error;
mod storage_problem;
mod template_error;

pub use crate::host::ErrorSource;
pub use field::Field;

pub use session_error::{Error, StaleReason};
pub use storage_problem::StorageProblem;
pub use template_error::{ArtifactPlace, MissingVariable};
