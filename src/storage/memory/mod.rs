//! Sessions in memory: the reference that other storages are compared with.

mod event_log;
mod order;
mod text;

use std::cell::RefCell;
use std::convert::Infallible;
use std::rc::Rc;

use hashbrown::HashMap;

pub use text::MemoryText;

use crate::session::{Revision, SessionHead, SessionKey, Window};
use crate::state::ScopedState;
use crate::storage::memory::event_log::EventLog;
use crate::storage::memory::order::{Order, Position};
use crate::storage::{
    Changes, Decide, Deletion, Found, ListRequest, Listing, Rows, ScopeChange, ScopeRow,
    SessionRow, Storage, Target, WriteRequest,
};

/// Keeps everything in memory; what it keeps is gone with it. Its futures are always ready.
#[derive(Debug, Default)]
pub struct MemoryStorage {
    // Borrowed within one verb, which awaits nothing.
    contents: RefCell<Contents>,
}

#[derive(Debug, Default)]
struct Contents {
    apps: HashMap<String, App>,
    /// The highest revision of anything that was deleted.
    floor: Revision,
}

#[derive(Debug, Default)]
struct App {
    state: Option<ScopeRow>,
    users: HashMap<Rc<str>, User>,
    order: Order,
}

#[derive(Debug, Default)]
struct User {
    state: Option<ScopeRow>,
    sessions: HashMap<Rc<str>, StoredSession>,
    order: Order,
}

#[derive(Debug)]
struct StoredSession {
    head: SessionHead,
    state: ScopedState,
    events: EventLog,
}

impl MemoryStorage {
    /// An empty storage.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Storage for MemoryStorage {
    type Text = MemoryText;
    type Failure = Infallible;

    async fn create<D: Decide<MemoryText> + 'static>(
        &self,
        request: WriteRequest,
        decision: D,
    ) -> Result<D, Infallible> {
        self.append(request, decision).await
    }

    async fn append<D: Decide<MemoryText> + 'static>(
        &self,
        request: WriteRequest,
        mut decision: D,
    ) -> Result<D, Infallible> {
        let mut contents = self.contents.borrow_mut();
        if let Some(changes) = decision.decide(contents.find(&request)) {
            contents.write(request.target, changes);
        }
        Ok(decision)
    }

    async fn read(&self, target: Target, window: Window) -> Result<Rows<MemoryText>, Infallible> {
        Ok(self.contents.borrow().read(&target, window))
    }

    async fn list(&self, request: ListRequest) -> Result<Listing, Infallible> {
        Ok(self.contents.borrow().list(&request))
    }

    async fn delete(&self, deletion: Deletion) -> Result<(), Infallible> {
        self.contents.borrow_mut().delete(&deletion);
        Ok(())
    }

    fn find(&self, session_id: &str) -> Option<Vec<SessionKey>> {
        let contents = self.contents.borrow();
        let mut keys = Vec::new();
        for (app_name, app) in &contents.apps {
            for (user_id, user) in &app.users {
                if user.sessions.contains_key(session_id) {
                    keys.push(SessionKey {
                        app_name: app_name.to_string(),
                        user_id: user_id.to_string(),
                        session_id: session_id.to_owned(),
                    });
                }
            }
        }
        Some(keys)
    }
}

impl Contents {
    fn user(&self, target: &Target) -> (Option<&App>, Option<&User>) {
        let app = self.apps.get(target.app_name.as_str());
        let user = app.zip(target.user_id.as_deref()).and_then(|(app, id)| app.users.get(id));
        (app, user)
    }

    fn find(&self, request: &WriteRequest) -> Found<'_, MemoryText> {
        let (app, user) = self.user(&request.target);
        let session = user
            .zip(request.target.session_id.as_deref())
            .and_then(|(user, id)| user.sessions.get(id));
        let (events, changed) = session.map_or((Vec::new(), Vec::new()), |session| {
            let events = request.event_ids.iter().filter_map(|id| session.events.get(id));
            (events.collect(), session.events.changed(request.since))
        });
        Found {
            session: session.map(|session| session.head),
            user: user.and_then(|user| user.state.as_ref()).filter(|_| request.scopes.user),
            app: app.and_then(|app| app.state.as_ref()).filter(|_| request.scopes.app),
            events,
            changed,
            floor: self.floor,
        }
    }

    fn write(&mut self, target: Target, changes: Changes<MemoryText>) {
        let app = self.apps.entry_ref(target.app_name.as_str()).or_default();
        change(&mut app.state, changes.app);
        let Some(user_id) = target.user_id else {
            return;
        };
        let user_id = match app.users.get_key_value(user_id.as_str()) {
            Some((user_id, _)) => Rc::clone(user_id),
            None => Rc::from(user_id),
        };
        let user = app.users.entry(Rc::clone(&user_id)).or_default();
        change(&mut user.state, changes.user);
        let Some((session_id, changed)) = target.session_id.zip(changes.session) else {
            return;
        };
        let time = |head: SessionHead| head.last_update_time.to_bits();
        let (session_id, before) = match user.sessions.get_key_value(session_id.as_str()) {
            Some((id, session)) => (Rc::clone(id), Some(time(session.head))),
            None => (Rc::from(session_id), None),
        };
        if before != Some(time(changed.head)) {
            let mut position = Position { time: 0, session_id: Rc::clone(&session_id), user_id };
            if let Some(before) = before {
                position.time = before;
                app.order.remove(&position);
                user.order.remove(&position);
            }
            position.time = time(changed.head);
            app.order.insert(position.clone());
            user.order.insert(position);
        }
        let session = user.sessions.entry(session_id).or_insert_with(|| StoredSession {
            head: changed.head,
            state: ScopedState::default(),
            events: EventLog::default(),
        });
        session.head = changed.head;
        session.state.apply(changed.state);
        for event in &changes.events {
            session.events.write(event);
        }
    }

    fn read(&self, target: &Target, window: Window) -> Rows<MemoryText> {
        let (app, user) = self.user(target);
        let session = user
            .zip(target.session_id.as_deref())
            .and_then(|(user, id)| user.sessions.get_key_value(id));
        Rows {
            events: session.map_or_else(Vec::new, |(_, session)| session.events.window(window)),
            session: session.zip(target.user_id.as_deref()).map(|((id, session), user_id)| {
                session_row(&target.app_name, user_id, id, session)
            }),
            user: user.and_then(|user| user.state.clone()),
            app: app.and_then(|app| app.state.clone()),
        }
    }

    fn list(&self, request: &ListRequest) -> Listing {
        let mut listing =
            Listing { sessions: Vec::new(), users: HashMap::new(), app: None, total: 0 };
        let Some(app) = self.apps.get(request.app_name.as_str()) else {
            return listing;
        };
        listing.app.clone_from(&app.state);
        let order = match &request.user_id {
            None => &app.order,
            Some(user_id) => match app.users.get(user_id.as_str()) {
                None => return listing,
                Some(user) => &user.order,
            },
        };
        listing.total = order.len();
        for position in order.page(request.page, request.descending) {
            let Some((user, session)) = app.users.get(&position.user_id).and_then(|user| {
                user.sessions.get(&position.session_id).map(|session| (user, session))
            }) else {
                continue;
            };
            let (user_id, id) = (&*position.user_id, &*position.session_id);
            listing.sessions.push(session_row(&request.app_name, user_id, id, session));
            if let Some(state) = &user.state
                && !listing.users.contains_key(user_id)
            {
                listing.users.insert(user_id.to_owned(), state.clone());
            }
        }
        listing
    }

    fn delete(&mut self, deletion: &Deletion) {
        let app_name = match deletion {
            Deletion::Session(key) => &key.app_name,
            Deletion::User { app_name, .. }
            | Deletion::UserState { app_name, .. }
            | Deletion::AppState { app_name } => app_name,
        };
        let Some(app) = self.apps.get_mut(app_name.as_str()) else {
            return;
        };
        let gone = match deletion {
            Deletion::Session(key) => app.delete_sessions(&key.user_id, Some(&key.session_id)),
            Deletion::User { user_id, .. } => {
                app.delete_sessions(user_id, None).max(app.delete_user_state(user_id))
            }
            Deletion::UserState { user_id, .. } => app.delete_user_state(user_id),
            Deletion::AppState { .. } => last_revision(app.state.take()),
        };
        if app.state.is_none() && app.users.is_empty() {
            self.apps.remove(app_name.as_str());
        }
        self.floor = self.floor.max(gone);
    }
}

impl App {
    /// Deletes one of a user's sessions, or all; returns the highest revision among them.
    fn delete_sessions(&mut self, user_id: &str, session_id: Option<&str>) -> Revision {
        let Some(user) = self.users.get_mut(user_id) else {
            return 0;
        };
        let doomed = |id: &Rc<str>| session_id.is_none_or(|wanted| **id == *wanted);
        let mut gone = 0;
        for (session_id, session) in user.sessions.extract_if(|id, _| doomed(id)) {
            let time = session.head.last_update_time.to_bits();
            let position = Position { time, session_id, user_id: Rc::from(user_id) };
            self.order.remove(&position);
            user.order.remove(&position);
            gone = gone.max(session.head.revision);
        }
        self.forget_if_empty(user_id);
        gone
    }

    fn delete_user_state(&mut self, user_id: &str) -> Revision {
        let row = self.users.get_mut(user_id).and_then(|user| user.state.take());
        self.forget_if_empty(user_id);
        last_revision(row)
    }

    fn forget_if_empty(&mut self, user_id: &str) {
        if self
            .users
            .get(user_id)
            .is_some_and(|user| user.state.is_none() && user.sessions.is_empty())
        {
            self.users.remove(user_id);
        }
    }
}

fn last_revision(row: Option<ScopeRow>) -> Revision {
    row.map_or(0, |row| row.revision)
}

fn change(row: &mut Option<ScopeRow>, change: Option<ScopeChange>) {
    if let Some(change) = change {
        let row = row.get_or_insert_default();
        row.revision = change.revision;
        row.state.apply(change.state);
    }
}

fn session_row(app_name: &str, user_id: &str, id: &str, session: &StoredSession) -> SessionRow {
    SessionRow {
        key: SessionKey {
            app_name: app_name.to_owned(),
            user_id: user_id.to_owned(),
            session_id: id.to_owned(),
        },
        head: session.head,
        state: session.state.clone(),
    }
}
