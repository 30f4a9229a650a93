//! Runs that a rewind has undone. Their later events are refused: they would be live again.
//!
//! This is the only rule that reads events' texts. Its rows come from any storage, and a storage
//! has nothing else that names an invocation. Only an append over a missed rewind reads many.

use std::sync::Arc;

use crate::core::event::{NewEvent, Turn};
use crate::core::history::{Kind, Mark, live_events};
use crate::core::names::Names;
use crate::core::session::Revision;
use crate::core::write::rows::EventRow;

/// How many events an append reads to find rewinds that its handle has missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LookBack {
    /// Those that the policy needs.
    Policy,
    /// Those that the handle has missed. There may be a rewind among them.
    Missed,
    /// All: there is a rewind among the missed ones, or the append has one. A rewind may undo any
    /// event before it.
    All,
}

/// Whether one of the new events is a rewind whose place is to be kept.
pub(super) fn has_new_rewind(events: &[NewEvent]) -> bool {
    events.iter().any(|event| event.is_marker && event.text.turn().rewinds_before.is_some())
}

/// Whether one of the rows was written after that revision, and is a rewind.
pub(super) fn has_rewind(rows: &[EventRow], since: Revision) -> bool {
    rows.iter().any(|row| row.revision > since && row.text.turn().rewinds_before.is_some())
}

/// Returns the invocations that rewinds have undone: the last event of each is not live.
///
/// `rows` are all events of the session, mostly by `seq`.
pub(super) fn undone_invocations(rows: &[EventRow]) -> Vec<Arc<str>> {
    let mut numbers = Names::default();
    let (mut seqs, mut marks) = (Vec::new(), Vec::new());
    for row in rows {
        let Turn { invocation, rewinds_before, .. } = row.text.turn();
        let before = rewinds_before.and_then(|name| number_of(&mut numbers, &name));
        let kind = before.map_or(Kind::Fixed, |before| Kind::Rewind { before });
        let invocation = invocation.and_then(|name| number_of(&mut numbers, &name));
        let place = place_of(&seqs, row.seq);
        seqs.insert(place, row.seq);
        marks.insert(place, Mark { invocation, time: 0.0, kind });
    }
    let mut ends_live = vec![true; numbers.len()];
    for (mark, is_live) in marks.iter().zip(live_events(&marks)) {
        let end = mark.invocation.and_then(|number| ends_live.get_mut(number as usize));
        if let Some(end) = end {
            *end = is_live;
        }
    }
    // Names are numbered in their order.
    let names = numbers.iter().map(|(name, _)| Arc::clone(name));
    names.zip(ends_live).filter(|(_, is_live)| !is_live).map(|(name, _)| name).collect()
}

/// Returns whether an event continues one of these invocations. A summary of `@google/adk` names no
/// invocation: it may sum up undone events.
pub(super) fn continues_undone(events: &[NewEvent], undone: &[Arc<str>]) -> bool {
    events.iter().any(|event| {
        let Turn { invocation, is_compacted, .. } = event.text.turn();
        invocation.map_or(is_compacted, |name| undone.iter().any(|undone| **undone == *name))
    })
}

/// Returns the number of an invocation. They are counted from 0.
pub(super) fn number_of(invocations: &mut Names<Option<u32>>, name: &str) -> Option<u32> {
    let next = invocations.len() as u32;
    let number = invocations.get_or_default(name)?;
    *number = number.or(Some(next));
    *number
}

/// Returns the place of a `seq` among ascending ones. A sort would make the wasm 3 KB larger.
#[inline(never)]
pub(super) fn place_of(seqs: &[Revision], seq: Revision) -> usize {
    seqs.partition_point(|other| *other < seq)
}
