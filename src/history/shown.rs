//! The events that views show in place of stored ones. TypeScript makes the same in `js/core/history/view.ts` and
//! `js/core/history/calls/changed_parts.ts`; `tests/vectors/history.json` compares both.

use std::borrow::Cow;
use std::collections::HashMap;
use std::num::NonZeroU32;

use serde_json::{Value, json};

use crate::core::event::{Event, EventActions};
use crate::core::session::Timestamp;
use crate::core::view_rules::{Item, PartChange, View};
use crate::history::marks::{Marks, compacted_end, compaction_of};

/// Returns the events of a view; `summary` makes those of summaries, `show` those of stored events.
pub(super) fn shown_events<'a>(
    view: &View,
    events: &[&'a Event],
    show: impl Fn(usize, &'a Event) -> Cow<'a, Event>,
    summary: impl Fn(&Event, Option<&Event>) -> Event,
) -> Vec<Cow<'a, Event>> {
    let event = |index: usize| events.get(index).copied();
    let shown = view.items.iter().filter_map(|item| match *item {
        Item::Event(index) => Some(show(index, event(index)?)),
        Item::Summary { compaction, agent_event, .. } => {
            Some(Cow::Owned(summary(event(compaction)?, agent_event.and_then(event))))
        }
    });
    shown.collect()
}

/// Makes the event of a summary, with the content that Python stored.
pub(super) fn summary(compaction: &Event, author: &str) -> Event {
    let stored = compaction_of(compaction);
    let end = stored.as_ref().and_then(|stored| Timestamp::valid(stored.end));
    Event {
        id: format!("adk-view:{}", compaction.id),
        invocation_id: compaction.invocation_id.clone(),
        author: author.to_owned(),
        timestamp: end.unwrap_or(compaction.timestamp),
        content: stored.map(|stored| stored.content.clone()),
        partial: false,
        branch: None,
        actions: EventActions::default(),
        other: serde_json::Map::new(),
    }
}

/// Makes the summary that `@google/adk` reads. It has the author and the metadata of the last agent's event
/// among those that the compaction hides: the framework finds the agent of the next message by the author,
/// and A2A finds its context by the metadata.
pub(super) fn framework_summary(compaction: &Event, agent_event: Option<&Event>) -> Event {
    let mut shown = summary(compaction, agent_event.map_or("model", |event| &event.author));
    let is_thought = |part: &&Value| part.get("thought").is_some_and(|thought| *thought == true);
    let parts: Vec<_> = shown.parts().iter().filter(|part| !is_thought(part)).collect();
    shown.content = Some(json!({"role": "model", "parts": parts}));
    if let Some(metadata) = agent_event.and_then(|event| event.other.get("customMetadata")) {
        shown.other.insert("customMetadata".to_owned(), metadata.clone());
    }
    shown
}

/// What `@google/adk` gets of stored events: function calls with their responses alone.
pub(super) struct Changes {
    /// For each changed part of an event the suffix of its id; `None` if it is left out.
    suffixes: HashMap<usize, HashMap<usize, Option<NonZeroU32>>>,
    /// The time of the first event that waits, although a summary of that framework includes it.
    waiting_since: Option<f64>,
}

impl Changes {
    pub(super) fn of(view: &View, marks: &Marks, events: &[&Event]) -> Self {
        let mut suffixes = HashMap::<usize, HashMap<usize, Option<NonZeroU32>>>::new();
        for PartChange { part, suffix } in &view.changes {
            if let Some((event, part)) = marks.part(*part) {
                suffixes.entry(event).or_default().insert(part, *suffix);
            }
        }
        let waiting = view.first_waiting.and_then(|index| events.get(index));
        Self { suffixes, waiting_since: waiting.map(|event| event.timestamp.as_millis()) }
    }

    pub(super) fn show<'a>(&self, index: usize, event: &'a Event) -> Cow<'a, Event> {
        if let Some(since) = self.waiting_since
            && compacted_end(event).is_some_and(|end| end >= since)
        {
            // The framework hides all events up to this time.
            let mut event = event.clone();
            let end = Timestamp::valid(since - 1.0).unwrap_or_default();
            event.other.insert("endTime".to_owned(), json!(end));
            return Cow::Owned(event);
        }
        match self.suffixes.get(&index) {
            Some(suffixes) => Cow::Owned(with_changed_parts(event, suffixes)),
            None => Cow::Borrowed(event),
        }
    }
}

/// The thought signature of a call that is left out goes to the next call.
fn with_changed_parts(event: &Event, suffixes: &HashMap<usize, Option<NonZeroU32>>) -> Event {
    let mut parts = Vec::new();
    let mut signature = None;
    for (index, part) in event.parts().iter().enumerate() {
        let suffix = suffixes.get(&index);
        let own_signature = part.get("thoughtSignature").filter(|own| !own.is_null());
        if suffix == Some(&None) {
            signature = signature.or(own_signature);
            continue;
        }
        let mut shown = part.clone();
        if let Some(Some(suffix)) = suffix {
            add_suffix(&mut shown, *suffix);
        }
        if part.get("functionCall").is_some()
            && let Some(signature) = signature.take()
            && own_signature.is_none()
            && let Value::Object(members) = &mut shown
        {
            members.insert("thoughtSignature".to_owned(), signature.clone());
        }
        parts.push(shown);
    }
    let mut event = event.clone();
    if let Some(stored) = event.content.as_mut().and_then(|content| content.get_mut("parts")) {
        *stored = parts.into();
    }
    event
}

fn add_suffix(part: &mut Value, suffix: NonZeroU32) {
    for kind in ["functionCall", "functionResponse"] {
        if let Some(Value::String(id)) = part.get_mut(kind).and_then(|call| call.get_mut("id")) {
            id.push_str(&format!("-{suffix}"));
        }
    }
}
