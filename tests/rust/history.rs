//! Views of histories, by vectors that TypeScript tests as well, and by properties. They are computed whole: windows and
//! pages of views exist only in TypeScript, whose tests read each vector in them too.

use std::collections::HashSet;

use adk_session::history::{HistoryReader, HistoryView};
use adk_session::{Event, Timestamp};
use proptest::prelude::*;
use serde_json::{Value, json};

const VECTORS: &str = include_str!("../vectors/history.json");

fn vectors() -> Vec<Value> {
    serde_json::from_str(VECTORS).unwrap()
}

fn events_of(vector: &Value) -> Vec<Event> {
    serde_json::from_value(vector["events"].clone()).unwrap()
}

fn events_named(name: &str) -> Vec<Event> {
    events_of(vectors().iter().find(|vector| vector["name"] == name).unwrap())
}

fn ids(view: &HistoryView<'_>) -> Vec<String> {
    view.events.iter().map(|event| event.id.clone()).collect()
}

fn texts(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_shared_vectors_hold() {
    let vectors = vectors();
    assert!(vectors.len() > 30);
    for vector in &vectors {
        let (events, name) = (events_of(vector), &vector["name"]);
        let transcript = HistoryView::transcript(&events);
        assert_eq!(ids(&transcript), texts(&vector["transcript"]), "{name}: transcript");
        let summarised = texts(&vector["summarised"]);
        let summarised: HashSet<_> = summarised.iter().map(String::as_str).collect();
        assert_eq!(transcript.summarised, summarised, "{name}: summarised");
        let model = HistoryView::model(&events);
        assert_eq!(ids(&model), texts(&vector["model"]), "{name}: model");
        for context in vector["contexts"].as_array().unwrap() {
            let member = |name: &str| context[name].as_str().map(str::to_owned);
            let reader = HistoryReader {
                agent_name: member("agentName").unwrap(),
                branch: member("branch"),
                isolation_scope: member("isolationScope"),
            };
            let view = HistoryView::agent(&events, &reader);
            assert_eq!(ids(&view), texts(&context["ids"]), "{name}: {reader:?}");
        }
    }
}

#[test]
fn a_summary_is_an_answer_of_the_last_agent_that_it_hides() {
    let summary_of = |name: &str| {
        let mut events = events_named(name);
        for event in &mut events {
            event.other.insert("customMetadata".into(), event.id.clone().into());
        }
        let view = HistoryView::model(&events);
        let is_summary = |event: &&Event| event.id.starts_with("adk-view:");
        view.events.iter().map(|event| &**event).find(is_summary).unwrap().clone()
    };
    let agent_event = |name: &str| {
        let summary = summary_of(name);
        summary.other.get("customMetadata").map(|id| id.as_str().unwrap().to_owned())
    };
    assert_eq!(agent_event("summary").as_deref(), Some("i2-a"));
    assert_eq!(agent_event("several_agents").as_deref(), Some("i1-a"));
    assert_eq!(agent_event("overlapping_summaries_between_survivors").as_deref(), Some("i2-a"));
    assert_eq!(agent_event("summary_of_messages_only"), None);
    assert_eq!(agent_event("summary_that_hides_nothing"), None);
    assert_eq!(summary_of("several_agents").author, "root");
    assert_eq!(summary_of("summary_of_messages_only").author, "model");
    assert_eq!(summary_of("summary").content.unwrap()["role"], "model");
}

/// An event of an agent, or of the user for a response to a call.
fn event(id: &str, parts: Value) -> Event {
    let is_response = parts[0]["functionResponse"].is_object();
    Event {
        id: id.to_owned(),
        author: if is_response { "user" } else { "root" }.to_owned(),
        content: Some(json!({"role": "model", "parts": parts})),
        ..Event::new("i-1")
    }
}

fn parts_of(view: &HistoryView<'_>) -> Vec<Value> {
    view.events.iter().map(|event| event.content.as_ref().unwrap()["parts"].clone()).collect()
}

#[test]
fn the_signature_of_a_call_without_a_response_goes_to_the_next_call() {
    let call = |id: &str| json!({"functionCall": {"id": id, "name": "search"}});
    let mut signed = call("c1");
    signed["thoughtSignature"] = "s".into();
    let response = json!({"functionResponse": {"id": "c2", "name": "search"}});
    let events = [event("e1", json!([signed, call("c2")])), event("e2", json!([response]))];
    let mut kept = call("c2");
    kept["thoughtSignature"] = "s".into();
    let view = HistoryView::model(&events);
    assert_eq!(parts_of(&view), [json!([kept]), json!([response])]);
    // A person sees both calls.
    assert_eq!(*HistoryView::transcript(&events).events[0], events[0]);
}

#[test]
fn the_earlier_calls_of_one_id_get_ids_of_their_own() {
    let call = |id: &str| json!([{"functionCall": {"id": id, "name": "search"}}]);
    let response = |id: &str| json!([{"functionResponse": {"id": id, "name": "search"}}]);
    let parts = [call("c"), response("c"), call("c"), response("c")];
    let events: Vec<_> =
        parts.iter().enumerate().map(|(at, parts)| event(&at.to_string(), parts.clone())).collect();
    let shown = parts_of(&HistoryView::model(&events));
    assert_eq!(shown, [call("c-1"), response("c-1"), call("c"), response("c")]);
}

#[test]
fn a_summary_of_the_framework_ends_before_what_waits() {
    let mut waiting = event("e1", json!([{"functionCall": {"id": "c", "name": "pay"}}]));
    waiting.other.insert("longRunningToolIds".into(), json!(["c"]));
    waiting.timestamp = Timestamp::from_millis(2_000.0).unwrap();
    let mut compacted = event("e2", json!([{"text": "summary"}]));
    compacted.other.insert("isCompacted".into(), true.into());
    compacted.other.insert("endTime".into(), 3_000.into());
    let events = [waiting, compacted];
    let view = HistoryView::model(&events);
    let ends = view.events.iter().filter_map(|event| event.other.get("endTime"));
    assert_eq!(ends.collect::<Vec<_>>(), [&json!(1_999)]);
    assert!(view.events.iter().any(|event| event.id == "e1"));
}

/// A step of a generated history. Numbers name earlier turns.
#[derive(Debug, Clone)]
enum Step {
    Turn,
    Late(usize),
    Rewind(usize),
    Compaction(u32, u32),
    Compacted(u32),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => Just(Step::Turn),
        1 => (0..20_usize).prop_map(Step::Late),
        3 => (0..20_usize).prop_map(Step::Rewind),
        2 => (0..20_u32, 0..20_u32).prop_map(|(from, to)| Step::Compaction(from, to)),
        1 => (0..20_u32).prop_map(Step::Compacted),
    ];
    prop::collection::vec(step, 0..30)
}

/// Each step is an event of its own; its id and its time are its index.
fn history(steps: &[Step]) -> Vec<Event> {
    let event = |(index, step): (usize, &Step)| {
        let is_by_user = matches!(step, Step::Turn) && index % 2 == 0;
        let mut event = Event {
            id: index.to_string(),
            author: if is_by_user { "user" } else { "root" }.to_owned(),
            timestamp: Timestamp::from_millis(index as f64).unwrap(),
            ..Event::new(index.to_string())
        };
        let content = json!({"role": "model", "parts": [{"text": "tea"}]});
        let actions = &mut event.actions.other;
        match *step {
            Step::Turn => event.content = Some(content),
            Step::Late(invocation) => {
                event.invocation_id = invocation.to_string();
                event.content = Some(content);
            }
            Step::Rewind(before) => {
                actions.insert("rewindBeforeInvocationId".into(), before.to_string().into());
            }
            Step::Compaction(from, to) => {
                let range = json!({"startTimestamp": from, "endTimestamp": to, "compactedContent": content});
                actions.insert("compaction".into(), range);
            }
            Step::Compacted(end) => {
                event.other.insert("isCompacted".into(), true.into());
                event.other.insert("endTime".into(), end.into());
                event.content = Some(content);
            }
        }
        event
    };
    steps.iter().enumerate().map(event).collect()
}

fn agent() -> HistoryReader {
    HistoryReader { agent_name: "root".to_owned(), ..HistoryReader::default() }
}

/// Python's own walk: `_apply_rewinds`.
fn rewound(events: &[Event]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut i = events.len();
    while i > 0 {
        i -= 1;
        let Event { actions, other, id, .. } = &events[i];
        if let Some(before) = actions.other.get("rewindBeforeInvocationId") {
            let first = events.iter().position(|event| *before == *event.invocation_id);
            i = first.filter(|first| *first < i).unwrap_or(i);
        } else if !actions.other.contains_key("compaction") && !other.contains_key("isCompacted") {
            kept.push(id.clone());
        }
    }
    kept.reverse();
    kept
}

proptest! {
    #[test]
    fn a_transcript_has_the_events_that_no_rewind_undid(steps in steps()) {
        let events = history(&steps);
        prop_assert_eq!(ids(&HistoryView::transcript(&events)), rewound(&events));
    }

    #[test]
    fn an_event_of_the_transcript_is_summarised_or_for_the_agent(steps in steps()) {
        let events = history(&steps);
        let transcript = HistoryView::transcript(&events);
        let mut rest = ids(&transcript);
        rest.retain(|id| !transcript.summarised.contains(id.as_str()));
        let mut shown = ids(&HistoryView::agent(&events, &agent()));
        let is_summary = |id: &str| {
            let step = id.parse().ok().map(|index: usize| &steps[index]);
            matches!(step, None | Some(Step::Compacted(_)))
        };
        shown.retain(|id| !is_summary(id));
        prop_assert_eq!(shown, rest);
    }

    #[test]
    fn a_rewind_to_a_rewind_restores_what_was_before_it(steps in steps(), before in 0..20_usize) {
        let events = history(&steps);
        let mut longer = events.clone();
        for (invocation, before) in [("100", before.to_string()), ("101", "100".to_owned())] {
            let mut rewind = Event::new(invocation);
            rewind.actions.other.insert("rewindBeforeInvocationId".into(), before.into());
            longer.push(rewind);
        }
        prop_assert_eq!(HistoryView::transcript(&events), HistoryView::transcript(&longer));
        prop_assert_eq!(HistoryView::model(&events), HistoryView::model(&longer));
        prop_assert_eq!(HistoryView::agent(&events, &agent()), HistoryView::agent(&longer, &agent()));
    }

    #[test]
    fn a_view_of_events_without_markers_is_all_of_them(count in 0..30_usize) {
        let events = history(&vec![Step::Turn; count]);
        let all: Vec<_> = events.iter().map(|event| event.id.clone()).collect();
        for view in [
            HistoryView::transcript(&events),
            HistoryView::model(&events),
            HistoryView::agent(&events, &agent()),
        ] {
            prop_assert_eq!(ids(&view), all.clone());
            prop_assert!(view.summarised.is_empty());
        }
    }
}
