//! Deletions.

use crate::core::session::{Revision, SessionKey};

/// A deletion. If there is nothing to delete, it succeeds.
///
/// It is not behind [`Decide`](crate::write::Decide): [`Deletion::is_allowed`] is its only decision. A plan would have
/// to name all sessions of a user, and the changes all their rows. Storages delete them by a range and read none
/// of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deletion {
    /// A session and its events; user and app state stay.
    Session(SessionKey),
    /// The same, if the session still is as it was listed; see [`Deletion::is_allowed`].
    UnchangedSession {
        /// The session.
        key: SessionKey,
        /// Its revision in the list.
        revision: Revision,
        /// Its labels in the list.
        labels: Option<String>,
    },
    /// A user's state.
    UserState {
        /// The app.
        app_name: String,
        /// The user.
        user_id: String,
    },
    /// A user's sessions and state.
    User {
        /// The app.
        app_name: String,
        /// The user.
        user_id: String,
    },
    /// An app's state.
    AppState {
        /// The app.
        app_name: String,
    },
}

impl Deletion {
    /// Whether it may delete a session with this revision and these labels. The storage asks in the
    /// transaction that deletes.
    pub fn is_allowed(&self, revision: Revision, labels: Option<&str>) -> bool {
        match self {
            Self::UnchangedSession { revision: listed, labels: listed_labels, .. } => {
                *listed == revision && listed_labels.as_deref() == labels
            }
            _ => true,
        }
    }
}
