//! What a session is after writes, by vectors that `tests/js/stores/cache/overlay/session_overlay.test.ts` shares: a cache
//! shows a session with unsent writes as it will be when they have arrived.

use std::collections::{BTreeMap, HashMap};

use adk_session::service::{DeleteRequest, DescribeRequest, Description};
use adk_session::{
    CreateRequest, Event, GetRequest, InMemorySessionService, SessionKey, SessionService, Timestamp,
};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Case {
    name: String,
    stored: Option<Shown>,
    writes: Vec<Write>,
    session: Option<Shown>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    state: HashMap<String, Value>,
    #[serde(default)]
    title: String,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    last_update_time: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Write {
    Create(Creation),
    Append(Change),
    Describe { title: Option<String>, labels: Option<BTreeMap<String, String>> },
    Delete {},
}

#[derive(Deserialize)]
struct Creation {
    state: HashMap<String, Value>,
    events: Vec<Change>,
    #[serde(default)]
    title: String,
    #[serde(default)]
    labels: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Change {
    delta: HashMap<String, Value>,
    time: f64,
    first_title: Option<String>,
    #[serde(default)]
    invocation: String,
    rewind_before: Option<String>,
}

fn key() -> SessionKey {
    SessionKey::new("app", "user", "s").unwrap()
}

fn event_of(change: &Change) -> Event {
    let mut event = Event::new(&change.invocation);
    event.timestamp = Timestamp::from_millis(change.time).unwrap();
    event.actions.state_delta = change.delta.clone();
    if let Some(before) = &change.rewind_before {
        let before = before.as_str().into();
        event.actions.other.insert("rewindBeforeInvocationId".to_owned(), before);
    }
    event
}

async fn create(service: &InMemorySessionService, creation: Creation) {
    let Creation { state, events, title, labels } = creation;
    let (app_name, user_id, session_id) = ("app".into(), "user".into(), Some("s".into()));
    let request = CreateRequest { app_name, user_id, session_id, state };
    let description = Description { title: Some(title), labels, ..Default::default() };
    let events = events.iter().map(event_of).collect();
    service.create_with(request, events, description).await.unwrap();
}

async fn write(service: &InMemorySessionService, write: Write) {
    let key = key();
    match write {
        Write::Create(creation) => create(service, creation).await,
        Write::Append(change) => {
            service.append_event_to(&key, event_of(&change)).await.unwrap();
            let request = DescribeRequest { first_title: change.first_title, ..Default::default() };
            service.describe_session(&key, request).await.unwrap();
        }
        Write::Describe { title, labels } => {
            let request = DescribeRequest { title, labels, ..Default::default() };
            service.describe_session(&key, request).await.unwrap();
        }
        Write::Delete {} => {
            let (app_name, user_id, session_id) = ("app".into(), "user".into(), "s".into());
            service.delete(DeleteRequest { app_name, user_id, session_id }).await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_session_is_after_writes_what_the_shared_cases_say() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("../vectors/outbox.json")).unwrap();
    assert!(cases.len() >= 14);
    for Case { name, stored, writes, session } in cases {
        let service = InMemorySessionService::new();
        if let Some(Shown { state, title, labels, .. }) = stored {
            create(&service, Creation { state, events: Vec::new(), title, labels }).await;
        }
        for each in writes {
            write(&service, each).await;
        }
        let (app_name, user_id, session_id) = ("app".into(), "user".into(), "s".into());
        let get = GetRequest { app_name, user_id, session_id, ..Default::default() };
        let Some(expected) = session else {
            assert!(service.get(get).await.is_err(), "{name}");
            continue;
        };
        let found = service.get(get).await.unwrap();
        let mut state = found.state().all();
        state.retain(|key, _| !key.starts_with("user:") && !key.starts_with("app:"));
        assert_eq!(state, expected.state, "{name}");
        let description = found.description();
        assert_eq!(description.title.clone().unwrap_or_default(), expected.title, "{name}");
        assert_eq!(description.labels, expected.labels, "{name}");
        if let Some(time) = expected.last_update_time {
            assert_eq!(found.last_update_time(), Timestamp::from_millis(time).unwrap(), "{name}");
        }
    }
}
