//! Ends of views.

use super::pairs::positions_in_pairs;
use super::{CallPart, History, Item, Kind, Mark, Needs, PartChange, Reader, View};

impl View {
    /// Returns where the last `count` items begin, or some more so that no response lacks its call.
    ///
    /// `known_from` is the index of the first of the last events. Before them are the markers and the first events of
    /// the invocations that rewinds name. `None`: all events are known.
    pub fn tail(
        &self,
        history: &History<'_>,
        reader: Reader,
        count: usize,
        known_from: Option<usize>,
    ) -> Result<usize, Needs> {
        let start = self.start_of(history, reader, count);
        match known_from {
            None => Ok(start.unwrap_or(0)),
            Some(from) => self.known_start(history, reader, count, start, from),
        }
    }

    /// Returns where the last `count` items begin, so that none of their responses lacks its call; `None` if
    /// there are fewer.
    fn start_of(&self, history: &History<'_>, reader: Reader, count: usize) -> Option<usize> {
        let mut start = self.items.len().checked_sub(count)?;
        let are_in_pairs = self.are_in_pairs(history, reader);
        while are_in_pairs.get(start) == Some(&true) {
            start -= 1;
        }
        Some(start)
    }

    /// Returns for each item whether a part of the view may not begin there: between a call and its response.
    pub(super) fn are_in_pairs(&self, history: &History<'_>, reader: Reader) -> Vec<bool> {
        match reader {
            Reader::Model => positions_in_pairs(&self.items, &history.lists, &self.changes),
            _ => vec![false; self.items.len()],
        }
    }

    /// Decides whether the last events decide where the tail begins. Earlier events may decide too if
    ///
    /// - the view shows fewer than `count` of the last events;
    /// - a summary has the author of the last agent's event that it hides, or stands before the events of
    ///   its range that wait, and the events do not go back to the start of its range;
    /// - a response belongs to an earlier call;
    /// - a question waits until an agent has read its answer, and the last event of an agent is not known.
    ///
    /// A summary of the framework ends before the first event of an invocation that waits: that may be any.
    fn known_start(
        &self,
        history: &History<'_>,
        reader: Reader,
        count: usize,
        start: Option<usize>,
        from: usize,
    ) -> Result<usize, Needs> {
        let History { marks, ref lists, .. } = *history;
        let items = &self.items;
        // A summary before the first known event may stand elsewhere in the whole view.
        let known =
            items.iter().position(|item| matches!(*item, Item::Event(event) if event >= from));
        let is_known = known.is_some_and(|known| start.is_some_and(|start| start >= known));
        if count > 0 && !is_known {
            return Err(Needs::Earlier);
        }
        let start = start.unwrap_or(0);
        // A transcript has no summaries, and its calls stay where they are.
        if reader == Reader::Transcript {
            return Ok(start);
        }
        let shown = items.get(start..).unwrap_or_default();
        if shown.is_empty() && count > 0 {
            return Err(Needs::Earlier);
        }
        if !self.waiting.is_empty() {
            let is_compacted = |mark: &Mark| matches!(mark.kind, Kind::Compacted { .. });
            if marks.iter().any(is_compacted) {
                return Err(Needs::All);
            }
            let is_of_agent = |(event, is_active): (usize, &bool)| {
                event >= from && *is_active && !lists.traits_of(event).is_by_user
            };
            let waits_earlier = self.waiting.iter().any(|event| *event < from);
            if waits_earlier && !self.active.iter().enumerate().any(is_of_agent) {
                return Err(Needs::Earlier);
            }
        }
        // A summary has the index of its compaction, which is later than what it stands among.
        let first = shown.iter().map(|item| item.index()).min().unwrap_or(0);
        let is_cut = |change: &PartChange| match *change {
            PartChange { part: CallPart::Response(index), suffix: None } => {
                lists.responses.get(index).is_some_and(|response| response.event as usize >= first)
            }
            _ => false,
        };
        if self.changes.iter().any(is_cut) {
            return Err(Needs::Earlier);
        }
        let times = marks.iter().skip(from).map(|mark| mark.time);
        let oldest = times.fold(f64::INFINITY, f64::min);
        for (at, item) in items.iter().enumerate() {
            let Item::Summary { compaction, agent_event, follows } = *item else { continue };
            // Without what waits a summary would stand behind the event that it follows.
            let may_be_shown =
                at >= start || (!shown.is_empty() && follows.is_some_and(|event| event >= first));
            let Some(Kind::Compaction { start: since, end }) = kind_of(marks, compaction) else {
                continue;
            };
            // An empty range hides no event.
            if !may_be_shown || since > end {
                continue;
            }
            if agent_event.is_none_or(|event| event < from) || oldest >= since {
                return Err(Needs::Earlier);
            }
        }
        Ok(start)
    }
}

fn kind_of(marks: &[Mark], event: usize) -> Option<Kind> {
    marks.get(event).map(|mark| mark.kind)
}
