//! The entries that a write concerns, looked up once for its reads and its changes.

use crate::core::error::Error;
use crate::core::names::NameMap;
use crate::core::room::{SPARE, no_room, require_room};
use crate::core::session::Revision;
use crate::core::state::ByOwner;
use crate::core::write::{Changes, Found, Plan, SessionChange, SharedChange, SharedRow};
use crate::memory::StoredSession;
use crate::memory::app::{App, Moved, User};
use crate::memory::order::MOST_MOVED;

/// The existing entries that a [`Plan`] names: those of a user and a session with their slots.
#[derive(Default)]
pub(super) struct Entries<'a> {
    app: Option<(&'a mut Option<SharedRow>, &'a mut Vec<Moved>)>,
    user: Option<(usize, &'a mut Option<SharedRow>)>,
    session: Option<(usize, &'a mut StoredSession)>,
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
        let Some((_, app)) = apps.entry(&plan.target.app_name, creates) else {
            return entries;
        };
        let App { state, users, moved, .. } = app;
        entries.app = Some((state, moved));
        let Some((user_slot, user)) =
            plan.target.user_id.as_deref().and_then(|id| users.entry(id, creates))
        else {
            return entries;
        };
        let User { state, sessions, .. } = user;
        entries.user = Some((user_slot, state));
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
                user: user.and_then(|(_, state)| (*state).clone()),
                app: app.and_then(|(state, _)| (*state).clone()),
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
        let of_user = self.user.as_mut().and_then(|(_, state)| state.as_mut());
        let of_app = self.app.as_mut().and_then(|(state, _)| state.as_mut());
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

    /// Returns whether so many sessions have moved that they are to be sorted: a list that sorts them needs room, which
    /// writes leave for some only.
    pub(super) fn write(self, changes: Changes) -> bool {
        let Some((of_app, moved)) = self.app else {
            return false;
        };
        let ByOwner { user, app } = changes.shared;
        change_shared(of_app, app);
        let Some((user_slot, of_user)) = self.user else {
            return false;
        };
        change_shared(of_user, user);
        let Some(((session_slot, session), change)) = self.session.zip(changes.session) else {
            return false;
        };
        session.change(change);
        for event in changes.events {
            session.events.write(event.row);
        }
        if !session.is_moved && session.listed != Some(session.head.last_update_time) {
            session.is_moved = true;
            moved.push([user_slot, session_slot]);
        }
        moved.len() > MOST_MOVED
    }
}

fn change_shared(state: &mut Option<SharedRow>, change: Option<SharedChange>) {
    if let Some(change) = change {
        let row = state.get_or_insert_default();
        row.revision = change.revision;
        row.state.apply(change.state);
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
