//! Views of a history: which events count after rewinds and compactions.
//!
//! A rewind or a compaction deletes nothing: it is one event, a marker. A [`Mark`] has what the rules
//! need to know of an event. The rules read no text: TypeScript, which makes the marks, gives numbers to the names
//! of invocations and function calls.
//!
//! | [`Reader`] | which events it gets |
//! |---|---|
//! | `Transcript` | those that no rewind undid, without markers; [`View::summarised`] names the summarised ones |
//! | `Model` | those for agents of `@google/adk`, which apply that framework's own compactions themselves |
//! | `Agent` | those for one agent, with both kinds of compactions applied |
//!
//! The rules are those of google-adk for Python: `_apply_rewinds`, `_process_compaction_events` and
//! `_recover_compacted_function_calls`, and of `@google/adk`: `getActiveEvents`. One differs: Python
//! sorts by time as soon as a compaction remains, and here the order is that of the appends.
//!
//! `Model` also gets each function call with its response, and nothing else of them: see `pairs`. For
//! this reader no compaction hides what waits for an answer: see `waiting`.
//!
//! Whoever has only the last events and the markers asks for a part of a view: its tail, or a [`Page`].
//! The answer may be that it [`Needs`] more events.

mod branches;
mod calls;
mod compactions;
mod numbers;
mod page;
mod pairs;
mod rewinds;
mod tail;
mod waiting;

pub use branches::{Branch, branches};
pub use calls::{CallLists, CallMark, EventTraits, PauseMark, ResponseMark};
pub use page::{Page, PageRequest, Place};
pub use pairs::{CallPart, PartChange};
pub use waiting::open_calls;

use calls::{ActiveEvents, recover};
use compactions::Summaries;
use numbers::NumberSet;
use pairs::pair;
pub use rewinds::{active_events, end_before};
use waiting::Waiting;

/// A history, so far as the rules need to know it.
#[derive(Debug, Clone, Copy, Default)]
pub struct History<'a> {
    /// The marks of the events, in the order of the appends.
    pub marks: &'a [Mark],
    /// The function calls and responses of the events.
    pub lists: CallLists<'a>,
    /// The invocations that begin before these events. A rewind before one undoes all events up to it.
    pub older: &'a [u32],
}

/// Which events a part of a view takes, if the known ones do not decide it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Events before the known ones may decide too.
    Earlier,
    /// Only the whole history decides.
    All,
}

/// What the rules need to know of one event.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mark {
    /// The event's invocation, if it has one.
    pub invocation: Option<u32>,
    /// The event's timestamp.
    pub time: f64,
    /// What kind of event it is.
    pub kind: Kind,
}

/// The kinds of events. Whoever makes the marks decides what counts for the reader.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// An event that no compaction of Python hides: it has no content, or another scope.
    Fixed,
    /// An event that a compaction may hide.
    Content {
        /// Whether an agent is its author.
        by_agent: bool,
    },
    /// An event that the reader does not get.
    Filtered,
    /// A rewind to before the first event of that invocation.
    Rewind {
        /// The invocation.
        before: u32,
    },
    /// A compaction of Python: its summary replaces the events of this range, both ends included.
    Compaction {
        /// The time of its first event.
        start: f64,
        /// The time of its last event.
        end: f64,
    },
    /// A compaction of Python that does not count for the reader.
    OtherCompaction,
    /// A summary of `@google/adk`: it replaces all other events up to this time.
    Compacted {
        /// The time of its last event.
        end: f64,
    },
}

impl Kind {
    fn is_rewind(self) -> bool {
        matches!(self, Self::Rewind { .. })
    }

    /// Whether the event is a compaction of either framework.
    fn is_compaction(self) -> bool {
        matches!(self, Self::Compaction { .. } | Self::OtherCompaction | Self::Compacted { .. })
    }
}

/// The reader that a view is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// A person.
    Transcript,
    /// The agents of `@google/adk`.
    Model,
    /// One agent.
    Agent,
}

/// The events of a view, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct View {
    /// The events and summaries.
    pub items: Vec<Item>,
    /// For [`Reader::Transcript`]: the events of the view that a summary stands for.
    pub summarised: Vec<usize>,
    /// For [`Reader::Model`]: the calls and responses that it does not get as they are stored.
    pub changes: Vec<PartChange>,
    /// For [`Reader::Model`]: an event that waits, if it is not later than the summary of that
    /// framework. The framework must take the summary to end before that event.
    pub first_waiting: Option<usize>,
    /// For [`Reader::Model`]: the events that invocations wait at, in order. They have open calls or
    /// calls that open questions are about, or say that a node waits.
    pub waiting: Vec<usize>,
    /// For each event of the history whether no rewind has undone it.
    active: Vec<bool>,
}

/// A member of a view. Numbers are indices of marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item {
    /// A stored event.
    Event(usize),
    /// The summary of a compaction of Python.
    Summary {
        /// The compaction.
        compaction: usize,
        /// The last event of an agent that the compaction hides.
        agent_event: Option<usize>,
        /// The event that it follows, if no event of its range waits: shown or hidden. Without this event
        /// it would stand elsewhere.
        follows: Option<usize>,
    },
}

impl Item {
    /// Returns the index of the event, or of the compaction of a summary.
    fn index(self) -> usize {
        match self {
            Self::Event(index) | Self::Summary { compaction: index, .. } => index,
        }
    }
}

impl View {
    /// Computes a view.
    pub fn new(history: &History<'_>, reader: Reader) -> Self {
        let History { marks, ref lists, older } = *history;
        let active = active_events(marks, older);
        let waiting = match reader {
            Reader::Model => Waiting::new(marks, &active, lists),
            _ => Waiting::default(),
        };
        let (mut compacted, mut compacted_end) = (None, f64::NEG_INFINITY);
        for (index, (mark, active)) in marks.iter().zip(&active).enumerate() {
            if let Kind::Compacted { end } = mark.kind
                && *active
            {
                (compacted, compacted_end) = (Some(index), end);
            }
        }
        let summaries = Summaries::new(marks, &active);
        let mut shown = Vec::new();
        for summary in &summaries.0 {
            if reader != Reader::Transcript && summary.end > compacted_end {
                shown.push(summary.position(marks, &active, &waiting));
            }
        }
        let mut items = Vec::new();
        if let (Reader::Agent, Some(index)) = (reader, compacted) {
            items.push(Item::Event(index));
        }
        let first_waiting = waiting.earliest_until(marks, compacted_end);
        let mut hidden = NumberSet::default();
        for (index, (mark, active)) in marks.iter().zip(&active).enumerate() {
            add_summaries(&mut items, &shown, index);
            // The framework itself hides what its own compactions replace, unless something waits there.
            let is_applied = reader != Reader::Model || first_waiting.is_some();
            let is_compacted = is_applied && mark.time <= compacted_end;
            let is_hidden = match mark.kind {
                Kind::Fixed => is_compacted,
                Kind::Content { .. } => is_compacted || summaries.cover(mark.time),
                Kind::Compacted { .. } if reader == Reader::Model => false,
                _ => continue,
            };
            if !*active {
                continue;
            }
            let is_hidden = is_hidden && !waiting.has(index);
            if is_hidden {
                hidden.insert(index);
            }
            if !is_hidden || reader == Reader::Transcript {
                items.push(Item::Event(index));
            }
        }
        add_summaries(&mut items, &shown, marks.len());
        let mut view = Self { items, first_waiting, ..Self::default() };
        if !hidden.is_empty() {
            let sources = ActiveEvents { marks, active: &active };
            let (with_calls, recovered) = recover(&view.items, &hidden, &sources, lists);
            if reader != Reader::Transcript {
                view.items = with_calls;
            } else {
                view.summarised = hidden.ascending();
                view.summarised.retain(|event| !recovered.has(*event));
            }
        }
        if reader == Reader::Model {
            (view.items, view.changes) = pair(view.items, lists, &waiting);
            view.waiting = waiting.sources;
        }
        view.active = active;
        view
    }
}

/// Adds the summaries that stand before that mark, in the order of their ends.
fn add_summaries(items: &mut Vec<Item>, shown: &[(usize, Item)], before: usize) {
    for (at, summary) in shown {
        if *at == before {
            items.push(*summary);
        }
    }
}
