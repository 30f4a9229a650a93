//! Ends of views, and whether a view goes on with later events.

use super::numbers::{NumberMap, NumberSet};
use super::page::Place;
use super::pairs::positions_in_pairs;
use super::waiting::waits_for_user;
use super::{CallPart, History, Item, Kind, Mark, Needs, PartChange, Reader, View};

/// The last items of a view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tail {
    /// Where they begin.
    pub start: usize,
    /// For [`Reader::Model`]: the events from which the tail was made, in order. The next tail is
    /// made from these and later events. A tail that was made from such sources has none.
    pub sources: Vec<usize>,
}

/// Which events of a history are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// All.
    All,
    /// The last ones from that index on, and before them the markers and the first events of the
    /// invocations that rewinds name.
    Last {
        /// The index.
        from: usize,
    },
    /// The sources of an earlier tail, and what follows them.
    Sources {
        /// The first item of that tail. What the view has before it may have gaps.
        first: Place,
        /// Whether the view begins with that tail.
        is_whole: bool,
    },
}

impl View {
    /// Computes the last `count` items, or some more so that no response lacks its call.
    pub fn tail(
        &self,
        history: &History<'_>,
        reader: Reader,
        count: usize,
        known: Known,
    ) -> Result<Tail, Needs> {
        let start = self.start_of(history, reader, count);
        let start = match known {
            Known::All => start.unwrap_or(0),
            Known::Last { from } => self.known_start(history, reader, count, start, from)?,
            Known::Sources { first, is_whole } => {
                let first = self.position_of(first);
                let start = match (first, start) {
                    (Some(first), Some(start)) if start >= first => start,
                    (Some(first), _) if is_whole => first,
                    _ => return Err(Needs::Earlier),
                };
                return Ok(Tail { start, sources: Vec::new() });
            }
        };
        Ok(Tail { start, sources: self.sources(history, reader, start) })
    }

    /// Returns where the last `count` items begin, so that none of their responses lacks its call; `None` if
    /// there are fewer.
    pub fn start_of(&self, history: &History<'_>, reader: Reader, count: usize) -> Option<usize> {
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

    /// Returns the events that the view makes its items of from a position on.
    fn sources(&self, history: &History<'_>, reader: Reader, start: usize) -> Vec<usize> {
        if reader != Reader::Model {
            return Vec::new();
        }
        let History { marks, ref lists, .. } = *history;
        let mut sources = NumberSet::default();
        let shown = self.items.get(start..).unwrap_or_default();
        let shown_times = shown.iter().filter_map(|item| Some(marks.get(item.index())?.time));
        let oldest = shown_times.fold(f64::INFINITY, f64::min);
        let first = shown.iter().map(|item| item.index()).min();
        let mut is_after_summary = false;
        for (at, item) in self.items.iter().enumerate() {
            let end = kind_of(marks, item.index()).and_then(Kind::compacted_end);
            let is_needed = match *item {
                // An earlier compaction may hide these events too.
                Item::Summary { agent_event, follows, .. }
                    if at >= start || end.is_some_and(|end| end >= oldest) =>
                {
                    for event in [agent_event, follows].into_iter().flatten() {
                        sources.insert(event);
                    }
                    true
                }
                _ => false,
            };
            // What waits stands behind its summary. When it waits no more, that stands elsewhere.
            is_after_summary |= is_needed;
            if is_after_summary || at >= start {
                sources.insert(item.index());
            }
        }
        // A call that is left out for now stands between the shown events, or after them.
        for change in &self.changes {
            if let PartChange { part: CallPart::Call(index), suffix: None } = *change
                && let Some(call) = lists.calls.get(index)
                && first.is_some_and(|first| call.event as usize >= first)
            {
                sources.insert(call.event as usize);
            }
        }
        self.add_sources_of_waiting(history, &mut sources);
        sources.ascending()
    }

    /// Adds the active events that tell what waits: those from the first one at which an invocation waits.
    /// With them the earliest event of each invocation that waits, before which a summary of the framework
    /// ends, and the last event of an agent, which has read the answers before it.
    fn add_sources_of_waiting(&self, history: &History<'_>, sources: &mut NumberSet) {
        let History { marks, ref lists, .. } = *history;
        let Some(&first) = self.waiting.first() else { return };
        let invocation_of = |event: usize| marks.get(event).and_then(|mark| mark.invocation);
        let time_of = |event: usize| marks.get(event).map_or(f64::INFINITY, |mark| mark.time);
        // For each invocation that waits its earliest event.
        let mut earliest = NumberMap::default();
        for &event in &self.waiting {
            if let Some(invocation) = invocation_of(event) {
                earliest.set(invocation, Some(event));
            }
        }
        let mut last_of_agent = None;
        for (event, mark) in marks.iter().enumerate() {
            if self.active.get(event) != Some(&true) {
                continue;
            }
            if let Some(invocation) = mark.invocation
                && earliest.get(invocation).is_some_and(|known| mark.time < time_of(known))
            {
                earliest.set(invocation, Some(event));
            }
            let traits = lists.traits_of(event);
            if !traits.is_by_user {
                last_of_agent = Some(event);
            }
            let closes = (traits.is_by_user || traits.is_abort)
                && lists.responses_of(event).next().is_some();
            if event >= first && (closes || tells_what_waits(history, event)) {
                sources.insert(event);
            }
        }
        for event in earliest.values().chain(last_of_agent) {
            sources.insert(event);
        }
    }
}

/// Returns whether a view goes on with the later events of a history as with new ones, and what it showed
/// before does not change.
///
/// `known` is the number of the events before them: the compaction that ends last, and those of a tail.
pub fn follows(history: &History<'_>, reader: Reader, known: usize) -> bool {
    let History { marks, ref lists, .. } = *history;
    let compaction = last_compaction(marks.get(..known).unwrap_or_default());
    let hidden_until = compaction.map(|(_, end)| end);
    for (event, mark) in marks.iter().enumerate().skip(known) {
        if mark.kind.is_marker() || hidden_until.is_some_and(|end| mark.time <= end) {
            return false;
        }
        // A compaction does not hide the events of an invocation that waits.
        let may_wait = lists.calls_of(event).any(|(_, call)| waits_for_user(lists, call))
            || lists.pause_of(event).is_some_and(|pause| pause.is_waiting);
        if reader == Reader::Model && hidden_until.is_some() && may_wait {
            return false;
        }
    }
    // A response to a hidden call brings the call back. In a transcript the call is then no longer
    // summarised.
    if hidden_until.is_none() && reader != Reader::Model {
        return true;
    }
    let mut called = NumberMap::default();
    for event in 0..marks.len() {
        let mut ids = lists.responses_of(event).map(|(_, response)| response.id);
        if event >= known && ids.any(|id| called.get(id).is_none()) {
            return false;
        }
        for id in lists.calls_of(event).filter_map(|(_, call)| call.id) {
            called.set(id, Some(event));
        }
    }
    true
}

/// Returns the compaction that ends last, whether or not a rewind has undone it, and when it ends.
pub fn last_compaction(marks: &[Mark]) -> Option<(usize, f64)> {
    let mut last = None;
    for (event, mark) in marks.iter().enumerate() {
        if let Some(end) = mark.kind.compacted_end()
            && last.is_none_or(|(_, latest)| end > latest)
        {
            last = Some((event, end));
        }
    }
    last
}

fn kind_of(marks: &[Mark], event: usize) -> Option<Kind> {
    marks.get(event).map(|mark| mark.kind)
}

/// Whether an event has a call that may wait, or the state of a node.
fn tells_what_waits(history: &History<'_>, event: usize) -> bool {
    let lists = &history.lists;
    lists.calls_of(event).any(|(_, call)| waits_for_user(lists, call))
        || lists.pause_of(event).is_some()
}
