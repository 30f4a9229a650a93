//! Decides the writes of a group, one after the other.

use crate::core::write::{Changes, Found, Target};
use crate::wasm::indexed_db::connection::one_shot::Done;
use crate::wasm::indexed_db::records::object::Record;
use crate::wasm::indexed_db::writing::group_rows::{Group, Member};
use crate::wasm::indexed_db::writing::sequence::Sequence;
use crate::wasm::indexed_db::writing::session_buffer::SessionBuffer;

impl Group<'_> {
    /// Decides one member's write, and applies its changes to the rows that the next member sees.
    pub(super) fn decide(&mut self, member: &mut Member) -> Done {
        let Member { write, caller, token, .. } = member;
        caller.check()?;
        let plan = write.plan();
        let Target { app_name, user_id, .. } = &plan.target;
        let session = self.session_position(&plan.target);
        let user = user_id.as_deref().filter(|_| plan.scopes.user);
        let user = user.and_then(|user_id| self.owner_position(app_name, Some(user_id)));
        let app = self.owner_position(app_name, None).filter(|_| plan.scopes.app);

        let mut head = None;
        let (mut events, mut changed) = (Vec::new(), Vec::new());
        if let Some(buffer) = session.and_then(|position| self.sessions.get_mut(position)) {
            head = buffer.head()?;
            let is_maker = |record: &Record| record.number("token") == Some(*token);
            if self.checks.is_retry && plan.creates && buffer.record.as_ref().is_some_and(is_maker)
            {
                return Ok(());
            }
            if plan.scopes.session {
                buffer.read_state()?;
            }
            events = buffer.events(&plan.event_ids);
            changed = buffer.changed(plan.since);
        }
        for position in [user, app] {
            if let Some(buffer) = position.and_then(|position| self.owners.get_mut(position)) {
                buffer.read_state()?;
            }
        }
        let row = |position: Option<usize>| self.owners.get(position?)?.row.as_ref();
        let buffer = session.filter(|_| plan.scopes.session);
        let buffer = buffer.and_then(|position| self.sessions.get(position));
        let found = Found {
            session: head,
            state: buffer.and_then(SessionBuffer::state),
            user: row(user),
            app: row(app),
            events,
            changed,
            floor: self.sequence.as_ref().map_or(0, Sequence::floor),
        };
        let Some(changes) = write.decide(found) else {
            let is_blind = write.plan().ids_are_new && !self.checks.ids;
            self.must_look_up |= head.is_some() && is_blind;
            return Ok(());
        };
        let Changes { session: session_change, user: user_change, app: app_change, events } =
            changes;
        for (position, change) in [(user, user_change), (app, app_change)] {
            let buffer = position.and_then(|position| self.owners.get_mut(position));
            if let Some((buffer, change)) = buffer.zip(change) {
                buffer.change(change);
            }
        }
        let buffer = session.and_then(|position| self.sessions.get_mut(position));
        if let Some((buffer, change)) = buffer.zip(session_change) {
            if buffer.record.is_none() {
                let Target { app_name, user_id, .. } = &write.plan().target;
                let number = self.sequence.as_mut().map_or(0.0, Sequence::next);
                buffer.create(number, *token, change.head);
                for owner in &mut self.owners {
                    if owner.is(app_name, user_id.as_deref()) || owner.is(app_name, None) {
                        owner.new_sessions += 1.0;
                    }
                }
            }
            if write.plan().truncate_after.is_some() {
                buffer.cut();
            }
            let events = events.iter().filter_map(|event| write.row(event)).collect();
            buffer.change(change, events);
        }
        Ok(())
    }
}
