//! Compactions of Python.

use super::waiting::Waiting;
use super::{Item, Kind, Mark};

/// A compaction that is shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Summary {
    pub compaction: usize,
    start: f64,
    pub end: f64,
}

/// The compactions that are shown, by their starts. None contains another, so their ends ascend too.
#[derive(Debug, Default)]
pub(super) struct Summaries(pub Vec<Summary>);

impl Summaries {
    /// A range that lies in another one is not shown. If two are equal, the last one is shown. Ranges
    /// that overlap in part are both shown.
    pub fn new(marks: &[Mark], active: &[bool]) -> Self {
        let mut shown: Vec<Summary> = Vec::new();
        for (compaction, (mark, active)) in marks.iter().zip(active).enumerate() {
            let Kind::Compaction { start, end } = mark.kind else { continue };
            let is_contained = shown.iter().any(|other| {
                let is_larger = other.start < start || other.end > end;
                is_larger && other.start <= start && other.end >= end
            });
            if !*active || is_contained {
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
        // The last range that starts by then also ends last.
        let last = after.checked_sub(1).and_then(|last| self.0.get(last));
        last.is_some_and(|shown| time <= shown.end)
    }
}

impl Summary {
    /// Returns the summary, and how many marks stand before it. It follows the last event before the
    /// compaction whose time is not after its end. If the events are in the order of their times,
    /// that is the last event that the summary replaces. It stands before the events of its range that
    /// wait.
    pub fn position(&self, marks: &[Mark], active: &[bool], waiting: &Waiting) -> (usize, Item) {
        let (mut follows, mut agent_event) = (None, None);
        let mut first_waiting = usize::MAX;
        let before = marks.iter().zip(active).enumerate().take(self.compaction);
        for (index, (mark, active)) in before.rev() {
            let is_event = matches!(mark.kind, Kind::Fixed | Kind::Content { .. });
            if !*active || !is_event || mark.time > self.end {
                continue;
            }
            follows = follows.or(Some(index));
            if mark.time < self.start {
                continue;
            }
            if waiting.has(index) {
                first_waiting = index;
            } else if mark.kind == (Kind::Content { by_agent: true }) {
                agent_event = agent_event.or(Some(index));
            }
            if agent_event.is_some() && waiting.is_empty() {
                break;
            }
        }
        let summary = Item::Summary { compaction: self.compaction, agent_event, follows };
        (follows.map_or(0, |event| event + 1).min(first_waiting), summary)
    }
}
