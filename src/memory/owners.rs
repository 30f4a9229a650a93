//! The owners of each session id: the Rust API names a session by its id alone.

use std::sync::Arc;

use crate::core::names::NameMap;
use crate::memory::app::App;

/// An app's name and a user's id.
type Owner = [Arc<str>; 2];

/// The owners of each session id.
#[derive(Debug, Default)]
pub(super) struct Owners(NameMap<Vec<Owner>>);

impl Owners {
    /// Builds the index from all sessions.
    pub(super) fn of(apps: &NameMap<App>) -> Self {
        let mut owners = Self::default();
        for (app_name, app) in apps.iter() {
            for (user_id, user) in app.users.iter() {
                for (session_id, _) in user.sessions.iter() {
                    owners.push(session_id, [Arc::clone(app_name), Arc::clone(user_id)]);
                }
            }
        }
        owners
    }

    pub(super) fn get(&self, session_id: &str) -> &[Owner] {
        self.0.get(session_id).map_or(&[], Vec::as_slice)
    }

    pub(super) fn add(&mut self, app_name: &str, user_id: &str, session_id: &str) {
        self.push(session_id, [Arc::from(app_name), Arc::from(user_id)]);
    }

    fn push(&mut self, session_id: &str, owner: Owner) {
        if let Some(owners) = self.0.get_or_default(session_id) {
            owners.push(owner);
        }
    }

    pub(super) fn remove(&mut self, app_name: &str, user_id: &str, session_id: &str) {
        let Some(owners) = self.0.get_mut(session_id) else {
            return;
        };
        owners.retain(|[app, user]| **app != *app_name || **user != *user_id);
        if owners.is_empty() {
            self.0.remove(session_id);
        }
    }
}
