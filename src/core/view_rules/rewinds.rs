//! Rewinds.

use std::ops::RangeInclusive;

use super::numbers::NumberMap;
use super::{Kind, Mark};

/// Returns which events are active: no rewind has undone them.
///
/// `older` are the invocations that begin before the events: a rewind before one undoes all up to it.
pub fn active_events(marks: &[Mark], older: &[u32]) -> Vec<bool> {
    let mut active = vec![true; marks.len()];
    for undone in undone_ranges(marks, older) {
        if let Some(undone) = active.get_mut(undone) {
            undone.fill(false);
        }
    }
    active
}

/// Returns where the events end that matter before the event `from`: before what a rewind from there on has undone,
/// or before `from` itself.
pub fn end_before(marks: &[Mark], older: &[u32], from: usize) -> usize {
    let ranges = undone_ranges(marks, older);
    let undone = ranges.into_iter().find(|undone| undone.contains(&from));
    undone.map_or(from, |undone| *undone.start())
}

/// Returns what rewinds undo. A walk from the end finds the rewinds. Each undoes itself and all events back to
/// the first one of the invocation that it names, and the walk continues before that event. If no such event comes
/// before it, a rewind undoes only itself.
fn undone_ranges(marks: &[Mark], older: &[u32]) -> Vec<RangeInclusive<usize>> {
    let mut ranges = Vec::new();
    let is_rewind = |mark: &Mark| mark.kind.is_rewind();
    if !marks.iter().any(is_rewind) {
        return ranges;
    }
    let first = first_events(marks, older);
    let mut end = marks.len();
    while let Some(at) = marks.get(..end).and_then(|rest| rest.iter().rposition(is_rewind)) {
        let before = match marks.get(at).map(|mark| mark.kind) {
            Some(Kind::Rewind { before }) => first.get(before),
            _ => None,
        };
        let cut = before.filter(|cut| *cut < at).unwrap_or(at);
        ranges.push(cut..=at);
        end = cut;
    }
    ranges
}

/// Returns the first event of each invocation; for one that begins before the events, the first of all.
fn first_events(marks: &[Mark], older: &[u32]) -> NumberMap {
    let mut first = NumberMap::default();
    for invocation in older {
        first.set(*invocation, Some(0));
    }
    for (index, mark) in marks.iter().enumerate() {
        if let Some(invocation) = mark.invocation
            && first.get(invocation).is_none()
        {
            first.set(invocation, Some(index));
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(invocation: u32, kind: Kind) -> Mark {
        Mark { invocation: Some(invocation), time: 0.0, kind }
    }

    #[test]
    fn a_rewind_undoes_all_from_the_first_event_of_its_invocation_on() {
        let event = |invocation| mark(invocation, Kind::Fixed);
        let rewind = mark(3, Kind::Rewind { before: 1 });
        let marks = [event(0), event(1), event(2), event(1), rewind, event(4)];
        assert_eq!(active_events(&marks, &[]), [true, false, false, false, false, true]);
        assert_eq!(end_before(&marks, &[], 3), 1);
    }

    #[test]
    fn a_rewind_before_an_invocation_that_is_not_there_undoes_only_itself() {
        let marks = [mark(0, Kind::Fixed), mark(3, Kind::Rewind { before: 1 })];
        assert_eq!(active_events(&marks, &[]), [true, false]);
        assert_eq!(active_events(&marks, &[1]), [false, false]);
    }
}
