//! Sessions in memory: the reference that other storages are compared with.

mod app;
mod blocks;
mod entries;
mod event_log;
mod order;
mod owners;

use std::sync::Mutex;

use crate::core::error::{Error, Field};
use crate::core::names::NameMap;
use crate::core::read::{ListPlace, ListQuery, Listing, PageEdges, Read, Rows, TimedText};
use crate::core::room::{ROW, SPARE, no_room, require_room};
use crate::core::session::{DescriptionRow, Revision, SessionHead, SessionKey, Timestamp};
use crate::core::state::{ByOwner, ScopedState};
use crate::core::storage::{Call, Deletion, Storage, StorageFuture};
use crate::core::write::{Decide, Decision, MarkerSeqs, SessionRow, Target};
use crate::host::{self, Guard};
use crate::memory::app::{App, User, last_revision};
use crate::memory::entries::Entries;
use crate::memory::event_log::EventLog;
use crate::memory::order::Order;
use crate::memory::owners::Owners;

/// Receives each session of a list.
type Visit<'a> = dyn FnMut(&ListPlace, &StoredSession) -> Result<(), Error> + 'a;

/// A storage in memory: its contents last as long as the storage. Its futures are always ready.
#[derive(Debug, Default)]
pub struct MemoryStorage {
    // Locked for one verb at a time. No verb awaits anything while it holds the lock.
    contents: Mutex<Contents>,
}

/// The contents, with the verbs as synchronous calls.
#[derive(Debug, Default)]
struct Contents {
    apps: NameMap<App>,
    /// The highest revision of anything that was deleted.
    floor: Revision,
    /// Built when a session is first looked up by its bare id.
    owners: Option<Owners>,
}

/// A session that is created empty and then written to. Its revision is 0 only until then.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct StoredSession {
    /// Its revisions and times.
    pub head: SessionHead,
    /// Its own state.
    pub state: ScopedState,
    /// Its title and the like.
    pub description: DescriptionRow,
    markers: MarkerSeqs,
    events: EventLog,
    /// Its time in the orders of lists; `None` if it is in none.
    listed: Option<Timestamp>,
    /// Whether it is among the moved sessions of its app.
    is_moved: bool,
}

impl StoredSession {
    fn row(&self, app_name: &str, user_id: &str, session_id: &str) -> SessionRow {
        SessionRow {
            key: key_of(app_name, user_id, session_id),
            head: self.head,
            state: self.state.clone(),
            description: self.description.clone(),
        }
    }
}

impl MemoryStorage {
    /// An empty storage.
    pub fn new() -> Self {
        Self::default()
    }

    /// Locks the contents. Fails if the function of a write, which computes its delta, calls a verb: it runs
    /// while they are locked.
    fn contents(&self) -> Result<Guard<'_, Contents>, Error> {
        let calls = || Error::invalid(Field::StateDelta, "must not call the service");
        host::lock(&self.contents).ok_or_else(calls)
    }

    /// Passes the sessions of a page to `visit` one by one, so that their texts need not be copied. The
    /// returned list has no sessions.
    ///
    /// # Errors
    /// Fails as `visit` does, and with `quota_exceeded` if memory has no room.
    #[doc(hidden)]
    pub fn visit_list(&self, request: &ListQuery, visit: &mut Visit<'_>) -> Result<Listing, Error> {
        self.contents()?.list(request, visit)
    }

    /// Does the same as [`Storage::carry_out`], at once.
    ///
    /// # Errors
    /// Fails as that does.
    #[doc(hidden)]
    pub fn carry_out_now(&self, write: &mut dyn Decide) -> Result<(), Error> {
        loop {
            self.contents()?.write(write)?;
            if !write.replan() {
                return Ok(());
            }
        }
    }

    /// Reads the head of a session, and its markers. The rows have no edges if `event_id` is not stored, or if places
    /// of markers are lost.
    ///
    /// # Errors
    /// Fails with `quota_exceeded` if memory has no room.
    #[doc(hidden)]
    pub fn read_markers(&self, target: &Target, event_id: Option<&str>) -> Result<Rows, Error> {
        let contents = self.contents()?;
        let markers = contents.markers(target, event_id);
        let edges = markers.is_some().then(PageEdges::default);
        let rows = contents.read(target, &Read::NONE)?;
        Ok(Rows { events: markers.unwrap_or_default(), edges, ..rows })
    }
}

impl Storage for MemoryStorage {
    fn write<'a>(&'a self, write: &'a mut dyn Decide, _: &'a dyn Call) -> StorageFuture<'a, ()> {
        Box::pin(async move { self.contents()?.write(write) })
    }

    fn read<'a>(
        &'a self,
        target: &'a Target,
        read: &'a Read,
        _: &'a dyn Call,
    ) -> StorageFuture<'a, Rows> {
        Box::pin(async move { self.contents()?.read(target, read) })
    }

    fn list<'a>(&'a self, request: &'a ListQuery, _: &'a dyn Call) -> StorageFuture<'a, Listing> {
        Box::pin(async move {
            let mut sessions = Vec::new();
            let visit = &mut |place: &ListPlace, session: &StoredSession| {
                sessions.push(session.row(&request.app_name, &place.user_id, &place.session_id));
                Ok(())
            };
            let listing = self.contents()?.list(request, visit)?;
            Ok(Listing { sessions, ..listing })
        })
    }

    fn delete<'a>(
        &'a self,
        deletion: &'a Deletion,
        _: &'a dyn Call,
    ) -> StorageFuture<'a, Option<Revision>> {
        Box::pin(async move { Ok(self.contents()?.delete(deletion)) })
    }

    fn find<'a>(
        &'a self,
        session_id: &'a str,
        _: &'a dyn Call,
    ) -> StorageFuture<'a, Vec<SessionKey>> {
        Box::pin(async move {
            let mut contents = self.contents()?;
            let Contents { apps, owners, .. } = &mut *contents;
            let owners = owners.get_or_insert_with(|| Owners::of(apps));
            let keys = owners.get(session_id).iter();
            Ok(keys.map(|[app_name, user_id]| key_of(app_name, user_id, session_id)).collect())
        })
    }
}

impl Contents {
    fn user(&self, target: &Target) -> (Option<&App>, Option<&User>) {
        let app = self.apps.get(&target.app_name);
        let user = app.zip(target.user_id.as_deref()).and_then(|(app, id)| app.users.get(id));
        (app, user)
    }

    fn write(&mut self, write: &mut dyn Decide) -> Result<(), Error> {
        let plan = write.plan();
        let mut entries = Entries::find(&mut self.apps, plan);
        require_room(entries.changed_len(plan) * ROW + SPARE)?;
        let found = entries.found(plan, self.floor);
        let Decision::Done(Some(changes)) = write.decide(found) else {
            return Ok(());
        };
        entries.reserve(&changes)?;
        // Missing entries are created only now, so a write that changes nothing creates none.
        let plan = write.plan();
        if entries.has_all(plan) {
            if entries.write(changes) {
                self.sort_moved(&write.plan().target.app_name);
            }
            return Ok(());
        }
        let entries = Entries::find_or_create(&mut self.apps, plan);
        if !entries.has_all(plan) {
            return Err(no_room());
        }
        let is_session = changes.session.is_some();
        let is_to_sort = entries.write(changes);
        let Target { app_name, user_id, session_id } = &plan.target;
        if let (Some(owners), Some(user_id), Some(session_id), true) =
            (&mut self.owners, user_id.as_deref(), session_id.as_deref(), is_session)
        {
            owners.add(app_name, user_id, session_id);
        }
        if is_to_sort {
            self.sort_moved(app_name);
        }
        Ok(())
    }

    fn read(&self, target: &Target, read: &Read) -> Result<Rows, Error> {
        let (app, user) = self.user(target);
        let session = user
            .zip(target.session_id.as_deref())
            .and_then(|(user, id)| user.sessions.get(id).map(|session| (id, session)));
        let len = session.map_or(0, |(_, session)| session.events.len());
        let (most, size) = match read {
            // A growing list briefly exists twice: the old copy is half as large as the new one.
            Read::Last { limit, .. } => (limit.unwrap_or(len), 3 * size_of::<TimedText>()),
            Read::Page(page) => (page.limit, 3 * size_of::<TimedText>()),
            Read::Since { limit, .. } => (limit.unwrap_or(len), ROW),
            Read::Ids(ids) => (ids.len(), ROW),
        };
        let most = most.min(len);
        require_room(most * size)?;
        let log = session.map(|(_, session)| &session.events);
        let (events, edges) = log.map_or_else(Default::default, |log| log.events(read));
        let rows = log.map(|log| match read {
            Read::Since { revision, .. } => log.changed(*revision, most),
            Read::Ids(ids) => ids.iter().filter_map(|id| log.get(id)).collect(),
            Read::Last { .. } | Read::Page(_) => Vec::new(),
        });
        Ok(Rows {
            events,
            edges,
            rows: rows.unwrap_or_default(),
            session: session
                .zip(target.user_id.as_deref())
                .map(|((id, session), user_id)| session.row(&target.app_name, user_id, id)),
            shared: ByOwner {
                user: user.and_then(|user| user.state.clone()),
                app: app.and_then(|app| app.state.clone()),
            },
        })
    }

    /// Returns the events at the places of a session's markers, and the one with that id. `None` if it is not
    /// stored, or if places are lost.
    fn markers(&self, target: &Target, event_id: Option<&str>) -> Option<Vec<TimedText>> {
        let (_, user) = self.user(target);
        let StoredSession { markers, events, .. } =
            user?.sessions.get(target.session_id.as_deref()?)?;
        let mut markers = markers.clone();
        if let Some(id) = event_id {
            markers.insert(events.get(id)?.seq);
        }
        let events = markers.seqs.iter().filter_map(|seq| events.at(*seq));
        (!markers.is_incomplete).then(|| events.collect())
    }

    fn sort_moved(&mut self, app_name: &str) {
        if let Some(app) = self.apps.get_mut(app_name) {
            app.sort_moved();
        }
    }

    fn list(&mut self, request: &ListQuery, visit: &mut Visit<'_>) -> Result<Listing, Error> {
        self.sort_moved(&request.app_name);
        let app = self.apps.get(&request.app_name);
        let orders = match &request.user_id {
            None => app.map(|app| &app.orders),
            Some(user_id) => app.and_then(|app| app.users.get(user_id)).map(|user| &user.orders),
        };
        let by_creation = request.order.by_creation;
        let order =
            orders.map(|orders| if by_creation { &orders.by_creation } else { &orders.by_update });
        let mut listing = Listing {
            sessions: Vec::new(),
            users: Vec::new(),
            app: app.and_then(|app| app.state.clone()),
            total: order.map_or(0, Order::len),
        };
        let Some((app, order)) = app.zip(order) else {
            return Ok(listing);
        };
        require_room(order.len().min(request.limit.unwrap_or(usize::MAX)) * ROW)?;
        let mut seen = NameMap::<()>::default();
        for place in order.page(request) {
            let ListPlace { session_id, user_id, .. } = place;
            let Some(user) = app.users.get(user_id) else {
                continue;
            };
            if let Some(session) = user.sessions.get(session_id) {
                visit(place, session)?;
            }
            if let Some(state) = &user.state
                && seen.add(user_id, ())
            {
                listing.users.push((user_id.to_string(), state.clone()));
            }
        }
        Ok(listing)
    }

    /// Deletes, and returns the floor. Returns `None` without a deletion if the session has changed since
    /// it was listed.
    fn delete(&mut self, deletion: &Deletion) -> Option<Revision> {
        if let Deletion::UnchangedSession { key, .. } = deletion {
            let user = self.apps.get(&key.app_name).and_then(|app| app.users.get(&key.user_id));
            let session = user?.sessions.get(&key.session_id)?;
            if !deletion.is_allowed(session.head.revision, session.description.labels.as_deref()) {
                return None;
            }
        }
        let app_name = match deletion {
            Deletion::Session(key) | Deletion::UnchangedSession { key, .. } => &key.app_name,
            Deletion::User { app_name, .. }
            | Deletion::UserState { app_name, .. }
            | Deletion::AppState { app_name } => app_name,
        };
        let Some(app) = self.apps.get_mut(app_name) else {
            return Some(self.floor);
        };
        let mut forget = |user_id: &str, session_id: &str| {
            if let Some(owners) = &mut self.owners {
                owners.remove(app_name, user_id, session_id);
            }
        };
        let highest = match deletion {
            Deletion::Session(key) | Deletion::UnchangedSession { key, .. } => {
                app.delete_sessions(&key.user_id, Some(&key.session_id), &mut forget)
            }
            Deletion::User { user_id, .. } => {
                app.delete_sessions(user_id, None, &mut forget).max(app.delete_user_state(user_id))
            }
            Deletion::UserState { user_id, .. } => app.delete_user_state(user_id),
            Deletion::AppState { .. } => last_revision(app.state.take()),
        };
        if app.state.is_none() && app.users.is_empty() {
            self.apps.remove(app_name);
        }
        self.floor = self.floor.max(highest);
        Some(self.floor)
    }
}

fn key_of(app_name: &str, user_id: &str, session_id: &str) -> SessionKey {
    SessionKey {
        app_name: app_name.to_owned(),
        user_id: user_id.to_owned(),
        session_id: session_id.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;
    use crate::core::event::NewEvent;
    use crate::core::read::ListOrder;
    use crate::core::state::Delta;
    use crate::core::write::{Append, Create, HandlePosition, NewSession, StalePolicy};
    use crate::memory::order::MOST_MOVED;

    struct Always;
    impl Call for Always {}

    fn time(milliseconds: u32) -> Timestamp {
        Timestamp::from_millis(milliseconds.into()).unwrap()
    }

    fn create(memory: &MemoryStorage, session: &str, at: u32) {
        let new = NewSession::new(Delta::default(), time(at));
        let mut create = Create::new(key_of("app", "user", session), new).unwrap();
        memory.carry_out_now(&mut create).unwrap();
    }

    fn append(memory: &MemoryStorage, session: &str, at: u32) {
        let event =
            NewEvent::new(format!("e{at}"), time(at), "{}", "{}".to_owned().into()).unwrap();
        let key = key_of("app", "user", session);
        let (position, policy) = (HandlePosition::Latest, StalePolicy::Append);
        let mut append = Append::new(key, position, policy, vec![event]);
        memory.carry_out_now(&mut append).unwrap();
    }

    fn listed(memory: &MemoryStorage, user_id: Option<&str>, by_creation: bool) -> Vec<String> {
        let query = ListQuery {
            app_name: "app".to_owned(),
            user_id: user_id.map(str::to_owned),
            order: ListOrder { by_creation, descending: true },
            ..ListQuery::default()
        };
        let list = pin!(memory.list(&query, &Always));
        let Poll::Ready(listing) = list.poll(&mut Context::from_waker(Waker::noop())) else {
            panic!("memory answers at once");
        };
        listing.unwrap().sessions.into_iter().map(|row| row.key.session_id).collect()
    }

    #[test]
    fn a_list_has_the_sessions_that_were_written_and_deleted_since_the_last_one() {
        let memory = MemoryStorage::new();
        for (session, at) in [("a", 1), ("b", 2), ("c", 3)] {
            create(&memory, session, at);
        }
        for user in [None, Some("user")] {
            assert_eq!(listed(&memory, user, false), ["c", "b", "a"]);
        }
        append(&memory, "a", 10);
        append(&memory, "b", 11);
        append(&memory, "a", 12);
        let deletion = Deletion::Session(key_of("app", "user", "b"));
        memory.contents().unwrap().delete(&deletion);
        create(&memory, "b", 5);
        create(&memory, "d", 4);
        for user in [None, Some("user")] {
            assert_eq!(listed(&memory, user, false), ["a", "b", "d", "c"]);
            assert_eq!(listed(&memory, user, true), ["b", "d", "c", "a"]);
        }
    }

    #[test]
    fn sessions_that_come_and_go_without_a_list_are_not_noted_without_end() {
        let memory = MemoryStorage::new();
        create(&memory, "kept", 1);
        for number in 0..10 * MOST_MOVED {
            create(&memory, "short", number as u32);
            let deletion = Deletion::Session(key_of("app", "user", "short"));
            memory.contents().unwrap().delete(&deletion);
        }
        let contents = memory.contents().unwrap();
        assert!(contents.apps.get("app").unwrap().moved.len() <= MOST_MOVED + 1);
        drop(contents);
        assert_eq!(listed(&memory, None, false), ["kept"]);
    }

    #[test]
    fn a_list_sorts_few_sessions_since_writes_leave_no_room_for_more() {
        let memory = MemoryStorage::new();
        for number in 0..3 * MOST_MOVED {
            create(&memory, &format!("session {number}"), number as u32);
            append(&memory, "session 0", number as u32 + 1);
            assert!(memory.contents().unwrap().apps.get("app").unwrap().moved.len() <= MOST_MOVED);
        }
        assert_eq!(listed(&memory, None, false).len(), 3 * MOST_MOVED);
    }
}
