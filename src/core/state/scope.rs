//! The scopes of state values, which the prefixes of their keys name.

/// Keys with this prefix are shared by all users and sessions of an app.
pub const KEY_PREFIX_APP: &str = "app:";
/// Keys with this prefix are shared by all sessions of one user of an app.
pub const KEY_PREFIX_USER: &str = "user:";
/// Keys with this prefix live for one invocation and are never stored.
pub const KEY_PREFIX_TEMP: &str = "temp:";

/// The scope of a state value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// This session. Keys with any prefix that is not the ADK's belong here too.
    Session,
    /// All sessions of the user.
    User,
    /// All users of the app.
    App,
    /// This invocation; never stored.
    Temp,
}

impl Scope {
    /// All scopes. No prefix begins with another one, except that each begins with the session's
    /// empty one, which is the last.
    pub(crate) const ALL: [Self; 4] = [Self::User, Self::App, Self::Temp, Self::Session];

    /// Splits a key into its scope and its name within it.
    ///
    /// ```
    /// use adk_session::state::Scope;
    /// assert_eq!(Scope::split("user:name"), (Scope::User, "name"));
    /// assert_eq!(Scope::split("cart:items"), (Scope::Session, "cart:items"));
    /// ```
    pub fn split(key: &str) -> (Self, &str) {
        let mut split = Self::ALL
            .into_iter()
            .filter_map(|scope| Some((scope, key.strip_prefix(scope.prefix())?)));
        split.next().unwrap_or((Self::Session, key))
    }

    /// Returns the prefix of this scope's keys.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Session => "",
            Self::User => KEY_PREFIX_USER,
            Self::App => KEY_PREFIX_APP,
            Self::Temp => KEY_PREFIX_TEMP,
        }
    }
}

/// A value for each scope that sessions share, whose state a user or an app owns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ByOwner<T> {
    /// For the user.
    pub user: T,
    /// For the app.
    pub app: T,
}

impl<T> ByOwner<T> {
    /// Returns references to both.
    pub fn as_ref(&self) -> ByOwner<&T> {
        ByOwner { user: &self.user, app: &self.app }
    }

    /// Converts both.
    pub fn map<U>(self, convert: impl Fn(T) -> U) -> ByOwner<U> {
        ByOwner { user: convert(self.user), app: convert(self.app) }
    }

    /// Pairs both with those of another.
    pub fn zip<U>(self, other: ByOwner<U>) -> ByOwner<(T, U)> {
        ByOwner { user: (self.user, other.user), app: (self.app, other.app) }
    }

    /// Returns that of the user, and that of the app.
    pub fn values(self) -> [T; 2] {
        let Self { user, app } = self;
        [user, app]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_prefix_counts() {
        assert_eq!(Scope::split("app:user:x"), (Scope::App, "user:x"));
        assert_eq!(Scope::split("xapp:y"), (Scope::Session, "xapp:y"));
        assert_eq!(Scope::split("app:"), (Scope::App, ""));
        assert_eq!(Scope::split("App:y"), (Scope::Session, "App:y"));
    }
}
