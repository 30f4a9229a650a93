//! Compactions of Python.

use super::{Item, Kind, Mark};

/// A compaction that is shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Summary {
    pub compaction: usize,
    start: f64,
    pub end: f64,
}

/// The compactions that are shown, by their starts, and so by their ends: none contains another.
#[derive(Debug, Default)]
pub(super) struct Summaries(pub Vec<Summary>);

impl Summaries {
    /// Of ranges that contain each other the largest is shown, of equal ones the last. Ranges that
    /// overlap in part are both shown.
    pub fn new(marks: &[Mark], live: &[bool]) -> Self {
        let mut shown: Vec<Summary> = Vec::new();
        for (compaction, (mark, live)) in marks.iter().zip(live).enumerate() {
            let Kind::Compaction { start, end } = mark.kind else { continue };
            let is_contained = shown.iter().any(|other| {
                let is_larger = other.start < start || other.end > end;
                is_larger && other.start <= start && other.end >= end
            });
            if !*live || is_contained {
                continue;
            }
            shown.retain(|other| other.start < start || other.end > end);
            let later = shown.iter().position(|other| other.start > start);
            shown.insert(later.unwrap_or(shown.len()), Summary { compaction, start, end });
        }
        Self(shown)
    }

    /// Returns whether a summary replaces an event of that time.
    pub fn cover(&self, time: f64) -> bool {
        let after = self.0.partition_point(|shown| shown.start <= time);
        // Of the ranges that start by then, the last one ends last.
        let last = after.checked_sub(1).and_then(|last| self.0.get(last));
        last.is_some_and(|shown| time <= shown.end)
    }
}

impl Summary {
    /// Returns the summary, and how many marks stand before it: those up to the last event before
    /// the compaction that is not later than its end. That is the last event that the summary
    /// replaces, unless events stand there in another order than that of time.
    pub fn placed(&self, marks: &[Mark], live: &[bool]) -> (usize, Item) {
        let (mut place, mut agent_event) = (0, None);
        let before = marks.iter().zip(live).enumerate().take(self.compaction);
        for (index, (mark, live)) in before.rev() {
            let is_event = matches!(mark.kind, Kind::Fixed | Kind::Content { .. });
            if !*live || !is_event || mark.time > self.end {
                continue;
            }
            place = place.max(index + 1);
            if mark.time >= self.start && mark.kind == (Kind::Content { by_agent: true }) {
                agent_event = Some(index);
                break;
            }
        }
        (place, Item::Summary { compaction: self.compaction, agent_event })
    }
}
