//! Pages of views.
//!
//! Cursors name stored events, so that they stay valid whatever the view is. Each item of a view therefore
//! has an anchor, the index of a stored event. An event that is shown where it is stored is its own anchor. A
//! summary is not stored, and a call that came back is shown elsewhere: the anchor of both is the stored event
//! before the next one that is shown in its own place. Items with the same anchor stay on one page, and for
//! models a response with its call. So a page may be longer than its limit.

use std::ops::Range;

use super::{CallPart, History, Item, Kind, Needs, PartChange, Reader, View};

/// A place in a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Where that event is stored.
    Stored(usize),
    /// Where the view shows that event; where it is stored if the view does not. The two differ for a call
    /// that came back.
    Shown(usize),
    /// The summary of that compaction.
    Summary(usize),
}

/// What a page of a view begins or ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    /// The place that the page follows, or ends before; `None`: the view's beginning, or its end.
    pub place: Option<Place>,
    /// Whether the page follows the place.
    pub is_after: bool,
    /// The number of items; `None`: all.
    pub limit: Option<usize>,
    /// The index of the first event before the place that is known. Before it, and from the place on, only the
    /// markers and the first events of the invocations that rewinds name are. `None`: all events are known.
    pub known_from: Option<usize>,
    /// Whether the history has no events before the known ones.
    pub is_from_start: bool,
}

/// A page of a view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Its items.
    pub items: Range<usize>,
    /// The anchors of the first and the last item.
    pub first: Option<usize>,
    /// See `first`.
    pub last: Option<usize>,
}

impl View {
    /// Computes a page. `None`: the view has no such summary.
    pub fn page(
        &self,
        history: &History<'_>,
        reader: Reader,
        request: &PageRequest,
    ) -> Result<Option<Page>, Needs> {
        let PageRequest { place, is_after, limit, .. } = *request;
        let anchors = self.anchors(history);
        let are_bound = self.are_bound(history, reader, &anchors);
        let length = self.items.len();
        let at = match place {
            None if is_after => 0,
            None => length,
            Some(place) => match (self.position_of(place).filter(|_| !is_after), place) {
                (Some(position), _) => position,
                (None, Place::Stored(event) | Place::Shown(event)) => {
                    let end = event + usize::from(is_after);
                    anchors.partition_point(|anchor| anchor.is_none_or(|anchor| anchor < end))
                }
                (None, Place::Summary(_)) => return Ok(None),
            },
        };
        let (mut start, mut end) = (at, at);
        let is_bound = |position: usize| are_bound.get(position) == Some(&true);
        if is_after {
            end = limit.map_or(length, |limit| at.saturating_add(limit).min(length));
            while end > start && is_bound(end) {
                end += 1;
            }
        } else {
            start = limit.map_or(0, |limit| at.saturating_sub(limit));
            while is_bound(start) {
                start -= 1;
            }
        }
        let range = start..end;
        if let Some(needs) = self.missing(history, reader, request, &range) {
            return Err(needs);
        }
        let anchor_at = |position: usize| anchors.get(position).copied().flatten();
        let mut page = Page { items: range, first: None, last: None };
        if start < end {
            (page.first, page.last) = (anchor_at(start), anchor_at(end - 1));
        }
        Ok(Some(page))
    }

    /// Returns for each item whether it must be on the page of the previous one. No cursor can name an anchor
    /// before all stored events.
    fn are_bound(
        &self,
        history: &History<'_>,
        reader: Reader,
        anchors: &[Option<usize>],
    ) -> Vec<bool> {
        let mut are_bound = self.are_in_pairs(history, reader);
        let mut previous = Some(usize::MAX);
        for (is_bound, anchor) in are_bound.iter_mut().zip(anchors) {
            *is_bound |= previous.is_none() || previous == *anchor;
            previous = *anchor;
        }
        are_bound
    }

    /// Returns the position of a place; `None` if the view shows nothing of that name there.
    fn position_of(&self, place: Place) -> Option<usize> {
        let is_there = |item: &Item| match (*item, place) {
            (Item::Event(event), Place::Shown(shown)) => event == shown,
            (Item::Summary { compaction, .. }, Place::Summary(shown)) => compaction == shown,
            _ => false,
        };
        self.items.iter().position(is_there)
    }

    /// Returns the anchor of each item, in ascending order; `None`: it comes before all stored events.
    fn anchors(&self, history: &History<'_>) -> Vec<Option<usize>> {
        let mut next = 0;
        let own_anchor = |item: &Item| match *item {
            Item::Event(event) if event >= next => {
                next = event + 1;
                Some(event)
            }
            _ => None,
        };
        let own: Vec<_> = self.items.iter().map(own_anchor).collect();
        let mut next = history.marks.len();
        let fill = |own: Option<usize>| {
            next = own.unwrap_or(next);
            own.or_else(|| next.checked_sub(1))
        };
        let mut anchors: Vec<_> = own.into_iter().rev().map(fill).collect();
        anchors.reverse();
        anchors
    }

    /// Says which events a page lacks, if it lacks any: earlier ones, or a later response to a call that a
    /// compaction hides.
    fn missing(
        &self,
        history: &History<'_>,
        reader: Reader,
        request: &PageRequest,
        range: &Range<usize>,
    ) -> Option<Needs> {
        let History { marks, ref lists, .. } = *history;
        let PageRequest { place, limit, known_from, is_from_start, .. } = *request;
        let from = known_from?;
        let is_for_models = reader == Reader::Model;
        // The summary of a later compaction may stand anywhere.
        let mut kinds = marks.iter().map(|mark| mark.kind);
        if is_for_models && kinds.any(Kind::is_compaction) {
            return Some(Needs::All);
        }
        let is_cut = |change: &PartChange| {
            let event = match change.part {
                CallPart::Call(index) => lists.calls.get(index).map(|call| call.event),
                CallPart::Response(index) => lists.responses.get(index).map(|found| found.event),
            };
            change.suffix.is_none() && event.is_some_and(|event| event as usize >= from)
        };
        // A response after the page may belong to a call that seems to have none.
        let may_be_whole = place.is_none() && is_from_start;
        let is_call_cut = is_for_models && !may_be_whole && self.changes.iter().any(is_cut);
        let is_known = |item: &Item| matches!(*item, Item::Event(event) if event >= from);
        let known = match is_from_start {
            true => 0,
            false => self.items.iter().position(is_known).unwrap_or(self.items.len()),
        };
        let is_short = limit.is_none_or(|limit| range.len() < limit);
        let lacks_earlier = !is_from_start && (range.start == 0 || is_short);
        let has_later = matches!(place, Some(Place::Stored(event)) if event < marks.len());
        let may_come_back = |item: &Item| {
            let event = item.index();
            self.summarised.binary_search(&event).is_ok() && lists.calls_of(event).next().is_some()
        };
        let page = self.items.get(range.clone()).unwrap_or_default();
        let is_missing = is_call_cut
            || range.start < known
            || lacks_earlier
            || (has_later && page.iter().any(may_come_back));
        is_missing.then_some(Needs::Earlier)
    }
}
