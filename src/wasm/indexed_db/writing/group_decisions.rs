//! Decides the writes of a group, one after the other.

use adk_session::state::ByOwner;
use adk_session::write::{Changes, Decision, Found, Plan, Target};

use crate::indexed_db::records::failure::Failure;
use crate::indexed_db::writing::group_rows::{Group, Member};
use crate::indexed_db::writing::sequence::Sequence;
use crate::indexed_db::writing::session_buffer::SessionBuffer;
use crate::object::JsObject;

/// The indexes of the buffers that a write names: its session, and the shared states that it needs.
#[derive(Clone, Copy)]
struct BufferIndexes {
    session: Option<usize>,
    shared: ByOwner<Option<usize>>,
}

impl Group<'_> {
    /// Decides one member's write, and applies its changes to the rows that the next member sees.
    pub(super) fn decide(&mut self, member: &mut Member<'_>) -> Result<(), Failure> {
        let Member { write, call, token, .. } = member;
        call.check()?;
        let plan = write.plan();
        let indexes = self.indexes(plan);
        if self.checks.is_retry && plan.creates && self.is_made_by(*token, indexes) {
            return Ok(());
        }
        let found = self.read(indexes, plan)?;
        let is_found = found.session.is_some();
        match write.decide(found) {
            Decision::Done(Some(changes)) => self.apply(changes, indexes, write.plan(), *token),
            // A refusal too is decided again with all ids: its events may be stored already.
            Decision::Done(None) => {
                let is_unchecked = write.plan().ids_are_new && !self.checks.ids;
                self.must_look_up |= is_found && is_unchecked;
            }
            Decision::NeedsRows => {}
        }
        Ok(())
    }

    fn indexes(&self, plan: &Plan) -> BufferIndexes {
        let Target { app_name, user_id, .. } = &plan.target;
        let user = user_id.as_deref().filter(|_| plan.scopes.shared.user);
        BufferIndexes {
            session: self.session_index(&plan.target),
            shared: ByOwner {
                user: user.and_then(|user_id| self.owner_index(app_name, Some(user_id))),
                app: self.owner_index(app_name, None).filter(|_| plan.scopes.shared.app),
            },
        }
    }

    /// Whether an earlier attempt of the write with this token has created the session.
    fn is_made_by(&self, token: f64, BufferIndexes { session, .. }: BufferIndexes) -> bool {
        let record = session.and_then(|index| self.sessions.get(index)?.record.as_ref());
        record.and_then(|record: &JsObject| record.number("token")) == Some(token)
    }

    /// Reads the stored data that the plan names, unless an earlier member did, and returns it.
    fn read(&mut self, indexes: BufferIndexes, plan: &Plan) -> Result<Found, Failure> {
        let BufferIndexes { session, shared } = indexes;
        let (mut head, mut events, mut changed) = (None, Vec::new(), Vec::new());
        if let Some(buffer) = session.and_then(|index| self.sessions.get_mut(index)) {
            head = buffer.head()?;
            if plan.scopes.session {
                buffer.read_state()?;
            }
            events = buffer.events(&plan.event_ids);
            changed = buffer.changed(plan.since);
        }
        for index in shared.values() {
            if let Some(buffer) = index.and_then(|index| self.owners.get_mut(index)) {
                buffer.read_state()?;
            }
        }
        let row = |index: Option<usize>| self.owners.get(index?)?.row.clone();
        let buffer = session.filter(|_| plan.scopes.session);
        let buffer = buffer.and_then(|index| self.sessions.get(index));
        Ok(Found {
            session: head,
            state: buffer.and_then(SessionBuffer::state).cloned(),
            shared: shared.map(row),
            events,
            changed,
            floor: self.sequence.as_ref().map_or(0, Sequence::floor),
        })
    }

    fn apply(&mut self, changes: Changes, indexes: BufferIndexes, plan: &Plan, token: f64) {
        let Changes { session: session_change, shared, events } = changes;
        for (index, change) in indexes.shared.zip(shared).values() {
            let buffer = index.and_then(|index| self.owners.get_mut(index));
            if let Some((buffer, change)) = buffer.zip(change) {
                buffer.change(change);
            }
        }
        let buffer = indexes.session.and_then(|index| self.sessions.get_mut(index));
        let Some((buffer, change)) = buffer.zip(session_change) else {
            return;
        };
        if buffer.record.is_none() {
            let Target { app_name, user_id, .. } = &plan.target;
            let number = self.sequence.as_mut().map_or(0.0, Sequence::next);
            buffer.create(number, token, change.head);
            for owner in &mut self.owners {
                if owner.is(app_name, user_id.as_deref()) || owner.is(app_name, None) {
                    owner.new_sessions += 1.0;
                }
            }
        }
        let events = events.into_iter().map(|event| event.row).collect();
        buffer.change(change, events);
    }
}
