//! Runs the steps of a case, and compares their results.

mod lists;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::future::poll_fn;
use std::task::Poll;

use serde_json::{Map, Value, json};

use crate::conformance::case::{Call, Op, Step};
use crate::conformance::expect::{Kind, compare};
use crate::conformance::handle::{Handle, Outgoing, parse_object, to_text};
use crate::conformance::request::Request;
use crate::conformance::stop::Stop;
use crate::conformance::together::{Pending, together};
use crate::conformance::verdict::Verdict;
use crate::core::error::Error;
use crate::core::event::{NewEvent, Replaceable};
use crate::core::read::ListPlace;
use crate::core::session::{Revision, SessionHead, SessionKey, Timestamp};
use crate::core::state::Delta;
use crate::core::storage::{Deletion, Storage};
use crate::core::write::{Append, ComputeDelta, Computed, HandlePosition, StalePolicy, Update};
use crate::host;
use crate::service::text_service::{EventCursor, ReadSession};
use crate::service::{Description, StoredSessionService};

/// A case in progress.
pub(super) struct Runner<S> {
    service: StoredSessionService<S>,
    stale: StalePolicy,
    /// The value is `None` while a step appends through the handle.
    handles: RefCell<BTreeMap<String, Option<Handle>>>,
    /// The cursors of pages of events: before and after each.
    pages: RefCell<BTreeMap<String, [Option<EventCursor>; 2]>>,
    /// The places at which pages of sessions end.
    places: RefCell<BTreeMap<String, ListPlace>>,
    /// The highest revision seen of each session.
    newest: RefCell<BTreeMap<SessionKey, Revision>>,
}

impl<S: Storage> Runner<S> {
    pub(super) fn new(storage: S, stale: StalePolicy) -> Self {
        Self {
            service: StoredSessionService::over(storage),
            stale,
            handles: RefCell::default(),
            pages: RefCell::default(),
            places: RefCell::default(),
            newest: RefCell::default(),
        }
    }

    pub(super) async fn run(&self, steps: &[Step]) -> Verdict {
        for (number, step) in steps.iter().enumerate() {
            let result = match step {
                Step::One(call) => self.check(call).await.map(drop),
                Step::Parallel { calls, outcomes } => {
                    self.run_parallel(calls, outcomes.as_ref()).await
                }
            };
            result.map_err(|reason| format!("step {}: {reason}", number + 1))?;
        }
        Ok(())
    }

    async fn run_parallel(
        &self,
        calls: &[Call],
        outcomes: Option<&BTreeMap<String, usize>>,
    ) -> Verdict {
        let checks = calls.iter().map(|call| -> Pending<'_, _> {
            match outcomes {
                None => Box::pin(self.check(call)),
                Some(_) => Box::pin(self.tell(call)),
            }
        });
        let mut counted = BTreeMap::new();
        for outcome in together(checks.collect()).await {
            *counted.entry(outcome?).or_insert(0) += 1;
        }
        match outcomes {
            Some(expected) if *expected != counted => {
                Err(format!("the outcomes are {counted:?}, but should be {expected:?}"))
            }
            _ => Ok(()),
        }
    }

    /// Runs a call, and fails unless it ends as the step says.
    async fn check(&self, call: &Call) -> Result<String, String> {
        let expected = call.error.as_deref();
        let outcome = self.tell(call).await?;
        if outcome == expected.unwrap_or("ok") || call.may_fail.as_ref() == Some(&outcome) {
            return Ok(outcome);
        }
        let expected = expected.map_or("succeed".into(), |code| format!("be refused as {code}"));
        Err(format!("{:?} ended with {outcome}, but should {expected}", call.op))
    }

    /// Runs a call. Returns the code of its refusal, or `ok` if it succeeded as expected.
    async fn tell(&self, call: &Call) -> Result<String, String> {
        let at = |reason| format!("{:?}: {reason}", call.op);
        match self.perform(call).await {
            Ok((kind, answer)) => match &call.expect {
                Some(expected) => {
                    compare(kind, expected, &answer).map(|()| "ok".to_owned()).map_err(at)
                }
                None => Ok("ok".to_owned()),
            },
            Err(Stop::Refused(error)) => Ok(error.code().to_owned()),
            Err(Stop::Broken(reason)) => Err(at(reason)),
        }
    }

    async fn perform(&self, call: &Call) -> Result<(Kind, Value), Stop> {
        let with = Request(&call.with);
        let service = &self.service.texts;
        let deletion = match call.op {
            Op::CreateSession => {
                let new = with.new_session(call.now)?;
                let session = service.create_session(with.new_key()?, new).await?;
                self.see_created(&session)?;
                return self.keep(call, Handle::of(session)?);
            }
            Op::GetOrCreateSession => {
                let new = with.new_session(call.now)?;
                let session = service.get_or_create_session(with.new_key()?, new).await?;
                self.see(&session.key, session.head);
                return self.keep(call, Handle::of(session)?);
            }
            Op::GetSession => {
                let session = service.get_session(with.key()?, with.read()?).await?;
                return match session {
                    Some(session) => self.keep(call, Handle::of(session)?),
                    None => Ok((Kind::Session, Value::Null)),
                };
            }
            Op::ListSessions => return self.list(call).await,
            Op::ListEvents => return self.list_events(call).await,
            Op::GetEvents => return self.get_events(with).await,
            Op::ListChanges => return self.list_changes(call).await,
            Op::Events => return self.walk(with).await,
            Op::AppendEvent | Op::AppendEvents => return self.append(call).await,
            Op::UpdateState => return self.update(with, call.now).await,
            Op::UpdateSession => {
                self.service.describe_session(&with.key()?, with.describe()).await?;
                return Ok((Kind::Nothing, Value::Null));
            }
            Op::SessionInfo => return self.count_session(with).await,
            Op::Count => return self.count(with, call.now).await,
            Op::GetUserState | Op::GetAppState => {
                let user_id = match call.op {
                    Op::GetUserState => Some(with.user_id()?),
                    _ => None,
                };
                let state = service.get_shared_state(with.app_name()?, user_id).await?;
                return Ok((Kind::State, parse_object(&state)?.into()));
            }
            Op::MakeHandle => {
                return self.keep(call, Handle::hand_made(with.key()?, &call.with));
            }
            Op::Inspect => {
                let name = call.handle.as_deref().unwrap_or_default();
                return Ok((Kind::Session, self.copy_of(name).await?.to_json()));
            }
            Op::DeleteSession => Deletion::Session(with.key()?),
            Op::DeleteUser => {
                Deletion::User { app_name: with.app_name()?, user_id: with.user_id()? }
            }
            Op::DeleteUserState => {
                Deletion::UserState { app_name: with.app_name()?, user_id: with.user_id()? }
            }
            Op::DeleteAppState => Deletion::AppState { app_name: with.app_name()? },
        };
        self.service.remove(deletion).await?;
        Ok((Kind::Nothing, Value::Null))
    }

    fn keep(&self, call: &Call, handle: Handle) -> Result<(Kind, Value), Stop> {
        let session = handle.to_json();
        if let Some(name) = &call.keep_as {
            self.handles.borrow_mut().insert(name.clone(), Some(handle));
        }
        Ok((Kind::Session, session))
    }

    /// Takes the handle of that name, once no other step appends through it.
    async fn take(&self, name: &str) -> Result<Handle, Stop> {
        poll_fn(|_| match self.handles.borrow_mut().get_mut(name) {
            None => Poll::Ready(Err(Stop::Broken(format!("there is no handle {name:?}")))),
            Some(slot) => match slot.take() {
                Some(handle) => Poll::Ready(Ok(handle)),
                // A parallel step has the handle. When that step ends, all others are polled again.
                None => Poll::Pending,
            },
        })
        .await
    }

    /// Returns the handle of that name as it is, once no other step appends through it.
    async fn copy_of(&self, name: &str) -> Result<Handle, Stop> {
        let handle = self.take(name).await?;
        self.handles.borrow_mut().insert(name.to_owned(), Some(handle.clone()));
        Ok(handle)
    }

    async fn append(&self, call: &Call) -> Result<(Kind, Value), Stop> {
        let expected = match call.with.get("expectedRevision").and_then(Value::as_str) {
            Some(name) => Some(self.revision_of(name).await?),
            None => None,
        };
        let mut expected_events = HashMap::new();
        let given = call.with.get("expectedEvents").and_then(Value::as_object);
        for (id, name) in given.into_iter().flatten() {
            let revision = match name.as_str() {
                Some(name) => Some(self.revision_of(name).await?),
                None => None,
            };
            expected_events.insert(id.as_str(), revision);
        }
        let name = call.handle.as_deref().unwrap_or_default();
        let mut handle = self.take(name).await?;
        let result = self.append_through(&mut handle, call, expected, &expected_events).await;
        self.handles.borrow_mut().insert(name.to_owned(), Some(handle));
        result.map(|()| (Kind::Nothing, Value::Null))
    }

    async fn revision_of(&self, name: &str) -> Result<Revision, Stop> {
        let revision = self.copy_of(name).await?.revision();
        revision.ok_or_else(|| Stop::Broken(format!("the revision of {name:?} is not known")))
    }

    async fn append_through(
        &self,
        handle: &mut Handle,
        call: &Call,
        expected: Option<Revision>,
        expected_events: &HashMap<&str, Option<Revision>>,
    ) -> Result<(), Stop> {
        let one = call.with.get("event").map(std::slice::from_ref);
        let several = call.with.get("events").and_then(Value::as_array).map(Vec::as_slice);
        let written = one.or(several).unwrap_or_default();
        let own: Vec<Outgoing> = written.iter().map(Outgoing::new).collect();
        let events: Result<Vec<NewEvent>, Stop> = own.iter().map(Outgoing::to_new_event).collect();
        let mut events = events?;
        for event in &mut events {
            event.replaces = match expected_events.get(&*event.id) {
                None => Replaceable::Any,
                Some(None) => Replaceable::Nothing,
                Some(Some(revision)) => Replaceable::Revision(*revision),
            };
        }
        let (key, position) = (handle.key.clone(), handle.position.clone());
        let mut append = Append::new(key, position, self.stale, events);
        if let Some(revision) = expected {
            append = append.expecting(revision);
        }
        self.service.texts.write(&mut append).await?;
        let appended = append.finish()?;
        self.see(&handle.key, appended.head);
        handle.receive(appended, &own)
    }

    async fn update(&self, with: Request<'_>, now: Timestamp) -> Result<(Kind, Value), Stop> {
        let delta = with.0.get("stateDelta").and_then(Value::as_object);
        let delta = delta.cloned().unwrap_or_default();
        if with.text("sessionId", None).is_some() {
            let event = Outgoing::new(&json!({
                "author": "user",
                "invocationId": format!("p-{}", host::new_id()),
                "timestamp": now,
                "actions": {"stateDelta": delta},
            }));
            let events = vec![event.to_new_event()?];
            let (position, policy) = (HandlePosition::Latest, StalePolicy::Append);
            let mut append = Append::new(with.key()?, position, policy, events);
            self.service.texts.write(&mut append).await?;
            append.finish()?;
        } else {
            let (app_name, user_id) = (with.app_name()?, with.text("userId", None));
            let delta = Delta::parse(&to_text(&delta))?;
            let mut update = Update::new(app_name, user_id, delta)?;
            self.service.texts.write(&mut update).await?;
            update.finish()?;
        }
        Ok((Kind::Nothing, Value::Null))
    }

    async fn count(&self, with: Request<'_>, now: Timestamp) -> Result<(Kind, Value), Stop> {
        let key = with.needed("key", "")?;
        let fails = with.text("fails", None).is_some();
        let draft = Outgoing::new(&json!({"author": "user", "timestamp": now}));
        let event = draft.to_new_event()?;
        let compute: Box<dyn ComputeDelta> = Box::new(move |state| {
            let mut delta = Map::new();
            if fails {
                return Err(Error::Readonly { key: key.clone() });
            }
            if !key.is_empty() {
                let state: Map<String, Value> = serde_json::from_str(state).unwrap_or_default();
                let count = state.get(&key).and_then(Value::as_u64).unwrap_or_default();
                delta.insert(key.clone(), Value::from(count + 1));
            }
            let text = draft.with_delta(&delta).to_string().into();
            Ok(Computed { delta: Delta::parse(&to_text(&delta))?, text })
        });
        if with.text("sessionId", None).is_some() {
            let (position, policy) = (HandlePosition::Latest, StalePolicy::Append);
            let append = Append::new(with.key()?, position, policy, vec![event]);
            let mut append = append.computing(compute)?;
            self.service.texts.write(&mut append).await?;
            append.finish()?;
        } else {
            let (app_name, user_id) = (with.app_name()?, with.text("userId", None));
            let update = Update::new(app_name, user_id, Delta::default())?;
            let mut update = update.computing(compute);
            self.service.texts.write(&mut update).await?;
            update.finish()?;
        }
        Ok((Kind::Nothing, Value::Null))
    }

    async fn count_session(&self, with: Request<'_>) -> Result<(Kind, Value), Stop> {
        let info = self.service.session_info(&with.key()?).await?;
        let Description { title, labels, parent, initial_state } = info.description;
        let info = json!({
            "createTime": info.create_time,
            "lastUpdateTime": info.last_update_time,
            "eventCount": info.event_count,
            "bytes": info.bytes,
            "usage": info.usage,
            "title": title,
            "labels": Some(labels).filter(|labels| !labels.is_empty()),
            "parent": parent,
            "initialState": initial_state,
        });
        Ok((Kind::Session, info))
    }

    fn see(&self, key: &SessionKey, head: SessionHead) {
        let mut newest = self.newest.borrow_mut();
        let newest = newest.entry(key.clone()).or_default();
        *newest = head.revision.max(*newest);
    }

    /// Checks that no revision is reused, not even after the session was deleted.
    fn see_created(&self, session: &ReadSession) -> Result<(), Stop> {
        let newest = self.newest.borrow().get(&session.key).copied().unwrap_or_default();
        self.see(&session.key, session.head);
        if session.head.created > newest {
            return Ok(());
        }
        let created = session.head.created;
        Err(Stop::Broken(format!("it was created at {created}, though it has been at {newest}")))
    }
}
