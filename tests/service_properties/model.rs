//! A naive model of a session service.

use std::collections::BTreeMap;

use adk_session::session::{Revision, SessionHead, Timestamp};
use proptest::prelude::*;
use serde_json::Value;

use crate::steps::{Entry, Place};

pub type Scope = BTreeMap<String, Value>;

#[derive(Debug, Clone, PartialEq)]
pub struct NaiveEvent {
    pub number: u8,
    pub text: String,
    pub seq: Revision,
    pub revision: Revision,
}

#[derive(Debug, Clone)]
pub struct NaiveSession {
    pub head: SessionHead,
    pub state: Scope,
    pub events: Vec<NaiveEvent>,
}

#[derive(Debug, Default)]
pub struct Model {
    pub apps: BTreeMap<usize, Scope>,
    pub users: BTreeMap<(usize, usize), Scope>,
    pub sessions: BTreeMap<Place, NaiveSession>,
    /// All heads that a session of that key ever had, also before it was deleted.
    pub heads: BTreeMap<Place, Vec<SessionHead>>,
    /// Milliseconds.
    pub now: u32,
}

impl Model {
    pub fn time(&self) -> Timestamp {
        Timestamp::from_millis(f64::from(self.now)).unwrap()
    }

    pub fn apply(&mut self, (app, user, id): Place, entries: &[Entry]) {
        for (key, value) in entries {
            let scope = if let Some(name) = key.strip_prefix("app:") {
                Some((self.apps.entry(app).or_default(), name))
            } else if let Some(name) = key.strip_prefix("user:") {
                Some((self.users.entry((app, user)).or_default(), name))
            } else if key.starts_with("temp:") {
                None
            } else {
                self.sessions.get_mut(&(app, user, id)).map(|session| (&mut session.state, *key))
            };
            match (scope, value) {
                (Some((scope, name)), Some(value)) => {
                    scope.insert(name.to_owned(), (*value).into());
                }
                (Some((scope, name)), None) => {
                    scope.remove(name);
                }
                (None, _) => {}
            }
        }
    }

    /// The state that an agent of that session sees.
    pub fn seen(&self, place: Place) -> Scope {
        let (app, user, _) = place;
        let mut seen = self.sessions[&place].state.clone();
        for (prefix, scope) in
            [("user:", self.users.get(&(app, user))), ("app:", self.apps.get(&app))]
        {
            let scope = scope.into_iter().flatten();
            seen.extend(scope.map(|(name, value)| (format!("{prefix}{name}"), value.clone())));
        }
        seen
    }

    /// The head that a write gave: its revision must be one that no session of that key ever had.
    pub fn was_given(&mut self, place: Place, head: SessionHead) -> Result<(), TestCaseError> {
        let heads = self.heads.entry(place).or_default();
        let highest = heads.iter().map(|head| head.revision).max().unwrap_or(0);
        prop_assert!(head.revision > highest, "{:?} after {:?}", head, heads);
        prop_assert!(head.revision < (1 << 53));
        heads.push(head);
        Ok(())
    }

    pub fn create(
        &mut self,
        place: Place,
        state: &[Entry],
        head: SessionHead,
    ) -> Result<(), TestCaseError> {
        prop_assert_eq!(head.created, head.revision);
        prop_assert_eq!(head.last_update_time, self.time());
        let session = NaiveSession { head, state: Scope::new(), events: Vec::new() };
        self.sessions.insert(place, session);
        self.apply(place, state);
        self.was_given(place, head)
    }
}
