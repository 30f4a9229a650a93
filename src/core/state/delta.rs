//! The changes of the state by one event, split by scope.

use std::sync::Arc;

use crate::core::error::Error;
use crate::core::json::split_object;
use crate::core::state::scope::{ByOwner, Scope};

/// The value that removes its key in a delta. adk-java writes the same string.
pub const REMOVED: &str = "__ADK_SENTINEL_REMOVED__";
/// [`REMOVED`] as JSON text.
const REMOVED_JSON: &str = "\"__ADK_SENTINEL_REMOVED__\"";

/// The change of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Sets the key to this value, a JSON text.
    Set(Arc<str>),
    /// Removes the key.
    Remove,
}

/// The changes of one scope, in order. Names have no prefix.
///
/// Names and values are reference-counted, so a repeated decision clones them cheaply.
pub type StateChanges = Vec<(Arc<str>, Change)>;

/// A delta, split by scope. `temp:` keys are left out: they are never stored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Delta {
    /// Keys without one of the ADK's prefixes.
    pub session: StateChanges,
    /// `user:` and `app:` keys, without the prefix.
    pub shared: ByOwner<StateChanges>,
}

impl Delta {
    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.changes().next().is_none()
    }

    /// Iterates over the changes of all scopes.
    pub(crate) fn changes(&self) -> impl Iterator<Item = &(Arc<str>, Change)> {
        let [user, app] = self.shared.as_ref().values();
        self.session.iter().chain(user).chain(app)
    }

    /// Splits the JSON text of a delta by scope. A delta replaces whole values; there is no deep
    /// merge.
    ///
    /// # Errors
    /// Fails with `unserializable` if the text is not a JSON object.
    ///
    /// ```
    /// use adk_session::state::{Change, Delta};
    /// let delta = Delta::parse(r#"{"n":1,"user:x":"__ADK_SENTINEL_REMOVED__","temp:t":0}"#)?;
    /// assert_eq!(delta.session, [("n".into(), Change::Set("1".into()))]);
    /// assert_eq!(delta.shared.user, [("x".into(), Change::Remove)]);
    /// assert!(delta.shared.app.is_empty());
    /// # Ok::<(), adk_session::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut delta = Self::default();
        split_object("delta", text, &mut |key, value| {
            let (scope, name) = Scope::split(key);
            let changes = match scope {
                Scope::Session => &mut delta.session,
                Scope::User => &mut delta.shared.user,
                Scope::App => &mut delta.shared.app,
                Scope::Temp => return,
            };
            let change =
                if value == REMOVED_JSON { Change::Remove } else { Change::Set(value.into()) };
            changes.push((name.into(), change));
        })?;
        Ok(delta)
    }

    /// Adds the changes of a later delta.
    pub fn extend(&mut self, later: Self) {
        let ByOwner { user, app } = later.shared;
        add(&mut self.session, later.session);
        add(&mut self.shared.user, user);
        add(&mut self.shared.app, app);
    }
}

/// The first changes are moved, not copied: nearly all appends have one event.
fn add(changes: &mut StateChanges, later: StateChanges) {
    if changes.is_empty() {
        *changes = later;
    } else {
        changes.extend(later);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_is_a_value_and_not_a_removal() {
        let delta = Delta::parse(r#"{"a":null}"#).unwrap();
        assert_eq!(delta.session, [("a".into(), Change::Set("null".into()))]);
    }

    #[test]
    fn a_longer_string_that_begins_like_the_sentinel_is_a_value() {
        let delta = Delta::parse(r#"{"a":"__ADK_SENTINEL_REMOVED__!"}"#).unwrap();
        assert!(matches!(delta.session[0].1, Change::Set(_)));
    }
}
