//! Runs that a rewind has undone. Their later events are refused: they would be live again.
//!
//! This is the only rule that reads events' texts. Its rows come from any storage, and a storage
//! has nothing else that names an invocation. Only an append over a missed rewind reads many.

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

/// Whether one of the new events is a rewind whose marks are to be kept.
pub(super) fn has_new_rewind(events: &[NewEvent]) -> bool {
    events.iter().any(|event| event.is_marker && event.text.turn().rewinds_before.is_some())
}

/// Whether one of the rows was written after that revision, and is a rewind.
pub(super) fn has_rewind(rows: &[EventRow], since: Revision) -> bool {
    rows.iter().any(|row| row.revision > since && row.text.turn().rewinds_before.is_some())
}

/// Returns whether an event continues a run that a rewind has undone. The event belongs to an
/// invocation with stored events, and none of them is live. Or it is a summary of `@google/adk`,
/// which names no invocation: it may sum up undone events.
///
/// `rows` are all events of the session, mostly by `seq`.
pub(super) fn continues_undone(events: &[NewEvent], rows: &[EventRow]) -> bool {
    let mut invocations = Names::default();
    let (mut seqs, mut marks) = (Vec::new(), Vec::new());
    for row in rows {
        let Turn { invocation, rewinds_before, .. } = row.text.turn();
        let before = rewinds_before.and_then(|name| number_of(&mut invocations, &name));
        let kind = before.map_or(Kind::Fixed, |before| Kind::Rewind { before });
        let invocation = invocation.and_then(|name| number_of(&mut invocations, &name));
        let place = place_of(&seqs, row.seq);
        seqs.insert(place, row.seq);
        marks.insert(place, Mark { invocation, time: 0.0, kind });
    }
    let live = live_events(&marks);
    for event in events {
        let Turn { invocation, is_compacted, .. } = event.text.turn();
        let Some(name) = invocation else {
            if is_compacted {
                return true;
            }
            continue;
        };
        let number = invocations.get(&name).copied().flatten();
        let (mut is_stored, mut is_live) = (false, false);
        for (mark, live) in marks.iter().zip(&live) {
            if mark.invocation.is_some() && mark.invocation == number {
                is_stored = true;
                is_live |= *live;
            }
        }
        if is_stored && !is_live {
            return true;
        }
    }
    false
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
