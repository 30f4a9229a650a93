//! Views of a session's history: which events count after rewinds and compactions.
//!
//! A rewind or a compaction deletes nothing: it is one event, a marker. A view is computed from all events
//! of a session, in the order of the appends. `core::view_rules` has the rules.
//!
//! ```
//! use adk_session::history::{HistoryReader, HistoryView};
//! use adk_session::{CreateRequest, Event, InMemorySessionService};
//! use serde_json::json;
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), adk_session::Error> {
//! let message = |invocation_id: &str| {
//!     let content = Some(json!({"role": "user", "parts": [{"text": "Tea?"}]}));
//!     Event { author: "user".to_owned(), content, ..Event::new(invocation_id) }
//! };
//! let mut rewind = Event::new("i-3");
//! rewind.actions.other.insert("rewindBeforeInvocationId".to_owned(), "i-2".into());
//! let events = vec![message("i-1"), message("i-2"), rewind];
//!
//! let service = InMemorySessionService::new();
//! let (app_name, user_id) = ("shop".to_owned(), "ada".to_owned());
//! let create = CreateRequest { app_name, user_id, ..Default::default() };
//! let session = service.create_with(create, events, Default::default()).await?;
//!
//! let reader = HistoryReader { agent_name: "guide".to_owned(), ..Default::default() };
//! let views = [
//!     HistoryView::transcript(session.events()),
//!     HistoryView::agent(session.events(), &reader),
//! ];
//! for view in views {
//!     assert_eq!(view.events.len(), 1);
//!     assert_eq!(view.events[0].invocation_id, "i-1");
//! }
//! # Ok(())
//! # }
//! ```

mod agent_filter;
mod marks;
mod members;
mod shown;

pub use agent_filter::HistoryReader;

use std::borrow::Cow;
use std::collections::HashSet;

use crate::core::event::Event;
use crate::core::view_rules::{Kind, Reader};
use crate::history::agent_filter::AgentFilter;
use crate::history::marks::{FOR_ALL, Marks, Reading, active_events, content};
use crate::history::shown::{Changes, framework_summary, shown_events, summary};

/// A view of a history, made of all its events.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryView<'a> {
    /// The events, in order. Those that are shown as they are stored are borrowed. A summary is an event
    /// that is not stored: its id is that of its compaction behind `adk-view:`.
    pub events: Vec<Cow<'a, Event>>,
    /// The ids of the events of a transcript that a summary stands for.
    pub summarised: HashSet<&'a str>,
}

impl<'a> HistoryView<'a> {
    /// The events that a person reads: those that no rewind undid, without markers.
    pub fn transcript(events: &'a [Event]) -> Self {
        let events: Vec<_> = events.iter().collect();
        let view = Marks::of(&events, &FOR_ALL).view(Reader::Transcript);
        let show = |_, event| Cow::Borrowed(event);
        let summarised = view.summarised.iter().filter_map(|index| events.get(*index));
        Self {
            events: shown_events(&view, &events, show, framework_summary),
            summarised: summarised.map(|event| event.id.as_str()).collect(),
        }
    }

    /// The events for agents of `@google/adk`, which applies its own compactions itself: each function call
    /// with its response, and the summaries of Python in place of the events that they replace. No
    /// compaction hides the events of an invocation that waits for an answer.
    pub fn model(events: &'a [Event]) -> Self {
        let events: Vec<_> = events.iter().collect();
        let marks = Marks::of(&events, &FOR_ALL);
        let view = marks.view(Reader::Model);
        let changes = Changes::of(&view, &marks, &events);
        let show = |index, event| changes.show(index, event);
        let events = shown_events(&view, &events, show, framework_summary);
        Self { events, summarised: HashSet::new() }
    }

    /// The events that google-adk for Python would show to an agent's model: without undone events, those
    /// of other branches and scopes, and those without visible content. Summaries stand in place of the
    /// events that they replace.
    ///
    /// The order is that of the appends. Python sorts by time as soon as a compaction remains.
    /// Transcriptions, messages of other agents, and calls without responses are as they are stored.
    pub fn agent(events: &'a [Event], reader: &HistoryReader) -> Self {
        let events = active_events(&events.iter().collect::<Vec<_>>());
        let filter = AgentFilter::new(&events, reader);
        let kind_of =
            |event: &Event| if filter.reads(event) { content(event) } else { Kind::Filtered };
        let reading = Reading { counts: &|event| filter.reads(event), kind_of: &kind_of };
        let view = Marks::of(&events, &reading).view(Reader::Agent);
        let author = if reader.agent_name.is_empty() { "model" } else { &reader.agent_name };
        let agent_summary = |compaction: &Event, _: Option<&Event>| {
            let mut shown = summary(compaction, author);
            shown.branch.clone_from(&compaction.branch);
            if let Some(scope) = compaction.other.get("isolationScope") {
                shown.other.insert("isolationScope".to_owned(), scope.clone());
            }
            shown
        };
        let show = |_, event| Cow::Borrowed(event);
        let events = shown_events(&view, &events, show, agent_summary);
        Self { events, summarised: HashSet::new() }
    }
}
