//! The key of a session, and which ids are valid.

use crate::core::error::{Error, Field};

/// The longest app name, user id or session id, in bytes of UTF-8.
pub const MAX_ID_BYTES: usize = 512;

/// The three names that identify a session, all of them valid. They compare exactly. They are never
/// joined into one string, so no character in one can reach another session's data.
///
/// A key cannot be made or changed without the check:
///
/// ```compile_fail,E0451
/// # use adk_session::SessionKey;
/// let (app_name, user_id) = ("shop".to_owned(), "ada".to_owned());
/// SessionKey { app_name, user_id, session_id: String::new() };
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionKey {
    pub(crate) app_name: String,
    pub(crate) user_id: String,
    pub(crate) session_id: String,
}

impl SessionKey {
    /// Checks all three names.
    ///
    /// # Errors
    /// Fails with `invalid_argument` naming the id that is empty or longer than [`MAX_ID_BYTES`].
    ///
    /// ```
    /// use adk_session::SessionKey;
    /// assert!(SessionKey::new("app", "user", "a/b:%\0").is_ok());
    /// assert_eq!(SessionKey::new("app", "", "s").unwrap_err().code(), "invalid_argument");
    /// ```
    pub fn new(
        app_name: impl Into<String>,
        user_id: impl Into<String>,
        session_id: impl Into<String>,
    ) -> Result<Self, Error> {
        let key = Self {
            app_name: app_name.into(),
            user_id: user_id.into(),
            session_id: session_id.into(),
        };
        check_owner(&key.app_name, Some(&key.user_id))?;
        check_id(Field::SessionId, &key.session_id)?;
        Ok(key)
    }

    /// Returns the key of a stored row, whose names were checked already.
    #[doc(hidden)]
    pub fn stored(app_name: String, user_id: String, session_id: String) -> Self {
        Self { app_name, user_id, session_id }
    }

    /// Returns the app's name.
    pub fn app_name(&self) -> &str {
        &self.app_name
    }

    /// Returns the id of the user of the app.
    pub fn user_id(&self) -> &str {
        &self.user_id
    }

    /// Returns the id of the session of that user.
    pub fn session_id(&self) -> &str {
        &self.session_id
    }
}

/// Checks the ids of an app and of a user of it.
///
/// # Errors
/// Fails with `invalid_argument` naming the id.
pub fn check_owner(app_name: &str, user_id: Option<&str>) -> Result<(), Error> {
    check_id(Field::AppName, app_name)?;
    user_id.map_or(Ok(()), |user_id| check_id(Field::UserId, user_id))
}

/// Checks that `id` is not empty and not longer than [`MAX_ID_BYTES`].
///
/// # Errors
/// Fails with `invalid_argument` naming the field.
pub(crate) fn check_id(field: Field, id: &str) -> Result<(), Error> {
    if id.is_empty() {
        return Err(Error::invalid(field, "must not be empty"));
    }
    if id.len() > MAX_ID_BYTES {
        return Err(Error::invalid(
            field,
            format!("must be at most {MAX_ID_BYTES} bytes of UTF-8, but has {}", id.len()),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_of_512_bytes_is_the_longest() {
        assert!(check_id(Field::UserId, &"x".repeat(512)).is_ok());
        assert!(check_id(Field::UserId, &"ü".repeat(257)).is_err());
    }

    #[test]
    fn the_error_names_the_field() {
        let error = SessionKey::new("", "user", "session").unwrap_err();
        assert_eq!(error.to_string(), "app_name must not be empty");
    }
}
