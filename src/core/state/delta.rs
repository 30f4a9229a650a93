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
        Self::parse_with_order(text).map(|(delta, _)| delta)
    }

    /// Does the same as [`Delta::parse`]. Also returns whether the keys stand as a read returns them: the session's own,
    /// the user's, and the app's.
    ///
    /// # Errors
    /// Fails as that does.
    #[doc(hidden)]
    pub fn parse_with_order(text: &str) -> Result<(Self, bool), Error> {
        let mut delta = Self::default();
        let mut is_in_order = true;
        split_object("delta", text, &mut |key, value| {
            let (scope, name) = Scope::split(key);
            let ByOwner { user, app } = &mut delta.shared;
            let (changes, are_before) = match scope {
                Scope::Session => (&mut delta.session, user.is_empty() && app.is_empty()),
                Scope::User => (user, app.is_empty()),
                Scope::App => (app, true),
                Scope::Temp => {
                    is_in_order = false;
                    return;
                }
            };
            is_in_order &= are_before;
            let change =
                if value == REMOVED_JSON { Change::Remove } else { Change::Set(value.into()) };
            changes.push((name.into(), change));
        })?;
        Ok((delta, is_in_order))
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
    fn keys_of_temp_are_in_no_scope_that_is_stored() {
        let delta = Delta::parse(r#"{"temp:t":1,"user:x":2,"temp:user:y":3}"#).unwrap();
        assert!(delta.session.is_empty());
        assert!(delta.shared.app.is_empty());
        assert_eq!(delta.shared.user, [("x".into(), Change::Set("2".into()))]);
    }

    #[test]
    fn keys_of_a_user_and_of_an_app_reach_that_owner_alone() {
        let delta = Delta::parse(r#"{"user:x":1,"app:x":2,"x":3}"#).unwrap();
        let set = |value: &str| [("x".into(), Change::Set(value.into()))];
        assert_eq!(delta.shared.user, set("1"));
        assert_eq!(delta.shared.app, set("2"));
        assert_eq!(delta.session, set("3"));
    }

    #[test]
    fn null_is_a_value_and_not_a_removal() {
        let delta = Delta::parse(r#"{"a":null}"#).unwrap();
        assert_eq!(delta.session, [("a".into(), Change::Set("null".into()))]);
    }

    #[test]
    fn the_keys_of_a_delta_stand_as_a_read_returns_them_only_by_scope() {
        for (text, expected) in [
            ("{}", true),
            (r#"{"a":1,"user:b":1,"user:c":1,"app:d":1}"#, true),
            (r#"{"app:d":1}"#, true),
            (r#"{"user:b":1,"a":1}"#, false),
            (r#"{"app:d":1,"a":1}"#, false),
            (r#"{"app:d":1,"user:b":1}"#, false),
            (r#"{"a":1,"temp:t":1}"#, false),
        ] {
            assert_eq!(Delta::parse_with_order(text).unwrap().1, expected, "{text}");
        }
    }

    #[test]
    fn a_longer_string_that_begins_like_the_sentinel_is_a_value() {
        let delta = Delta::parse(r#"{"a":"__ADK_SENTINEL_REMOVED__!"}"#).unwrap();
        assert!(matches!(delta.session[0].1, Change::Set(_)));
    }
}
