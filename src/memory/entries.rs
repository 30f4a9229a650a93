//! The entries that a write concerns, looked up once for its reads and its changes.

use std::sync::Arc;

use crate::core::error::Error;
use crate::core::names::NameMap;
use crate::core::read::ListPlace;
use crate::core::room::{SPARE, no_room, require_room};
use crate::core::session::Revision;
use crate::core::state::ByOwner;
use crate::core::write::{Changes, Found, Plan, SessionChange, SharedChange, SharedRow};
use crate::memory::order::Orders;
use crate::memory::{App, StoredSession, User};

/// The existing entries that a [`Plan`] names.
#[derive(Default)]
pub(super) struct Entries<'a> {
    app: Option<SharedEntry<'a>>,
    user: Option<(&'a Arc<str>, SharedEntry<'a>)>,
    session: Option<(&'a Arc<str>, &'a mut StoredSession)>,
}

/// The parts that an app and a user have in common.
struct SharedEntry<'a> {
    state: &'a mut Option<SharedRow>,
    orders: &'a mut Orders,
}

impl<'a> Entries<'a> {
    pub(super) fn find(apps: &'a mut NameMap<App>, plan: &Plan) -> Self {
        Self::look_up(apps, plan, false)
    }

    pub(super) fn find_or_create(apps: &'a mut NameMap<App>, plan: &Plan) -> Self {
        Self::look_up(apps, plan, true)
    }

    fn look_up(apps: &'a mut NameMap<App>, plan: &Plan, creates: bool) -> Self {
        let mut entries = Self::default();
        let Some((_, App { state, orders, users })) = apps.entry(&plan.target.app_name, creates)
        else {
            return entries;
        };
        entries.app = Some(SharedEntry { state, orders });
        let Some((user_id, user)) =
            plan.target.user_id.as_deref().and_then(|id| users.entry(id, creates))
        else {
            return entries;
        };
        let User { state, orders, sessions } = user;
        entries.user = Some((user_id, SharedEntry { state, orders }));
        entries.session =
            plan.target.session_id.as_deref().and_then(|id| sessions.entry(id, creates));
        entries
    }

    /// Whether all entries that the plan names exist.
    pub(super) fn has_all(&self, plan: &Plan) -> bool {
        self.app.is_some()
            && self.user.is_some() == plan.target.user_id.is_some()
            && self.session.is_some() == plan.target.session_id.is_some()
    }

    pub(super) fn found(&self, plan: &Plan, floor: Revision) -> Found {
        let (mut events, mut changed) = (Vec::new(), Vec::new());
        if let Some((_, session)) = &self.session {
            for id in &plan.event_ids {
                events.extend(session.events.get(id));
            }
            changed = session.events.changed(plan.since, usize::MAX);
        }
        let state = self.session.as_ref().filter(|_| plan.scopes.session);
        let user = self.user.as_ref().filter(|_| plan.scopes.shared.user);
        let app = self.app.as_ref().filter(|_| plan.scopes.shared.app);
        Found {
            session: self.session.as_ref().map(|(_, session)| session.head),
            state: state.map(|(_, session)| session.state.clone()),
            shared: ByOwner {
                user: user.and_then(|(_, user)| user.state.clone()),
                app: app.and_then(|app| app.state.clone()),
            },
            events,
            changed,
            floor,
        }
    }

    /// Returns an upper bound for the number of events changed since the plan's revision.
    pub(super) fn changed_len(&self, plan: &Plan) -> usize {
        let Some((_, session)) = &self.session else {
            return 0;
        };
        let revisions = session.head.revision.saturating_sub(plan.since);
        let revisions = usize::try_from(revisions).unwrap_or(usize::MAX);
        session.events.len().min(revisions)
    }

    /// Reserves memory for new keys and events, and checks that there is room for the events' texts.
    ///
    /// # Errors
    /// Fails with `quota_exceeded` if memory has no room.
    pub(super) fn reserve(&mut self, changes: &Changes) -> Result<(), Error> {
        let Changes { session, shared: ByOwner { user, app }, events } = changes;
        let (own, log) = match &mut self.session {
            Some((_, session)) => (Some(&mut session.state), Some(&mut session.events)),
            None => (None, None),
        };
        let of_user = self.user.as_mut().and_then(|(_, user)| user.state.as_mut());
        let of_app = self.app.as_mut().and_then(|app| app.state.as_mut());
        let states = [
            (own, session.as_ref().map(|change| &change.state)),
            (of_user.map(|row| &mut row.state), user.as_ref().map(|change| &change.state)),
            (of_app.map(|row| &mut row.state), app.as_ref().map(|change| &change.state)),
        ];
        let mut states = states.into_iter().filter_map(|(state, changes)| state.zip(changes));
        let has_room = states.all(|(state, changes)| state.try_reserve(changes.len()))
            && log.is_none_or(|log| log.try_reserve(events.len()));
        if !has_room {
            return Err(no_room());
        }
        let texts = events.iter().map(|change| change.row.text.with(str::len)).sum::<usize>();
        // The write has left room for small texts, with the block that they may need.
        if texts <= SPARE / 4 { Ok(()) } else { require_room(texts + SPARE) }
    }

    pub(super) fn write(self, changes: Changes) {
        let Some(mut app) = self.app else {
            return;
        };
        let ByOwner { user: of_user, app: of_app } = changes.shared;
        app.change(of_app);
        let Some((user_id, mut user)) = self.user else {
            return;
        };
        user.change(of_user);
        let Some(((session_id, session), change)) = self.session.zip(changes.session) else {
            return;
        };
        let place = ListPlace {
            time: session.head.last_update_time,
            session_id: Arc::clone(session_id),
            user_id: Arc::clone(user_id),
        };
        let is_new = session.head.revision == 0;
        session.change(change);
        for event in changes.events {
            session.events.write(event.row);
        }
        let time = session.head.last_update_time;
        for orders in [app.orders, user.orders] {
            if is_new {
                let create_time = session.head.create_time;
                orders.by_creation.insert(ListPlace { time: create_time, ..place.clone() });
                orders.by_update.insert(ListPlace { time, ..place.clone() });
            } else if place.time != time {
                orders.by_update.set_time(&place, time);
            }
        }
    }
}

impl SharedEntry<'_> {
    fn change(&mut self, change: Option<SharedChange>) {
        if let Some(change) = change {
            let row = self.state.get_or_insert_default();
            row.revision = change.revision;
            row.state.apply(change.state);
        }
    }
}

impl StoredSession {
    fn change(&mut self, change: SessionChange) {
        self.head = change.head;
        self.state.apply(change.state);
        self.description.apply(change.description);
        self.markers.add(&change.markers);
    }
}
