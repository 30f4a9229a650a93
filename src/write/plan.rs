//! Which rows a write needs.

use std::rc::Rc;

use crate::session::{Revision, SessionKey};

/// Which user and app states a write wants to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ScopeSet {
    /// The session's own state: it will be changed.
    pub session: bool,
    /// The user's state.
    pub user: bool,
    /// The app's state.
    pub app: bool,
}

#[cfg(target_arch = "wasm32")]
impl ScopeSet {
    /// For JavaScript: session 1, user 2, app 4.
    pub(crate) fn bits(self) -> u8 {
        u8::from(self.session) | u8::from(self.user) << 1 | u8::from(self.app) << 2
    }
}

/// Names a session, a user or an app: the widest that is `None` ends the name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The app.
    pub app_name: String,
    /// The user of the app.
    pub user_id: Option<String>,
    /// The session of the user.
    pub session_id: Option<String>,
}

impl From<SessionKey> for Target {
    fn from(key: SessionKey) -> Self {
        Self {
            app_name: key.app_name,
            user_id: Some(key.user_id),
            session_id: Some(key.session_id),
        }
    }
}

/// What a write has to know before it is decided.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Whether it makes a session that must not be there yet.
    pub creates: bool,
    /// What is written to.
    pub target: Target,
    /// The states that the write changes or shows.
    pub scopes: ScopeSet,
    /// Ids to look up among the stored events.
    pub event_ids: Vec<Rc<str>>,
    /// Whether they are those of events about to be written, and so hardly ever stored already. A
    /// storage that keeps ids unique may ask for a decision as if none were, and look only if the
    /// write then fails.
    pub ids_are_new: bool,
    /// Events written after this revision are wanted.
    pub since: Revision,
}
