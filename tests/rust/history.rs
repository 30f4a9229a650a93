//! Views of histories, by vectors that TypeScript tests as well, and by properties. They are computed whole: windows and
//! pages of views exist only in TypeScript, whose tests read each vector in them too.

use std::collections::HashMap;

use adk_session::history::{
    CallMark, Calls, EventTraits, Item, Kind, Mark, Reader, ResponseMark, View,
};
use proptest::prelude::*;
use serde_json::Value;

const VECTORS: &str = include_str!("../vectors/history.json");

/// A history as the rules take it.
struct History {
    marks: Vec<Mark>,
    calls: Vec<CallMark>,
    responses: Vec<ResponseMark>,
    events: Vec<EventTraits>,
}

impl History {
    /// Marks events for readers of everything: only compactions without branch and scope count.
    fn new(events: &[Value]) -> Self {
        let mut names = HashMap::new();
        let mut number = |name: &str| {
            let next = names.len() as u32;
            *names.entry(name.to_owned()).or_insert(next)
        };
        let (mut calls, mut responses) = (Vec::new(), Vec::new());
        let mut traits = Vec::new();
        let mut marks = Vec::new();
        for (index, event) in events.iter().enumerate() {
            let invocation = event["invocationId"].as_str().filter(|id| !id.is_empty());
            let actions = &event["actions"];
            let is_scoped = event["isolationScope"].is_string();
            let range = &actions["compaction"];
            let kind = if let Some(before) = actions["rewindBeforeInvocationId"].as_str() {
                Kind::Rewind { before: number(before) }
            } else if range.is_object() && (is_scoped || event["branch"].is_string()) {
                Kind::OtherCompaction
            } else if range.is_object() {
                let [start, end] =
                    ["startTimestamp", "endTimestamp"].map(|bound| range[bound].as_f64().unwrap());
                Kind::Compaction { start, end }
            } else if event["isCompacted"] == true {
                Kind::Compacted { end: event["endTime"].as_f64().unwrap() }
            } else if is_scoped || event["content"].is_null() {
                Kind::Fixed
            } else {
                Kind::Content { by_agent: event["author"] != "user" }
            };
            let long_running = event["longRunningToolIds"].as_array();
            let mut has_other_parts = false;
            for part in event["content"]["parts"].as_array().into_iter().flatten() {
                let call = &part["functionCall"];
                let event = index as u32;
                if let Some(id) = call["id"].as_str() {
                    let is_long_running =
                        long_running.is_some_and(|ids| ids.iter().any(|known| known == id));
                    let is_question =
                        call["name"].as_str().is_some_and(|name| name.starts_with("adk_request_"));
                    let about = call["args"]["originalFunctionCall"]["id"].as_str();
                    calls.push(CallMark {
                        event,
                        id: Some(number(id)),
                        about: about.map(&mut number),
                        is_question,
                        is_long_running,
                        is_signed: part["thoughtSignature"].is_string(),
                    });
                } else if let Some(id) = part["functionResponse"]["id"].as_str() {
                    responses.push(ResponseMark { event, id: number(id) });
                } else {
                    has_other_parts = true;
                }
            }
            let author = event["author"].as_str().unwrap();
            traits.push(EventTraits {
                author: number(author),
                is_by_user: author == "user",
                is_text_reply: author != "user" && event["content"]["role"] == "model",
                has_other_parts,
                ..EventTraits::default()
            });
            let time = event["timestamp"].as_f64().unwrap();
            marks.push(Mark { invocation: invocation.map(&mut number), time, kind });
        }
        Self { marks, calls, responses, events: traits }
    }

    fn view(&self, reader: Reader) -> View {
        let calls = Calls {
            calls: &self.calls,
            responses: &self.responses,
            events: &self.events,
            ..Calls::default()
        };
        View::new(&self.marks, &calls, reader)
    }
}

fn ids(view: &View, events: &[Value]) -> Vec<String> {
    let id = |index: usize| events[index]["id"].as_str().unwrap().to_owned();
    let items = view.items.iter().map(|item| match *item {
        Item::Event(index) => id(index),
        Item::Summary { compaction, .. } => format!("adk-view:{}", id(compaction)),
    });
    items.collect()
}

#[test]
fn the_shared_vectors_hold() {
    let vectors: Vec<Value> = serde_json::from_str(VECTORS).unwrap();
    assert!(vectors.len() > 30);
    for vector in &vectors {
        let events = vector["events"].as_array().unwrap();
        let history = History::new(events);
        let name = &vector["name"];
        let transcript = history.view(Reader::Transcript);
        let model = history.view(Reader::Framework);
        assert_eq!(ids(&transcript, events), texts(&vector["transcript"]), "{name}: transcript");
        assert_eq!(ids(&model, events), texts(&vector["model"]), "{name}: model");
        let summarised = transcript.summarised.iter().map(|index| &events[*index]["id"]);
        let summarised: Vec<_> = summarised.map(|id| id.as_str().unwrap()).collect();
        assert_eq!(summarised, texts(&vector["summarised"]), "{name}: summarised");
    }
}

fn texts(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_summary_has_the_last_event_of_an_agent_that_it_hides() {
    let vectors: Vec<Value> = serde_json::from_str(VECTORS).unwrap();
    let agent_event = |name: &str| {
        let vector = vectors.iter().find(|vector| vector["name"] == name).unwrap();
        let events = vector["events"].as_array().unwrap();
        let view = History::new(events).view(Reader::Framework);
        let found = view.items.iter().find_map(|item| match item {
            Item::Summary { agent_event, .. } => Some(*agent_event),
            Item::Event(_) => None,
        });
        found.unwrap().map(|index| events[index]["id"].as_str().unwrap().to_owned())
    };
    assert_eq!(agent_event("summary").as_deref(), Some("i2-a"));
    assert_eq!(agent_event("several_agents").as_deref(), Some("i1-a"));
    assert_eq!(agent_event("overlapping_summaries_between_survivors").as_deref(), Some("i2-a"));
    assert_eq!(agent_event("summary_of_messages_only"), None);
    assert_eq!(agent_event("summary_that_hides_nothing"), None);
}

/// A step of a generated history. Numbers name earlier turns.
#[derive(Debug, Clone)]
enum Step {
    Turn,
    Late(u32),
    Rewind(u32),
    Compaction(u32, u32),
    Compacted(u32),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => Just(Step::Turn),
        1 => (0..20_u32).prop_map(Step::Late),
        3 => (0..20_u32).prop_map(Step::Rewind),
        2 => (0..20_u32, 0..20_u32).prop_map(|(from, to)| Step::Compaction(from, to)),
        1 => (0..20_u32).prop_map(Step::Compacted),
    ];
    prop::collection::vec(step, 0..30)
}

/// Each step is an event of its own; the time of the event at an index is that index.
fn marks(steps: &[Step]) -> Vec<Mark> {
    let mark = |(index, step): (usize, &Step)| {
        let (invocation, kind) = match *step {
            Step::Turn => (index as u32, Kind::Content { by_agent: index % 2 == 1 }),
            Step::Late(invocation) => (invocation, Kind::Content { by_agent: true }),
            Step::Rewind(before) => (index as u32, Kind::Rewind { before }),
            Step::Compaction(from, to) => {
                let (start, end) = (f64::from(from), f64::from(to));
                (index as u32, Kind::Compaction { start, end })
            }
            Step::Compacted(end) => (index as u32, Kind::Compacted { end: f64::from(end) }),
        };
        Mark { invocation: Some(invocation), time: index as f64, kind }
    };
    steps.iter().enumerate().map(mark).collect()
}

fn view(marks: &[Mark], reader: Reader) -> View {
    View::new(marks, &Calls::default(), reader)
}

/// Python's own walk: `_apply_rewinds`.
fn rewound(marks: &[Mark]) -> Vec<usize> {
    let mut kept = Vec::new();
    let mut i = marks.len();
    while i > 0 {
        i -= 1;
        match marks[i].kind {
            Kind::Rewind { before } => {
                let first = marks.iter().position(|mark| mark.invocation == Some(before));
                i = first.filter(|first| *first < i).unwrap_or(i);
            }
            Kind::Compaction { .. } | Kind::Compacted { .. } => {}
            _ => kept.push(i),
        }
    }
    kept.reverse();
    kept
}

proptest! {
    #[test]
    fn a_transcript_has_the_events_that_no_rewind_undid(steps in steps()) {
        let marks = marks(&steps);
        let expected: Vec<_> = rewound(&marks).into_iter().map(Item::Event).collect();
        prop_assert_eq!(view(&marks, Reader::Transcript).items, expected);
    }

    #[test]
    fn an_event_of_the_transcript_is_summarised_or_for_the_agent(steps in steps()) {
        let marks = marks(&steps);
        let transcript = view(&marks, Reader::Transcript);
        let mut rest = transcript.items.clone();
        rest.retain(|item| !transcript.summarised.iter().any(|at| *item == Item::Event(*at)));
        let mut agent = view(&marks, Reader::Agent).items;
        let is_event = |item: &Item| matches!(item, Item::Event(at) if matches!(marks[*at].kind, Kind::Content { .. }));
        agent.retain(is_event);
        prop_assert_eq!(agent, rest);
    }

    #[test]
    fn a_rewind_to_a_rewind_restores_what_was_before_it(steps in steps(), before in 0..20_u32) {
        let mut marks = marks(&steps);
        let views = [Reader::Transcript, Reader::Framework, Reader::Agent].map(|reader| view(&marks, reader));
        let undone = marks.len() as u32;
        for (invocation, before) in [(100, before), (101, 100)] {
            let kind = Kind::Rewind { before };
            marks.push(Mark { invocation: Some(invocation), time: f64::from(undone), kind });
        }
        let again = [Reader::Transcript, Reader::Framework, Reader::Agent].map(|reader| view(&marks, reader));
        prop_assert_eq!(views, again);
    }

    #[test]
    fn a_view_of_events_without_markers_is_all_of_them(count in 0..30_usize) {
        let marks = marks(&vec![Step::Turn; count]);
        let all: Vec<_> = (0..count).map(Item::Event).collect();
        for reader in [Reader::Transcript, Reader::Framework, Reader::Agent] {
            let expected = View { items: all.clone(), ..View::default() };
            prop_assert_eq!(view(&marks, reader), expected);
        }
    }
}
