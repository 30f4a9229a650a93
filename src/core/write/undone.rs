//! Runs that a rewind has undone or that were cancelled. Their later events are refused: undone ones would be
//! active again, and a cancelled run has ended.
//!
//! The rule reads the texts of events, because rows have no column for the invocation. Only an append
//! whose handle, or whose run, has missed a rewind reads many of them.

use std::sync::Arc;

use crate::core::event::{EventText, NewEvent, RewindMembers};
use crate::core::names::NameMap;
use crate::core::session::Revision;
use crate::core::view_rules::{Kind, Mark, active_events};
use crate::core::write::rows::EventRow;

/// Whether one of the new events is a rewind, over a storage that keeps the places of markers.
pub(super) fn has_new_rewind(events: &[NewEvent]) -> bool {
    events
        .iter()
        .any(|event| event.may_be_marker && event.text.rewind_members().rewinds_before.is_some())
}

/// Whether one of the rows was written after that revision, and is a rewind.
pub(super) fn has_rewind(rows: &[EventRow], since: Revision) -> bool {
    rows.iter()
        .any(|row| row.revision > since && row.text.rewind_members().rewinds_before.is_some())
}

/// Returns the invocations that rewinds have undone: the last event of each is not active.
///
/// `rows` are all events of the session, in any order.
pub(super) fn undone_invocations(rows: &[EventRow]) -> Vec<Arc<str>> {
    let mut numbers = NameMap::default();
    let (mut seqs, mut marks) = (Vec::new(), Vec::new());
    for row in rows {
        let mark = mark_of(&row.text, &mut numbers);
        let index = insertion_index(&seqs, row.seq);
        seqs.insert(index, row.seq);
        marks.insert(index, mark);
    }
    let mut ends_active = vec![true; numbers.len()];
    for (mark, is_active) in marks.iter().zip(active_events(&marks, &[])) {
        let end = mark.invocation.and_then(|number| ends_active.get_mut(number as usize));
        if let Some(end) = end {
            *end = is_active;
        }
    }
    // Invocations are numbered in the order in which `NameMap` lists them.
    let names = numbers.iter().map(|(name, _)| Arc::clone(name));
    names.zip(ends_active).filter(|(_, is_active)| !is_active).map(|(name, _)| name).collect()
}

/// Returns for each event of a new session whether it is active: no rewind among them has undone it.
pub(super) fn active_new_events(events: &[NewEvent]) -> Vec<bool> {
    if !has_new_rewind(events) {
        return vec![true; events.len()];
    }
    let mut numbers = NameMap::default();
    let marks: Vec<_> = events.iter().map(|event| mark_of(&event.text, &mut numbers)).collect();
    active_events(&marks, &[])
}

/// Returns the mark of an event, with what rewinds need of it.
fn mark_of(text: &EventText, numbers: &mut NameMap<Option<u32>>) -> Mark {
    let RewindMembers { invocation, rewinds_before, .. } = text.rewind_members();
    let before = rewinds_before.and_then(|name| number_of(numbers, &name));
    let kind = before.map_or(Kind::Fixed, |before| Kind::Rewind { before });
    let invocation = invocation.and_then(|name| number_of(numbers, &name));
    Mark { invocation, time: 0.0, kind }
}

/// Returns whether an event continues one of these invocations. A summary of `@google/adk` has no
/// invocation. It counts, because it may sum up undone events.
pub(super) fn continues_undone(events: &[NewEvent], undone: &[Arc<str>]) -> bool {
    events.iter().any(|event| {
        let RewindMembers { invocation, is_compacted, .. } = event.text.rewind_members();
        invocation.map_or(is_compacted, |name| undone.iter().any(|undone| **undone == *name))
    })
}

/// Returns the invocations that were cancelled after that revision: the newest event of each is an end event.
///
/// `rows` are the events that were written since, in any order, or more.
pub(super) fn cancelled_invocations(rows: &[EventRow], since: Revision) -> Vec<Arc<str>> {
    let missed = || rows.iter().filter(|row| row.revision > since);
    let mut ends: Vec<(Arc<str>, Revision)> = Vec::new();
    for row in missed() {
        let RewindMembers { invocation, is_abort, .. } = row.text.rewind_members();
        if let Some(name) = invocation.filter(|_| is_abort) {
            ends.push((name.into(), row.seq));
        }
    }
    if ends.is_empty() {
        return Vec::new();
    }
    // A run may have been resumed after its end event.
    for row in missed() {
        let RewindMembers { invocation, is_abort, .. } = row.text.rewind_members();
        let resumed = invocation.filter(|_| !is_abort);
        ends.retain(|(name, seq)| row.seq < *seq || resumed.as_deref() != Some(&**name));
    }
    ends.into_iter().map(|(name, _)| name).collect()
}

/// Returns whether an event continues one of these cancelled invocations.
pub(super) fn continues_cancelled(events: &[NewEvent], cancelled: &[Arc<str>]) -> bool {
    !cancelled.is_empty()
        && events.iter().any(|event| {
            let invocation = event.text.rewind_members().invocation;
            invocation.is_some_and(|name| cancelled.iter().any(|cancelled| **cancelled == *name))
        })
}

/// Returns the number of an invocation, and gives it the next one if it has none. `None` if memory has no
/// room.
pub(super) fn number_of(invocations: &mut NameMap<Option<u32>>, name: &str) -> Option<u32> {
    let next = invocations.len() as u32;
    let number = invocations.get_or_default(name)?;
    *number = number.or(Some(next));
    *number
}

/// Returns the index at which a `seq` is inserted into ascending ones. A sort would make the wasm 3 KB
/// larger.
#[inline(never)]
pub(super) fn insertion_index(seqs: &[Revision], seq: Revision) -> usize {
    seqs.partition_point(|other| *other < seq)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::session::Timestamp;

    fn row(seq: Revision, invocation: &str, more: &str) -> EventRow {
        let text = format!(r#"{{"id":"e{seq}","invocationId":"{invocation}","author":"a"{more}}}"#);
        let (timestamp, text) = (Timestamp::MIN, EventText::from(text));
        EventRow { id: format!("e{seq}").into(), seq, revision: seq, timestamp, text }
    }

    #[test]
    fn an_invocation_that_was_resumed_after_its_end_event_is_not_cancelled() {
        let end = r#","errorCode":"INVOCATION_ABORTED""#;
        let mut rows = vec![row(1, "i1", ""), row(2, "i1", end), row(3, "i2", end)];
        assert_eq!(cancelled_invocations(&rows, 0), ["i1".into(), "i2".into()]);
        assert_eq!(cancelled_invocations(&rows, 2), ["i2".into()]);
        rows.insert(0, row(4, "i1", ""));
        assert_eq!(cancelled_invocations(&rows, 0), ["i2".into()]);
    }
}
