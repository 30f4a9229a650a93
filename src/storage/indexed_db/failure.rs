//! Why a transaction or an opening failed, as far as it makes a difference to what is done next.

use wasm_bindgen::{JsCast, JsValue};
use web_sys::DomException;

use crate::error::{Error, StorageProblem};

/// See the module.
#[derive(Debug, Clone)]
pub(super) enum Failure {
    /// A key or an event id is there already.
    Constraint { reason: String },
    /// The connection broke, or the transaction with it: whether it was committed is not known.
    Lost { reason: String },
    /// A record is not what was once written; its name.
    Corrupt { record: String, reason: String },
    /// Anything that trying again would not change.
    Problem { problem: StorageProblem, reason: String },
}

impl Failure {
    /// What a transaction or one of its requests failed with.
    pub(super) fn of_transaction(thrown: &JsValue) -> Self {
        let (name, reason) = describe(thrown);
        match name.as_str() {
            "ConstraintError" => Self::Constraint { reason },
            "QuotaExceededError" => {
                Self::Problem { problem: StorageProblem::QuotaExceeded, reason }
            }
            // Whatever aborts a transaction that we did not abort ourselves was a connection that
            // broke. Safari says UnknownError: "Connection to Indexed Database server lost".
            "AbortError" | "InvalidStateError" | "TransactionInactiveError" | "UnknownError" => {
                Self::Lost { reason }
            }
            _ => Self::Problem { problem: StorageProblem::Failed, reason },
        }
    }

    /// What opening a database failed with.
    pub(super) fn of_opening(thrown: &JsValue) -> Self {
        let (name, reason) = describe(thrown);
        if name == "UnknownError" && reason.contains("lost") {
            return Self::Lost { reason };
        }
        let problem = match name.as_str() {
            "VersionError" => StorageProblem::Newer,
            "QuotaExceededError" => StorageProblem::QuotaExceeded,
            _ => StorageProblem::Unavailable,
        };
        Self::Problem { problem, reason }
    }

    pub(super) fn unavailable(reason: &str) -> Self {
        Self::Problem { problem: StorageProblem::Unavailable, reason: reason.to_owned() }
    }
}

impl From<Failure> for JsValue {
    fn from(failure: Failure) -> Self {
        let error = match failure {
            Failure::Corrupt { record, reason } => Error::CorruptRecord { record, reason },
            Failure::Problem { problem, reason } => Error::Storage { problem, reason },
            Failure::Lost { reason } => {
                Error::Storage { problem: StorageProblem::ConnectionLost, reason }
            }
            Failure::Constraint { reason } => {
                Error::Storage { problem: StorageProblem::Failed, reason }
            }
        };
        error.into()
    }
}

/// The name and the whole text of what the browser threw.
fn describe(thrown: &JsValue) -> (String, String) {
    match thrown.dyn_ref::<DomException>() {
        Some(error) => (error.name(), format!("{}: {}", error.name(), error.message())),
        None => {
            let text = js_sys::Error::from(thrown.clone()).to_string();
            (String::new(), text.into())
        }
    }
}
