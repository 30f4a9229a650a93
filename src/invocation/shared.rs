//! The data that an invocation and its contexts share.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::artifacts::AnyArtifacts;
use super::live_state::LockedState;
use crate::core::session::SessionKey;

#[derive(Clone)]
pub(super) struct Shared {
    pub(super) id: Arc<str>,
    pub(super) session: Arc<SessionKey>,
    pub(super) user_content: Option<Arc<Value>>,
    pub(super) artifacts: Option<Arc<dyn AnyArtifacts>>,
    pub(super) state: Arc<LockedState>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shared = f.debug_struct("Shared");
        shared.field("id", &self.id).field("session", &self.session).finish_non_exhaustive()
    }
}
