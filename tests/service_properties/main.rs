//! Properties of a session service: after any sequence of calls, it equals a naive model.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "clippy takes helpers of tests for the program"
)]

mod model;
mod steps;

use adk_session::Error;
use adk_session::memory::MemoryStorage;
use adk_session::read::{ListQuery, Window};
use adk_session::service::text_service::{ReadSession, TextService};
use adk_session::session::{Revision, SessionHead};
use adk_session::storage::{Deletion, Storage};
use adk_session::write::{Append, HandlePosition, NewSession, StalePolicy, Update};
use proptest::prelude::*;
use serde_json::{Map, Value};

use crate::model::{Model, NaiveEvent, Scope};
use crate::steps::{
    APPS, Entry, Given, IDS, Place, Stand, Step, USERS, delta, event_id, event_text, key_of,
    new_event, steps,
};

fn texts(stored: ReadSession) -> Vec<String> {
    stored.events.into_iter().map(String::from).collect()
}

fn object(json: &str) -> Scope {
    serde_json::from_str::<Map<String, Value>>(json).unwrap().into_iter().collect()
}

struct Test {
    service: TextService<MemoryStorage>,
    model: Model,
}

impl Test {
    async fn step(&mut self, step: &Step) -> Result<(), TestCaseError> {
        self.model.now += 1;
        match step {
            Step::Create(place, state) => self.create(*place, state).await?,
            Step::GetOrCreate(place, state) => self.get_or_create(*place, state).await?,
            Step::Append(place, events, stand, policy) => {
                self.append(*place, events, *stand, *policy).await?;
            }
            Step::UpdateUser(place, entries) => {
                let (app, user) = (APPS[place.0].to_owned(), Some(USERS[place.1].to_owned()));
                self.update(app, user, entries).await.map_err(refused)?;
                self.model.apply(*place, entries);
            }
            Step::UpdateApp(place, entries) => {
                let app = APPS[place.0].to_owned();
                self.update(app, None, entries).await.map_err(refused)?;
                self.model.apply(*place, entries);
            }
            Step::DeleteSession(place) => {
                self.delete(Deletion::Session(key_of(*place))).await;
                self.model.sessions.remove(place);
            }
            Step::DeleteUser((app, user, _)) => {
                let (app_name, user_id) = (APPS[*app].to_owned(), USERS[*user].to_owned());
                self.delete(Deletion::User { app_name, user_id }).await;
                self.model.sessions.retain(|place, _| (place.0, place.1) != (*app, *user));
                self.model.users.remove(&(*app, *user));
            }
            Step::DeleteUserState((app, user, _)) => {
                let (app_name, user_id) = (APPS[*app].to_owned(), USERS[*user].to_owned());
                self.delete(Deletion::UserState { app_name, user_id }).await;
                self.model.users.remove(&(*app, *user));
            }
            Step::DeleteAppState((app, ..)) => {
                self.delete(Deletion::AppState { app_name: APPS[*app].to_owned() }).await;
                self.model.apps.remove(app);
            }
        }
        Ok(())
    }

    async fn update(
        &self,
        app_name: String,
        user_id: Option<String>,
        entries: &[Entry],
    ) -> Result<(), Error> {
        let mut update = Update::new(app_name, user_id, delta(entries))?;
        self.service.write(&mut update).await?;
        update.finish()?;
        Ok(())
    }

    async fn delete(&self, deletion: Deletion) {
        self.service.storage().delete(&deletion, &()).await.unwrap();
    }

    async fn create(&mut self, place: Place, state: &[Entry]) -> Result<(), TestCaseError> {
        let new = NewSession::new(delta(state), self.model.time());
        let created = self.service.create_session(key_of(place), new);
        match (created.await, self.model.sessions.contains_key(&place)) {
            (Ok(session), false) => {
                self.model.create(place, state, session.head)?;
                prop_assert_eq!(object(&session.state), self.model.seen(place));
            }
            (Err(error), true) => prop_assert_eq!(error.code(), "already_exists"),
            other => prop_assert!(false, "{:?}", other),
        }
        Ok(())
    }

    async fn get_or_create(&mut self, place: Place, state: &[Entry]) -> Result<(), TestCaseError> {
        let new = NewSession::new(delta(state), self.model.time());
        let session = self.service.get_or_create_session(key_of(place), new);
        let session = session.await.map_err(refused)?;
        if !self.model.sessions.contains_key(&place) {
            self.model.create(place, state, session.head)?;
        }
        prop_assert_eq!(object(&session.state), self.model.seen(place));
        prop_assert_eq!(session.head, self.model.sessions[&place].head);
        Ok(())
    }

    async fn append(
        &mut self,
        place: Place,
        events: &[Given],
        stand: Stand,
        policy: StalePolicy,
    ) -> Result<(), TestCaseError> {
        let heads = self.model.heads.get(&place).map_or(&[][..], Vec::as_slice);
        let read = match stand {
            Stand::Read(number) if !heads.is_empty() => Some(heads[number % heads.len()]),
            _ => None,
        };
        let position = match (stand, read) {
            (_, Some(head)) => {
                HandlePosition::Revision { created: head.created, revision: head.revision }
            }
            (Stand::LastEvent(number), _) => HandlePosition::LastEvent(number.map(event_id)),
            _ => HandlePosition::Latest,
        };
        let given = events.iter().map(new_event).collect();
        let mut append = Append::new(key_of(place), position, policy, given);
        self.service.write(&mut append).await.map_err(refused)?;
        let appended = append.finish();

        let before = self.model.sessions.get(&place).cloned();
        let Some(before) =
            before.filter(|session| read.is_none_or(|head| head.created == session.head.created))
        else {
            prop_assert_eq!(appended.unwrap_err().code(), "not_found");
            return Ok(());
        };
        // The events that the handle has missed, because they were written after its revision.
        let since = match (stand, read) {
            (_, Some(head)) => head.revision,
            (Stand::LastEvent(last), _) => {
                let last = before.events.iter().find(|event| Some(event.number) == last);
                last.map_or(before.head.created, |event| event.seq)
            }
            _ => Revision::MAX,
        };
        let is_stale = match read {
            Some(head) => head.revision < before.head.revision,
            None => before.events.iter().any(|event| event.seq > since),
        };
        // The model does not define whether a retry, which changes nothing, conflicts.
        let is_stored = |given: &Given| {
            let text = event_text(given);
            before.events.iter().any(|event| event.number == given.0 && event.text == text)
        };
        let changes_nothing = events.iter().all(is_stored);
        if policy == StalePolicy::Reject && is_stale && !(changes_nothing && appended.is_ok()) {
            let error = appended.unwrap_err();
            let is_exact = matches!(
                error,
                Error::StaleSession { expected, actual, .. }
                    if expected == since && actual == before.head.revision
            );
            prop_assert!(is_exact, "{:?}", error);
            return Ok(());
        }
        let appended = match appended {
            Ok(appended) => appended,
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        };
        if policy == StalePolicy::Merge {
            let mut missed: Vec<_> = appended
                .missed
                .iter()
                .map(|row| (row.seq, row.revision, String::from(row.text.clone())))
                .collect();
            missed.sort();
            let new = before.events.iter().filter(|event| event.revision > since);
            let mut expected: Vec<_> =
                new.map(|event| (event.seq, event.revision, event.text.clone())).collect();
            expected.sort();
            prop_assert_eq!(missed, expected);
        } else {
            prop_assert!(appended.missed.is_empty());
        }
        self.appended(place, events, &appended.unchanged, appended.head)
    }

    /// Does to the model what an append did.
    fn appended(
        &mut self,
        place: Place,
        events: &[Given],
        unchanged: &[(usize, Revision)],
        head: SessionHead,
    ) -> Result<(), TestCaseError> {
        let mut same = Vec::new();
        let mut still = (events.len() - unchanged.len()) as u64;
        for (position, given) in events.iter().enumerate() {
            let session = self.model.sessions.get_mut(&place).unwrap();
            let text = event_text(given);
            let old = session.events.iter_mut().find(|event| event.number == given.0);
            if let Some(old) = old.as_ref().filter(|old| old.text == text) {
                same.push((position, old.revision));
                continue;
            }
            // The events of an append get one revision after the other, up to the session's.
            still -= 1;
            let revision = head.revision - still;
            let time = session.head.last_update_time.max(given.1);
            session.head.last_update_time = time;
            match old {
                Some(old) => (old.text, old.revision) = (text, revision),
                None => {
                    let number = given.0;
                    session.events.push(NaiveEvent { number, text, seq: revision, revision });
                }
            }
            self.model.apply(place, &given.3);
        }
        prop_assert_eq!(unchanged, &same[..]);
        let session = self.model.sessions.get_mut(&place).unwrap();
        prop_assert_eq!(head.created, session.head.created);
        prop_assert_eq!(head.last_update_time, session.head.last_update_time);
        session.head = head;
        if same.len() < events.len() { self.model.was_given(place, head) } else { Ok(()) }
    }

    /// Compares everything that can be read.
    async fn check(&mut self) -> Result<(), TestCaseError> {
        for (app, app_name) in APPS.iter().enumerate() {
            let in_app = |place: &&Place| place.0 == app;
            let total = self.model.sessions.keys().filter(in_app).count();
            self.check_list(app_name, None, total).await?;
            let state = self.service.get_shared_state((*app_name).to_owned(), None);
            let naive = self.model.apps.get(&app).cloned().unwrap_or_default();
            prop_assert_eq!(object(&state.await.map_err(refused)?), naive);
            for (user, user_id) in USERS.iter().enumerate() {
                let of_user = |place: &&Place| (place.0, place.1) == (app, user);
                let total = self.model.sessions.keys().filter(of_user).count();
                self.check_list(app_name, Some(user_id), total).await?;
                let (app_name, user_id) = ((*app_name).to_owned(), Some((*user_id).to_owned()));
                let state = self.service.get_shared_state(app_name, user_id);
                let naive = self.model.users.get(&(app, user)).cloned().unwrap_or_default();
                prop_assert_eq!(object(&state.await.map_err(refused)?), naive);
                for id in 0..IDS.len() {
                    self.check_session((app, user, id)).await?;
                }
            }
        }
        Ok(())
    }

    async fn check_list(
        &self,
        app: &str,
        user: Option<&&str>,
        total: usize,
    ) -> Result<(), TestCaseError> {
        let user_id = user.map(|user| (*user).to_owned());
        let request = ListQuery { app_name: app.to_owned(), user_id, ..ListQuery::default() };
        let listed = self.service.list_sessions(request).await;
        let (sessions, found) = listed.map_err(refused)?;
        prop_assert_eq!((found, sessions.len()), (total, total));
        for session in sessions {
            let at = |names: &[&str], name: &str| names.iter().position(|known| *known == name);
            let key = &session.key;
            let place = (at(&APPS, app), at(&USERS, &key.user_id), at(&IDS, &key.session_id));
            let place = (place.0.unwrap(), place.1.unwrap(), place.2.unwrap());
            prop_assert_eq!(session.head, self.model.sessions[&place].head);
            prop_assert_eq!(object(&session.state), self.model.seen(place));
        }
        Ok(())
    }

    async fn check_session(&self, place: Place) -> Result<(), TestCaseError> {
        let stored = self.service.get_session(key_of(place), Window::ALL).await.map_err(refused)?;
        let naive = self.model.sessions.get(&place);
        prop_assert_eq!(stored.is_some(), naive.is_some());
        if let Some((stored, naive)) = stored.zip(naive) {
            prop_assert_eq!(stored.head, naive.head);
            prop_assert_eq!(object(&stored.state), self.model.seen(place));
            let expected: Vec<_> = naive.events.iter().map(|event| event.text.clone()).collect();
            prop_assert_eq!(texts(stored), expected);
        }
        Ok(())
    }
}

fn refused(refusal: impl std::fmt::Debug) -> TestCaseError {
    TestCaseError::fail(format!("refused: {refusal:?}"))
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_service_equals_the_model(steps in steps()) {
        block_on(async {
            let service = TextService::over(MemoryStorage::new());
            let mut test = Test { service, model: Model::default() };
            for step in &steps {
                test.step(step).await?;
                test.check().await?;
            }
            Ok::<(), TestCaseError>(())
        })?;
    }
}
