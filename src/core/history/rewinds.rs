//! Rewinds.

use super::{Kind, Mark};

/// Returns which events are live: no rewind has undone them. A walk from the end finds the rewinds.
/// Each undoes itself and all events back to the first one of the invocation that it names, and the
/// walk continues before that event. If no such event comes before it, a rewind undoes only itself.
///
/// `older` are the invocations that begin before the events: a rewind before one undoes all up to it.
pub fn live_events(marks: &[Mark], older: &[u32]) -> Vec<bool> {
    let mut live = vec![true; marks.len()];
    let is_rewind = |mark: &Mark| matches!(mark.kind, Kind::Rewind { .. });
    if !marks.iter().any(is_rewind) {
        return live;
    }
    let first = first_events(marks, older);
    let mut end = marks.len();
    while let Some(at) = marks.get(..end).and_then(|rest| rest.iter().rposition(is_rewind)) {
        let before = match marks.get(at).map(|mark| mark.kind) {
            Some(Kind::Rewind { before }) => first.get(before as usize).copied().flatten(),
            _ => None,
        };
        let cut = before.filter(|cut| *cut < at).unwrap_or(at);
        if let Some(undone) = live.get_mut(cut..=at) {
            undone.fill(false);
        }
        end = cut;
    }
    live
}

/// Returns the first event of each invocation; for one that begins before the events, the first of all.
fn first_events(marks: &[Mark], older: &[u32]) -> Vec<Option<usize>> {
    let mut first = Vec::new();
    let events = marks.iter().enumerate();
    let events = events.filter_map(|(index, mark)| Some((index, mark.invocation?)));
    for (index, invocation) in older.iter().map(|invocation| (0, *invocation)).chain(events) {
        let slot = invocation as usize;
        if slot >= first.len() {
            first.resize(slot + 1, None);
        }
        if let Some(event) = first.get_mut(slot) {
            event.get_or_insert(index);
        }
    }
    first
}
