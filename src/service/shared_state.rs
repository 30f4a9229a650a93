//! The states of users and apps, and changes that are computed from a state.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::core::error::Error;
use crate::core::event::Event;
use crate::core::session::SessionKey;
use crate::core::state::Delta;
use crate::core::storage::Storage;
use crate::core::write::{Append, Computed, HandlePosition, SharedRevisions, StalePolicy, Update};
use crate::host::SendOutsideWasm;
use crate::service::StoredSessionService;
use crate::service::session::read_state;
use crate::service::to_text::{new_delta, new_event};

impl<S: Storage> StoredSessionService<S> {
    /// Returns a user's state, or the app's if no user is named. Names have no prefix.
    ///
    /// # Errors
    /// Fails with `invalid_argument` if a name is invalid, and with `corrupt_record` if the state cannot
    /// be read.
    pub async fn get_shared_state(
        &self,
        app_name: &str,
        user_id: Option<&str>,
    ) -> Result<Map<String, Value>, Error> {
        let state = self.texts.get_shared_state(app_name.to_owned(), user_id.map(str::to_owned));
        read_state(&state.await?, || match user_id {
            Some(user_id) => format!("state of user {user_id:?}"),
            None => format!("state of app {app_name:?}"),
        })
    }

    /// Changes `user:` and `app:` keys without a session, and so without an event. The value
    /// [`REMOVED`](crate::REMOVED) removes its key. Returns the new revisions.
    ///
    /// # Errors
    /// Fails with `invalid_argument` if a name is invalid, or if a key's scope needs an id that is
    /// missing, and with `unserializable` if a value nests more than 200 levels.
    ///
    /// ```
    /// use adk_session::InMemorySessionService;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), adk_session::Error> {
    /// let service = InMemorySessionService::new();
    /// let delta = [("user:name".to_owned(), "Ada".into()), ("app:theme".to_owned(), "dark".into())];
    /// service.update_state("shop", Some("ada"), delta.into()).await?;
    /// assert_eq!(service.get_shared_state("shop", Some("ada")).await?["name"], "Ada");
    /// assert_eq!(service.get_shared_state("shop", None).await?["theme"], "dark");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn update_state(
        &self,
        app_name: &str,
        user_id: Option<&str>,
        delta: HashMap<String, Value>,
    ) -> Result<SharedRevisions, Error> {
        let delta = new_delta("state_delta", &delta)?;
        let (app_name, user_id) = (app_name.to_owned(), user_id.map(str::to_owned));
        let mut update = Update::new(app_name, user_id, delta)?;
        self.texts.write(&mut update).await?;
        update.finish()
    }

    /// Changes `user:` and `app:` keys as [`update_state`](Self::update_state) does, by a delta that
    /// `compute` makes of the stored state, whose keys have prefixes. Nobody changes that state before
    /// the commit, so concurrent calls can count. An empty delta writes nothing.
    ///
    /// `compute` runs within the storage's transaction, and again if the storage retries that. It
    /// must not call the service: over memory such a call fails with `invalid_argument`. Calls of other
    /// threads wait.
    ///
    /// # Errors
    /// Fails as `update_state` does, and with the error of `compute`.
    ///
    /// ```
    /// use adk_session::InMemorySessionService;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), adk_session::Error> {
    /// let service = InMemorySessionService::new();
    /// for _ in 0..3 {
    ///     let add = |state: &serde_json::Map<String, serde_json::Value>| {
    ///         let total = state.get("app:total").and_then(|total| total.as_i64()).unwrap_or(0);
    ///         Ok([("app:total".to_owned(), (total + 1).into())].into())
    ///     };
    ///     service.compute_state("shop", None, add).await?;
    /// }
    /// assert_eq!(service.get_shared_state("shop", None).await?["total"], 3);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn compute_state(
        &self,
        app_name: &str,
        user_id: Option<&str>,
        mut compute: impl FnMut(&Map<String, Value>) -> Result<HashMap<String, Value>, Error>
        + SendOutsideWasm
        + 'static,
    ) -> Result<SharedRevisions, Error> {
        let compute = move |state: &str| {
            Ok(new_delta("state_delta", &compute(&merged_state(state)?)?)?.into())
        };
        let (app_name, user_id) = (app_name.to_owned(), user_id.map(str::to_owned));
        let update = Update::new(app_name, user_id, Delta::default())?;
        let mut update = update.computing(Box::new(compute));
        self.texts.write(&mut update).await?;
        update.finish()
    }

    /// Appends an event whose delta `compute` makes of the stored state, as
    /// [`compute_state`](Self::compute_state) does. An empty delta stores nothing, and neither does a
    /// partial event.
    ///
    /// # Errors
    /// Fails as [`append_event_to`](crate::SessionService::append_event_to) does, and with the error
    /// of `compute`.
    pub async fn compute_event(
        &self,
        key: &SessionKey,
        mut event: Event,
        mut compute: impl FnMut(&Map<String, Value>) -> Result<HashMap<String, Value>, Error>
        + SendOutsideWasm
        + 'static,
    ) -> Result<(), Error> {
        if event.partial {
            return Ok(());
        }
        event.actions.state_delta.clear();
        let draft = self.new_event(event.clone())?;
        // The text needs the same id.
        event.id = draft.id.to_string();
        let compute = move |state: &str| {
            event.actions.state_delta = compute(&merged_state(state)?)?;
            let computed = new_event(event.clone())?;
            Ok(Computed { delta: computed.delta, text: computed.text })
        };
        let (position, policy) = (HandlePosition::Latest, StalePolicy::Append);
        let append = Append::new(key.clone(), position, policy, vec![draft]);
        let mut append = append.computing(Box::new(compute))?;
        self.texts.write(&mut append).await?;
        append.finish()?;
        Ok(())
    }
}

fn merged_state(text: &str) -> Result<Map<String, Value>, Error> {
    read_state(text, || "state".to_owned())
}
