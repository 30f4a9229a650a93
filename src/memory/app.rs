//! An app in memory: its users, its sessions, and the orders of their lists.

use std::collections::BinaryHeap;
use std::mem;
use std::sync::Arc;

use crate::core::names::NameMap;
use crate::core::read::ListPlace;
use crate::core::session::{Revision, SessionHead};
use crate::core::write::SharedRow;
use crate::memory::StoredSession;
use crate::memory::order::{MOST_MOVED, Orders};

/// The slot of a user, and the slot of a moved session of that user. Both may have got other names since.
pub(super) type Moved = [usize; 2];

#[derive(Debug, Default)]
pub(super) struct App {
    pub(super) state: Option<SharedRow>,
    pub(super) users: NameMap<User>,
    pub(super) orders: Orders,
    /// The sessions that have another time than in the orders, or none there. A list sorts them in.
    pub(super) moved: Vec<Moved>,
}

#[derive(Debug, Default)]
pub(super) struct User {
    pub(super) state: Option<SharedRow>,
    pub(super) sessions: NameMap<StoredSession>,
    pub(super) orders: Orders,
}

impl App {
    /// Sorts the moved sessions into the orders.
    pub(super) fn sort_moved(&mut self) {
        let mut new = BinaryHeap::new();
        for [user_slot, session_slot] in mem::take(&mut self.moved) {
            let Some((user_id, user)) = self.users.at(user_slot) else { continue };
            let Some((session_id, session)) = user.sessions.at(session_slot) else { continue };
            // It may be deleted, or be listed already: another one has its slot.
            if !mem::take(&mut session.is_moved) {
                continue;
            }
            let SessionHead { last_update_time, create_time, .. } = session.head;
            let place = |time| ListPlace {
                time,
                session_id: Arc::clone(session_id),
                user_id: Arc::clone(user_id),
            };
            let Some(before) = session.listed.replace(last_update_time) else {
                new.push((place(create_time), last_update_time, user_slot));
                continue;
            };
            let place = place(before);
            for orders in [&mut self.orders, &mut user.orders] {
                orders.by_update.set_time(&place, last_update_time);
            }
        }
        // In order, so that most of them go to the end: sessions of one millisecond have random ids.
        for (place, time, user_slot) in new.into_sorted_vec() {
            let Some((_, user)) = self.users.at(user_slot) else { continue };
            for orders in [&mut self.orders, &mut user.orders] {
                orders.by_creation.insert(place.clone());
                orders.by_update.insert(ListPlace { time, ..place.clone() });
            }
        }
    }

    /// Deletes one of a user's sessions, or all of them. Returns the highest revision among them.
    ///
    /// Calls `forget` for each with the user's id and the session's id.
    pub(super) fn delete_sessions(
        &mut self,
        user_id: &str,
        session_id: Option<&str>,
        forget: &mut dyn FnMut(&str, &str),
    ) -> Revision {
        let Some(user) = self.users.get_mut(user_id) else {
            return 0;
        };
        let owner: Arc<str> = Arc::from(user_id);
        let mut highest = 0;
        let mut unlist = |session_id: &Arc<str>, session: &StoredSession| {
            forget(user_id, session_id);
            highest = highest.max(session.head.revision);
            let Some(last_update_time) = session.listed else { return };
            let create_time = session.head.create_time;
            let place = |time| ListPlace {
                time,
                session_id: Arc::clone(session_id),
                user_id: Arc::clone(&owner),
            };
            for orders in [&mut self.orders, &mut user.orders] {
                orders.by_update.remove(&place(last_update_time));
                orders.by_creation.remove(&place(create_time));
            }
        };
        match session_id {
            Some(session_id) => {
                if let Some(session) = user.sessions.remove(session_id) {
                    unlist(&Arc::from(session_id), &session);
                }
            }
            None => {
                for (session_id, session) in mem::take(&mut user.sessions).iter() {
                    unlist(session_id, session);
                }
            }
        }
        self.remove_if_empty(user_id);
        // Without lists, sessions that come and go would be noted without end.
        if self.moved.len() > MOST_MOVED {
            self.sort_moved();
        }
        highest
    }

    pub(super) fn delete_user_state(&mut self, user_id: &str) -> Revision {
        let row = self.users.get_mut(user_id).and_then(|user| user.state.take());
        self.remove_if_empty(user_id);
        last_revision(row)
    }

    fn remove_if_empty(&mut self, user_id: &str) {
        if self
            .users
            .get(user_id)
            .is_some_and(|user| user.state.is_none() && user.sessions.is_empty())
        {
            self.users.remove(user_id);
        }
    }
}

pub(super) fn last_revision(row: Option<SharedRow>) -> Revision {
    row.map_or(0, |row| row.revision)
}
