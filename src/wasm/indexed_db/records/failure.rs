//! The reason why a transaction or an opening failed, by kinds that are handled differently.

use std::rc::Rc;

use adk_session::error::{Error, StorageProblem};
use adk_session::internals::storage_error;
use adk_session::write::Target;
use wasm_bindgen::JsValue;

use crate::object::JsObject;
use crate::thrown::Thrown;

/// The most UTF-16 code units of text in one record. Chromium holds 133,169,152 bytes in a record,
/// and a code unit may take two of them. The rest is left for ids and names.
pub(crate) const LARGEST_RECORD: u32 = 63 * 1024 * 1024;

/// A failure of the storage in IndexedDB. Boxed to be small: nearly every function here returns it.
#[derive(Debug, Clone)]
pub struct Failure(Box<Content>);

#[derive(Debug, Clone)]
struct Content {
    kind: Kind,
    reason: String,
}

#[derive(Debug, Clone)]
enum Kind {
    /// A key or an event id is stored already.
    Constraint,
    /// A stored record is damaged; its name.
    Corrupt(String),
    Problem(StorageProblem),
    /// The connection broke after the commit was sent. It is unknown whether the changes are stored.
    LostInCommit,
    /// The page was left, and the transaction was aborted. The user may leave a page any number of
    /// times, so each time it is tried again.
    PageLeft,
    /// The page was left after the commit was sent, perhaps for hours. Only what changes nothing the
    /// second time is tried again.
    PageLeftInCommit,
    /// A JavaScript exception, passed on unchanged.
    Thrown(JsValue),
    /// An error of the library or of a call. A failure with such an error is never cloned: only those of openings are.
    Passed(Rc<Error>),
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

    /// A failure after the commit was sent.
    pub(crate) fn in_commit(self) -> Self {
        if self.is_loss() { Self::new(Kind::LostInCommit, self.0.reason) } else { self }
    }

    /// A transaction that ended because the page was left.
    pub(crate) fn page_left(is_aborted: bool) -> Self {
        let kind = if is_aborted { Kind::PageLeft } else { Kind::PageLeftInCommit };
        Self::new(kind, "the page was left".to_owned())
    }

    pub(crate) fn corrupt(record: String, reason: impl Into<String>) -> Self {
        Self::new(Kind::Corrupt(record), reason.into())
    }

    /// Refuses a record whose texts have too many UTF-16 code units.
    #[cold]
    pub(crate) fn too_large(name: &str, length: u32) -> Self {
        // Printed as `u64`, which other code prints as well: another type would add its own
        // printing code.
        let (length, most) = (u64::from(length), u64::from(LARGEST_RECORD));
        Self::of(StorageProblem::TooLarge, format!("{name} has {length} characters of {most}"))
    }

    pub(crate) fn thrown(thrown: JsValue) -> Self {
        Self::new(Kind::Thrown(thrown), String::new())
    }

    /// Converts the error of a transaction or of one of its requests.
    pub(crate) fn of_transaction(thrown: &JsValue) -> Self {
        let (name, reason) = describe(thrown);
        let kind = match name.as_str() {
            "ConstraintError" => Kind::Constraint,
            "QuotaExceededError" => Kind::Problem(StorageProblem::QuotaExceeded),
            // We did not abort the transaction ourselves, so the connection broke. Safari reports
            // it as UnknownError: "Connection to Indexed Database server lost".
            "AbortError" | "InvalidStateError" | "TransactionInactiveError" | "UnknownError" => {
                Kind::Problem(StorageProblem::ConnectionLost)
            }
            _ => Kind::Problem(StorageProblem::Failed),
        };
        Self::new(kind, reason)
    }

    /// Converts the error of opening a database.
    pub(crate) fn of_opening(thrown: &JsValue) -> Self {
        let (name, reason) = describe(thrown);
        let problem = match name.as_str() {
            "VersionError" => StorageProblem::Newer,
            "QuotaExceededError" => StorageProblem::QuotaExceeded,
            // The browser aborted the upgrade, so there is a database.
            "AbortError" => StorageProblem::Failed,
            _ => StorageProblem::Unavailable,
        };
        Self::of(problem, reason)
    }

    /// Whether opening may have failed because the connection broke. Safari's "Connection to
    /// Indexed Database server lost" has no error name of its own.
    pub(crate) fn may_be_loss(thrown: &JsValue) -> bool {
        describe(thrown).0 == "UnknownError"
    }

    /// Converts the error of creating the stores.
    pub(crate) fn of_creation(thrown: &JsValue) -> Self {
        let (_, reason) = describe(thrown);
        Self::of(StorageProblem::Failed, reason)
    }

    /// Turns a constraint failure of a write to this session into `corrupt_record`. An event is
    /// stored where the session's record says there is none, so one of them is damaged.
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

    /// Whether the connection broke.
    pub(crate) fn is_loss(&self) -> bool {
        self.is_loss_before_commit() || matches!(self.0.kind, Kind::LostInCommit)
    }

    pub(crate) fn is_loss_before_commit(&self) -> bool {
        matches!(self.0.kind, Kind::Problem(StorageProblem::ConnectionLost))
    }

    pub(crate) fn is_page_left(&self) -> bool {
        matches!(self.0.kind, Kind::PageLeft)
    }

    pub(crate) fn is_page_left_in_commit(&self) -> bool {
        matches!(self.0.kind, Kind::PageLeftInCommit)
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        let Content { kind, reason } = *failure.0;
        match kind {
            Kind::Corrupt(record) => Self::CorruptRecord { record, reason },
            Kind::Problem(problem) => browser_error(problem, reason),
            Kind::LostInCommit | Kind::PageLeft | Kind::PageLeftInCommit => {
                browser_error(StorageProblem::ConnectionLost, reason)
            }
            Kind::Constraint => browser_error(StorageProblem::Failed, reason),
            Kind::Thrown(thrown) => Thrown(thrown).into(),
            Kind::Passed(error) => Rc::try_unwrap(error)
                .unwrap_or_else(|error| storage_error(StorageProblem::Failed, error.to_string())),
        }
    }
}

/// Returns the error of a problem, whose source says what to do in a browser.
#[cold]
#[inline(never)]
fn browser_error(problem: StorageProblem, reason: String) -> Error {
    let advice = match problem {
        StorageProblem::Unavailable => "no IndexedDB here; use 'auto' or 'memory': ",
        StorageProblem::Blocked => "another tab holds the database; close or reload it: ",
        StorageProblem::Newer => "load the version that has written the database: ",
        StorageProblem::QuotaExceeded => {
            "the browser gives this site no more room; delete sessions: "
        }
        StorageProblem::TooLarge => "keep large data as artifacts: ",
        StorageProblem::ConnectionLost => "try again: ",
        _ => "",
    };
    storage_error(problem, [advice, &reason].concat())
}

/// The error of a [`Call`](adk_session::storage::Call).
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::new(Kind::Passed(Rc::new(error)), String::new())
    }
}

/// Returns the name of a session for error messages.
#[cold]
pub(crate) fn session_name(session: &str, user: &str, app: &str) -> String {
    format!("session \"{session}\" of user \"{user}\" in app \"{app}\"")
}

/// Returns the name and the full text of the browser's error.
fn describe(thrown: &JsValue) -> (String, String) {
    match JsObject::found(thrown.clone()) {
        Some(error) => {
            let name = error.text("name");
            let reason = format!("{name}: {}", error.text("message"));
            (name, reason)
        }
        None => (String::new(), "it gave no reason".to_owned()),
    }
}
