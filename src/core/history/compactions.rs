//! Compactions of Python.

use super::{Item, Kind, Mark};

/// A compaction that is shown.
#[derive(Debug, Clone, Copy)]
struct Summary {
    compaction: usize,
    start: f64,
    end: f64,
}

/// A summary with its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed {
    /// The summary stands before the mark with this index.
    pub before: usize,
    pub item: Item,
}

/// The compactions that are shown, and the times that they cover.
#[derive(Debug)]
pub(super) struct Summaries {
    shown: Vec<Summary>,
    /// The union of the ranges: disjoint, in order.
    covered: Vec<(f64, f64)>,
}

impl Summaries {
    /// Of ranges that contain each other the largest is shown, of equal ones the last. Ranges that
    /// overlap in part are both shown.
    pub fn new(marks: &[Mark], live: &[bool]) -> Self {
        let found = marks.iter().zip(live).enumerate();
        let found = found.filter_map(|(compaction, (mark, live))| match mark.kind {
            Kind::Compaction { start, end } if *live => Some(Summary { compaction, start, end }),
            _ => None,
        });
        let mut shown: Vec<_> = found.collect();
        shown.sort_by(|one, other| {
            let by_range = one.start.total_cmp(&other.start).then(other.end.total_cmp(&one.end));
            by_range.then(other.compaction.cmp(&one.compaction))
        });
        let mut last_end = f64::NEG_INFINITY;
        shown.retain(|summary| {
            let is_contained = summary.end <= last_end;
            last_end = last_end.max(summary.end);
            !is_contained
        });
        let mut covered: Vec<(f64, f64)> = Vec::new();
        for Summary { start, end, .. } in shown.iter().filter(|shown| shown.start <= shown.end) {
            match covered.last_mut() {
                Some((_, last)) if start <= last => *last = last.max(*end),
                _ => covered.push((*start, *end)),
            }
        }
        Self { shown, covered }
    }

    /// Returns whether a summary replaces an event of that time.
    pub fn cover(&self, time: f64) -> bool {
        let after = self.covered.partition_point(|(start, _)| *start <= time);
        let range = after.checked_sub(1).and_then(|last| self.covered.get(last));
        range.is_some_and(|(_, end)| time <= *end)
    }

    /// Returns the summaries that end after `compacted_end`, in order, with their places. Each stands
    /// after the last event before its compaction that is not later than its end. That is the last
    /// event that it hides, unless events stand there in another order than that of time.
    pub fn placed(&self, marks: &[Mark], live: &[bool], compacted_end: f64) -> Vec<Placed> {
        let shown = self.shown.iter().filter(|summary| summary.end > compacted_end);
        let is_event = |kind| matches!(kind, Kind::Fixed | Kind::Content { .. });
        let mut placed: Vec<_> = shown
            .map(|summary| {
                let events = || marks.iter().zip(live).enumerate().rev();
                let (mut before, mut agent_event) = (0, None);
                for (index, (mark, live)) in events().skip(marks.len() - summary.compaction) {
                    let is_hidden = mark.time >= summary.start && mark.time <= summary.end;
                    if !*live || !is_event(mark.kind) || mark.time > summary.end {
                        continue;
                    }
                    if before == 0 {
                        before = index + 1;
                    }
                    if is_hidden && mark.kind == (Kind::Content { by_agent: true }) {
                        agent_event = Some(index);
                        break;
                    }
                }
                let item = Item::Summary { compaction: summary.compaction, agent_event };
                (summary, Placed { before, item })
            })
            .collect();
        placed.sort_by(|(one, at), (other, place)| {
            let by_place = at.before.cmp(&place.before).then(one.end.total_cmp(&other.end));
            by_place.then(one.compaction.cmp(&other.compaction))
        });
        placed.into_iter().map(|(_, placed)| placed).collect()
    }
}
