//! Why a transaction or an opening failed, as far as it makes a difference to what is done next.

use wasm_bindgen::JsValue;

use crate::error::{Error, StorageProblem};
use crate::storage::indexed_db::records::object::Record;
use crate::write::Target;

/// UTF-16 code units of the texts in one record, at most. Chromium holds 133,169,152 bytes in a record,
/// and a code unit may take two of them; the rest is left for ids and names.
pub(crate) const LARGEST_RECORD: u32 = 63 * 1024 * 1024;

/// See the module. Boxed: nearly everything here may fail, and what is passed on through all of it
/// should be small.
#[derive(Debug, Clone)]
pub(crate) struct Failure(Box<Content>);

#[derive(Debug, Clone)]
struct Content {
    kind: Kind,
    reason: String,
}

#[derive(Debug, Clone)]
enum Kind {
    /// A key or an event id is there already.
    Constraint,
    /// A record is not what was once written; its name.
    Corrupt(String),
    /// The connection that was lost, too: whether the transaction was committed is not known.
    Problem(StorageProblem),
    /// An exception of JavaScript's, handed on as it is.
    Thrown(JsValue),
}

impl Failure {
    fn new(kind: Kind, reason: String) -> Self {
        Self(Box::new(Content { kind, reason }))
    }

    pub(crate) fn of(problem: StorageProblem, reason: impl Into<String>) -> Self {
        Self::new(Kind::Problem(problem), reason.into())
    }

    pub(crate) fn lost(reason: impl Into<String>) -> Self {
        Self::of(StorageProblem::ConnectionLost, reason)
    }

    pub(crate) fn corrupt(record: String, reason: impl Into<String>) -> Self {
        Self::new(Kind::Corrupt(record), reason.into())
    }

    #[cold]
    pub(crate) fn too_large(name: &str, length: u32) -> Self {
        Self::of(StorageProblem::TooLarge, too_large(name, length))
    }

    pub(crate) fn thrown(thrown: JsValue) -> Self {
        Self::new(Kind::Thrown(thrown), String::new())
    }

    /// What a transaction or one of its requests failed with.
    pub(crate) fn of_transaction(thrown: &JsValue) -> Self {
        let (name, reason) = describe(thrown);
        let kind = match name.as_str() {
            "ConstraintError" => Kind::Constraint,
            "QuotaExceededError" => Kind::Problem(StorageProblem::QuotaExceeded),
            // Whatever aborts a transaction that we did not abort ourselves was a connection that
            // broke. Safari says UnknownError: "Connection to Indexed Database server lost".
            "AbortError" | "InvalidStateError" | "TransactionInactiveError" | "UnknownError" => {
                Kind::Problem(StorageProblem::ConnectionLost)
            }
            _ => Kind::Problem(StorageProblem::Failed),
        };
        Self::new(kind, reason)
    }

    /// What opening a database failed with.
    pub(crate) fn of_opening(thrown: &JsValue) -> Self {
        let (name, reason) = describe(thrown);
        let problem = match name.as_str() {
            "VersionError" => StorageProblem::Newer,
            "QuotaExceededError" => StorageProblem::QuotaExceeded,
            _ => StorageProblem::Unavailable,
        };
        Self::of(problem, reason)
    }

    /// Whether it may be that opening failed because a connection broke: Safari's "Connection to
    /// Indexed Database server lost" has no name of its own.
    pub(crate) fn may_be_loss(thrown: &JsValue) -> bool {
        describe(thrown).0 == "UnknownError"
    }

    /// What the step to a version failed with.
    pub(crate) fn of_step(version: usize, thrown: &JsValue) -> Self {
        let (_, reason) = describe(thrown);
        Self::of(StorageProblem::Failed, format!("step {version}: {reason}"))
    }

    /// The same of a write to that session. An event stands where the session's record says that none does:
    /// one of them was damaged.
    pub(crate) fn of_session(self, target: &Target) -> Self {
        match (&target.user_id, &target.session_id) {
            (Some(user), Some(session)) if self.is_constraint() => {
                let name = session_name(session, user, &target.app_name);
                Self::corrupt(name, "it does not fit its events")
            }
            _ => self,
        }
    }

    pub(crate) fn is_constraint(&self) -> bool {
        matches!(self.0.kind, Kind::Constraint)
    }

    pub(crate) fn is_too_large(&self) -> bool {
        matches!(self.0.kind, Kind::Problem(StorageProblem::TooLarge))
    }

    pub(crate) fn is_loss(&self) -> bool {
        matches!(self.0.kind, Kind::Problem(StorageProblem::ConnectionLost))
    }
}

impl From<Failure> for JsValue {
    fn from(failure: Failure) -> Self {
        let Content { kind, reason } = *failure.0;
        let error = match kind {
            Kind::Corrupt(record) => Error::CorruptRecord { record, reason },
            Kind::Problem(problem) => Error::Storage { problem, reason },
            Kind::Constraint => Error::Storage { problem: StorageProblem::Failed, reason },
            Kind::Thrown(thrown) => return thrown,
        };
        error.into()
    }
}

/// What a session is called in an error.
#[cold]
pub(crate) fn session_name(session: &str, user: &str, app: &str) -> String {
    format!("session \"{session}\" of user \"{user}\" in app \"{app}\"")
}

/// Says what is too large for a record, and by how much.
#[cold]
pub(crate) fn too_large(name: &str, length: u32) -> String {
    // As `u64`, which is printed elsewhere as well: any other type would add its own printing.
    let (length, most) = (u64::from(length), u64::from(LARGEST_RECORD));
    format!("{name} has {length} characters of {most}")
}

/// The name and the whole text of what the browser threw.
fn describe(thrown: &JsValue) -> (String, String) {
    match Record::found(thrown.clone()) {
        Some(error) => {
            let name = error.text("name");
            let reason = format!("{name}: {}", error.text("message"));
            (name, reason)
        }
        None => (String::new(), "it gave no reason".to_owned()),
    }
}
