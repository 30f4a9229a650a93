use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Map, Value, json};

use adk_session::event::NewEvent;
use adk_session::memory::MemoryStorage;
use adk_session::service::*;
use adk_session::service::{DescribeRequest, Description, SessionParent};
use adk_session::session::SessionKey;
use adk_session::state::REMOVED;
use adk_session::storage::{Deletion, ListQuery, Storage};
use adk_session::write::{Append, HandlePosition, StalePolicy};
use adk_session::{Error, Event, Invocation, State, TemplateContext, Timestamp};

use crate::third_party::{ThirdParty, Write};

async fn new_session(service: &InMemorySessionService, user_id: &str, id: &str) -> Session {
    let (app_name, user_id) = ("app".to_owned(), user_id.to_owned());
    let session_id = Some(id.to_owned());
    let create = CreateRequest { app_name, user_id, session_id, ..Default::default() };
    service.create(create).await.unwrap()
}

fn get_request(id: &str) -> GetRequest {
    let (app_name, user_id, session_id) = ("app".into(), "user".into(), id.into());
    GetRequest { app_name, user_id, session_id, ..Default::default() }
}

fn event_with(delta: Value) -> Event {
    let mut event = Event::new("i");
    event.actions.state_delta = serde_json::from_value(delta).unwrap();
    event
}

fn nested(levels: usize) -> Value {
    (1..levels).fold(
        json!([]),
        |inner, number| {
            if number % 2 == 0 { json!([inner]) } else { json!({"in": inner}) }
        },
    )
}

#[tokio::test]
async fn a_text_as_content_is_stored_as_a_message_of_its_author() {
    let said = |author: &str, content: Value| Event {
        author: author.into(),
        content: Some(content),
        ..Event::new("i")
    };
    let service = InMemorySessionService::new();
    let message = |role: &str, text: &str| json!({"role": role, "parts": [{"text": text}]});
    let create = CreateRequest {
        app_name: "app".into(),
        user_id: "user".into(),
        session_id: Some("s".into()),
        ..Default::default()
    };
    let events = vec![said("user", json!("Hello"))];
    let session = service.create_with(create, events, Description::default()).await.unwrap();
    assert_eq!(session.events()[0].content, Some(message("user", "Hello")));
    service.append_event("s", said("guide", json!("Welcome"))).await.unwrap();
    service.append_event("s", said("guide", Value::Null)).await.unwrap();
    let invocation = Invocation::new(&session);
    let answer = said("guide", json!("Tea"));
    let answer = invocation.append(&service, answer, None, Some("answer")).await.unwrap();
    assert_eq!(answer.content, Some(message("model", "Tea")));

    for content in [json!(1), json!(true), json!(["Hello"])] {
        let refused = service.append_event("s", said("user", content.clone())).await.unwrap_err();
        assert_eq!(refused.code(), "invalid_argument");
        assert_eq!(refused.to_string(), "event.content must be an object, or a text");
        let create =
            CreateRequest { app_name: "app".into(), user_id: "user".into(), ..Default::default() };
        let events = vec![said("user", content.clone())];
        let refused = service.create_with(create, events, Description::default()).await;
        assert_eq!(refused.unwrap_err().code(), "invalid_argument");
        let refused = invocation.append(&service, said("guide", content), None, None).await;
        assert_eq!(refused.unwrap_err().code(), "invalid_argument");
    }
    let read = service.get(get_request("s")).await.unwrap();
    let contents: Vec<_> = read.events().iter().map(|event| event.content.clone()).collect();
    let stored = [message("user", "Hello"), message("model", "Welcome")].map(Some);
    assert_eq!(contents[..2], stored);
    assert_eq!(contents[2..], [None, Some(message("model", "Tea"))]);
    assert_eq!(read.state().get("answer"), Some(json!("Tea")));
}

#[tokio::test]
async fn state_of_200_levels_is_stored_and_deeper_state_is_refused() {
    let service = InMemorySessionService::new();
    let session = new_session(&service, "user", "s").await;
    service.append_event(session.id(), event_with(json!({"k": nested(200)}))).await.unwrap();
    let read = service.get(get_request("s")).await.unwrap();
    assert_eq!(read.state().get("k"), Some(nested(200)));
    assert_eq!(read.events()[0].actions.state_delta["k"], nested(200));

    let refused = service.append_event("s", event_with(json!({"k": nested(201)}))).await;
    let refused = refused.unwrap_err();
    assert_eq!(refused.code(), "unserializable");
    let message = "event.actions.state_delta[\"k\"]: it nests more than 200 levels";
    assert_eq!(refused.to_string(), message);
    let create = CreateRequest {
        app_name: "app".into(),
        user_id: "user".into(),
        session_id: None,
        state: [("k".to_owned(), nested(201))].into(),
    };
    assert_eq!(service.create(create).await.unwrap_err().code(), "unserializable");
}

#[tokio::test]
async fn an_event_of_250_levels_is_stored_and_a_deeper_one_is_refused() {
    let service = InMemorySessionService::new();
    new_session(&service, "user", "s").await;
    let mut event = Event::new("i");
    event.content = Some(json!({"in": nested(248)}));
    event.other.insert("mine".into(), nested(249));
    event.actions.other.insert("mine".into(), nested(248));
    service.append_event("s", event.clone()).await.unwrap();
    assert_eq!(service.get(get_request("s")).await.unwrap().events().all(), [event.clone()]);
    event.actions.other.insert("mine".into(), nested(249));
    let refused = service.append_event("s", event).await.unwrap_err();
    assert_eq!(refused.to_string(), "event: it nests more than 250 levels");
}

#[tokio::test]
async fn an_event_that_repeats_a_field_is_refused() {
    let service = InMemorySessionService::new();
    new_session(&service, "user", "s").await;
    let mut event = Event::new("i");
    event.other.insert("invocationId".into(), "j".into());
    let error = service.append_event("s", event).await.unwrap_err();
    assert_eq!(error.code(), "invalid_argument");
    assert!(error.to_string().contains("\"invocationId\""), "{error}");
    let mut event = Event::new("i");
    event.actions.other.insert("stateDelta".into(), json!({}));
    assert_eq!(service.append_event("s", event).await.unwrap_err().code(), "invalid_argument");
    assert!(service.get(get_request("s")).await.unwrap().events().is_empty());
}

#[tokio::test]
async fn a_retry_of_an_event_is_stored_once() {
    let service = InMemorySessionService::new();
    new_session(&service, "user", "s").await;
    let event = event_with(json!({"a": 1, "b": 2, "c": 3, "d": 4, "temp:e": 5}));
    for _ in 0..5 {
        service.append_event("s", event.clone()).await.unwrap();
    }
    service.append_event("s", event_with(json!({"a": REMOVED}))).await.unwrap();
    service.append_event("s", event).await.unwrap();
    let session = service.get(get_request("s")).await.unwrap();
    assert_eq!(session.events().len(), 2);
    assert_eq!(session.state().get("a"), None);
    assert_eq!(session.state().all().len(), 3);
}

#[tokio::test]
async fn stored_keys_have_the_same_order_in_every_run() {
    let keys = ["k", "a", "z", "b", "m", "user:y", "user:c"].map(str::to_owned);
    let state: HashMap<String, Value> = keys.into_iter().map(|key| (key, json!(1))).collect();
    let service = InMemorySessionService::new();
    new_session(&service, "user", "s").await;
    service.append_event("s", event_with(json!(state))).await.unwrap();
    let (app_name, user_id) = ("app".to_owned(), "other".to_owned());
    let create = CreateRequest { app_name, user_id, session_id: Some("t".into()), state };
    service.create(create).await.unwrap();
    for (user_id, id) in [("user", "s"), ("other", "t")] {
        let (app_name, user_id, session_id) = ("app".into(), user_id.into(), id.into());
        let get = GetRequest { app_name, user_id, session_id, ..Default::default() };
        let read = service.get(get).await.unwrap();
        let keys: Vec<_> = read.state_keys().collect();
        assert_eq!(keys, ["a", "b", "k", "m", "z", "user:c", "user:y"]);
    }
}

#[tokio::test]
async fn a_partial_event_is_not_stored_and_an_event_without_id_gets_one() {
    let service = InMemorySessionService::new();
    new_session(&service, "user", "s").await;
    let mut event = Event::new("i");
    event.partial = true;
    service.append_event("s", event.clone()).await.unwrap();
    event.partial = false;
    event.id.clear();
    service.append_event("s", event).await.unwrap();
    let session = service.get(get_request("s")).await.unwrap();
    assert_eq!(session.events().len(), 1);
    assert_eq!(session.events()[0].id.len(), 36);
}

#[tokio::test]
async fn an_invalid_id_finds_no_session_and_cannot_be_appended_to() {
    let service = InMemorySessionService::new();
    let long = "x".repeat(513);
    for id in ["", &long] {
        assert_eq!(service.get(get_request(id)).await.unwrap_err().code(), "not_found");
        let (app_name, user_id, session_id) = ("app".into(), "user".into(), id.into());
        let delete = DeleteRequest { app_name, user_id, session_id };
        service.delete(delete).await.unwrap();
        let refused = service.append_event(id, Event::new("i")).await.unwrap_err();
        assert_eq!(refused.code(), "invalid_argument");
    }
    let nobody = GetRequest { user_id: String::new(), ..get_request("s") };
    assert_eq!(service.get(nobody).await.unwrap_err().code(), "invalid_argument");
}

#[tokio::test]
async fn a_list_without_a_user_is_refused_unless_it_is_of_the_app() {
    let service = InMemorySessionService::new();
    new_session(&service, "user", "s").await;
    let list = ListRequest { app_name: "app".into(), ..Default::default() };
    assert_eq!(service.list(list).await.unwrap_err().code(), "invalid_argument");
    let all = ListPage::default();
    assert_eq!(service.list_app("app", all.clone()).await.unwrap().len(), 1);
    let rest = ListPage { offset: Some(1), ..all };
    assert_eq!(service.list_app("app", rest).await.unwrap().len(), 0);
}

#[tokio::test]
async fn an_id_of_two_sessions_is_ambiguous_until_one_is_deleted() {
    let service = InMemorySessionService::new();
    let one = new_session(&service, "user", "s").await;
    let other = new_session(&service, "other", "s").await;
    let error = service.append_event("s", Event::new("i")).await.unwrap_err();
    assert!(matches!(error, Error::Ambiguous { count: 2, .. }), "{error}");
    service.append_event_to(one.key(), Event::new("i")).await.unwrap();
    let [app_name, user_id, session_id] =
        [other.app_name(), other.user_id(), other.id()].map(str::to_owned);
    let delete = DeleteRequest { app_name, user_id, session_id };
    service.delete(delete).await.unwrap();
    service.append_event("s", Event::new("i")).await.unwrap();
    assert_eq!(service.get(get_request("s")).await.unwrap().events().len(), 2);
}

#[test]
fn public_types_can_cross_threads() {
    const fn check<T: Send + Sync + 'static>() {}
    check::<Error>();
    check::<Session>();
    check::<Event>();
    check::<adk_session::Context>();
    check::<adk_session::ReadonlyContext>();
    check::<adk_session::Invocation>();
    const fn is_state<T: adk_session::State + ?Sized>() {}
    is_state::<dyn adk_session::State>();
    is_state::<adk_session::Context>();
}

#[tokio::test]
async fn an_id_finds_sessions_created_and_not_those_deleted_after_its_first_lookup() {
    let service = InMemorySessionService::new();
    let event = || event_with(json!({}));
    let delete = |user_id: &str, id: &str| {
        let (app_name, user_id, session_id) = ("app".into(), user_id.into(), id.into());
        service.delete(DeleteRequest { app_name, user_id, session_id })
    };
    let code = |appended: Result<(), Error>| appended.map_or_else(|error| error.code(), |()| "");
    new_session(&service, "user", "s").await;
    assert_eq!(code(service.append_event("s", event()).await), "");
    new_session(&service, "other", "s").await;
    new_session(&service, "other", "t").await;
    assert_eq!(code(service.append_event("s", event()).await), "ambiguous");
    assert_eq!(code(service.append_event("t", event()).await), "");
    delete("user", "s").await.unwrap();
    assert_eq!(code(service.append_event("s", event()).await), "");
    let (app_name, user_id) = ("app".to_owned(), "other".to_owned());
    service.remove(Deletion::User { app_name, user_id }).await.unwrap();
    for id in ["s", "t"] {
        assert_eq!(code(service.append_event(id, event()).await), "not_found");
    }
    new_session(&service, "user", "s").await;
    assert_eq!(code(service.append_event("s", event()).await), "");
}

#[tokio::test]
async fn the_info_of_a_session_takes_odd_metadata_as_it_is() {
    let service = InMemorySessionService::new();
    let session = new_session(&service, "user", "s").await;
    for (usage, model) in [
        (json!({"totalTokenCount": "7", "trafficType": "ON_DEMAND"}), json!(null)),
        (json!(null), json!("m")),
        (json!("many"), json!("m")),
        (json!({"totalTokenCount": 1, "newTokenCount": 2.0, "pages": 3}), json!("")),
        (json!({"totalTokenCount": 2, "details": nested(200)}), json!(7)),
    ] {
        let mut event = Event::new("i");
        event.other.insert("usageMetadata".into(), usage);
        event.other.insert("modelVersion".into(), model);
        service.append_event("s", event).await.unwrap();
    }
    let info = service.session_info(session.key()).await.unwrap();
    assert_eq!(info.event_count, 5);
    let counts = [("newTokenCount".to_owned(), 2), ("totalTokenCount".to_owned(), 3)];
    assert_eq!(info.usage, [("unknown".to_owned(), counts.into())].into());
}

#[tokio::test]
async fn a_created_session_is_described_as_it_is_stored() {
    let service = InMemorySessionService::new();
    let title = Some("First".to_owned());
    let labels = [("kind".to_owned(), "trial".to_owned())].into();
    let parent = SessionParent { session_id: "original".to_owned(), event_id: None };
    let (app_name, user_id, session_id) = ("app".into(), "user".into(), Some("s".into()));
    let create = CreateRequest { app_name, user_id, session_id, ..CreateRequest::default() };
    let description = Description { title, labels, parent: Some(parent), ..Description::default() };
    let created = service.create_with(create, Vec::new(), description.clone()).await.unwrap();
    let read = service.get(get_request("s")).await.unwrap();
    let expected = Description { initial_state: Some(Map::new()), ..description };
    assert_eq!([created.description(), read.description()], [&expected, &expected]);
    let labels = [("kind".to_owned(), "kept".to_owned()), ("size".to_owned(), "2".to_owned())];
    let request = DescribeRequest { labels: Some(labels.into()), ..DescribeRequest::default() };
    service.describe_session(read.key(), request.clone()).await.unwrap();
    let described = service.get(get_request("s")).await.unwrap();
    assert_eq!(Some(&described.description().labels), request.labels.as_ref());
    assert_eq!(described.description().title.as_deref(), Some("First"));
    let removed = DescribeRequest {
        title: Some(String::new()),
        labels: Some(Default::default()),
        ..DescribeRequest::default()
    };
    service.describe_session(read.key(), removed.clone()).await.unwrap();
    let first = DescribeRequest { first_title: Some(String::new()), ..removed };
    service.describe_session(read.key(), first).await.unwrap();
    let info = service.session_info(read.key()).await.unwrap();
    assert_eq!((info.description.title, info.description.labels.len()), (None, 0));
}

#[tokio::test]
async fn the_tokens_of_a_session_stop_at_the_largest_number() {
    let service = InMemorySessionService::new();
    let session = new_session(&service, "user", "s").await;
    for _ in 0..2 {
        let mut event = Event::new("i");
        event.other.insert("usageMetadata".into(), json!({"totalTokenCount": 1e300}));
        service.append_event("s", event).await.unwrap();
    }
    let info = service.session_info(session.key()).await.unwrap();
    assert_eq!(info.usage["unknown"]["totalTokenCount"], u64::MAX);
}

#[tokio::test]
async fn a_partial_event_is_not_computed() {
    let service = InMemorySessionService::new();
    let session = new_session(&service, "user", "s").await;
    let event = Event { partial: true, ..Event::new("i") };
    let compute = |_: &_| Ok([("k".to_owned(), json!(1))].into());
    service.compute_event(session.key(), event, compute).await.unwrap();
    let session = service.get(get_request("s")).await.unwrap();
    assert!(session.events().is_empty() && session.state().all().is_empty());
}

#[tokio::test]
async fn an_event_is_computed_from_the_stored_state_and_stored_once() {
    let service = InMemorySessionService::new();
    let session = new_session(&service, "user", "s").await;
    let count = |state: &Map<String, Value>| {
        let total = state.get("total").and_then(Value::as_u64).unwrap_or(0);
        Ok([("total".to_owned(), json!(total + 1)), ("temp:now".to_owned(), json!(1))].into())
    };
    let event = Event { id: String::new(), ..Event::new("i") };
    service.compute_event(session.key(), event, count).await.unwrap();
    // A repetition of the same event, after which nothing counts twice.
    let event = Event::new("i");
    for _ in 0..2 {
        service.compute_event(session.key(), event.clone(), count).await.unwrap();
    }
    service.compute_event(session.key(), Event::new("i"), |_| Ok([].into())).await.unwrap();
    let session = service.get(get_request("s")).await.unwrap();
    assert_eq!(session.state().get("total"), Some(json!(2)));
    let deltas: Vec<_> = session.events().iter().map(|e| json!(e.actions.state_delta)).collect();
    assert_eq!(deltas, [json!({"total": 1}), json!({"total": 2})]);
    assert_eq!(session.events()[0].id.len(), 36);
    assert_eq!(session.events()[1].id, event.id);
    let too_deep = |_: &_| Ok([("k".to_owned(), nested(201))].into());
    let refused = service.compute_event(session.key(), Event::new("i"), too_deep).await;
    assert_eq!(refused.unwrap_err().code(), "unserializable");
    let fails = |_: &_| Err(Error::Unsupported(format!("count more than {}", 7).into()));
    let refused = service.compute_state("app", None, fails).await.unwrap_err();
    assert_eq!(refused.code(), "unsupported");
    assert_eq!(refused.to_string(), "this storage cannot count more than 7");
}

#[tokio::test]
async fn the_changes_of_a_session_are_its_new_and_replaced_events() {
    let service = InMemorySessionService::new();
    let session = new_session(&service, "user", "s").await;
    let (key, since) = (session.key(), session.revision());
    let mut first = event_with(json!({"a": 1}));
    service.append_event_to(key, first.clone()).await.unwrap();
    service.append_event_to(key, event_with(json!({"b": 1}))).await.unwrap();
    first.actions.state_delta.insert("a".into(), json!(2));
    service.append_event_to(key, first.clone()).await.unwrap();

    let listed = service.list_changes(key, since).await.unwrap();
    let (events, state) = listed.changes.unwrap();
    assert_eq!(events.len(), 2);
    assert_eq!(events[0], StoredEvent { seq: since + 1, revision: since + 3, event: first });
    assert_eq!(json!(state.all()), json!({"a": 2, "b": 1}));
    assert!(service.list_changes(key, since + 4).await.unwrap().changes.is_none());

    let (app_name, user_id, session_id) = ("app".into(), "user".into(), "s".into());
    service.delete(DeleteRequest { app_name, user_id, session_id }).await.unwrap();
    assert_eq!(service.list_changes(key, since).await.unwrap_err().code(), "not_found");
    new_session(&service, "user", "s").await;
    assert!(service.list_changes(key, listed.head.revision).await.unwrap().changes.is_none());
}

#[tokio::test]
async fn events_are_appended_all_or_none_at_a_known_position() {
    let service = InMemorySessionService::new();
    let session = new_session(&service, "user", "s").await;
    let mut any = SessionPosition::latest(session.key().clone());
    let mut known = session.position().rejecting_stale();
    let refused =
        vec![event_with(json!({"a": 1})), Event { id: "x".repeat(513), ..Event::new("i") }];
    let code = service.append_events(&mut any, refused).await.unwrap_err().code();
    assert_eq!(code, "invalid_argument");
    let partial = Event { partial: true, ..event_with(json!({"c": 1})) };
    let events = vec![event_with(json!({"a": 1})), partial, event_with(json!({"b": 1}))];
    service.append_events(&mut session.position().rejecting_stale(), events.clone()).await.unwrap();
    // A retry of events that are stored already succeeds at any revision, and the position then knows them.
    service.append_events(&mut known, events).await.unwrap();
    assert_eq!(known.revision(), Some(session.revision() + 2));
    let more = vec![event_with(json!({"d": 1}))];
    let mut unread = session.position().rejecting_stale();
    let code = service.append_events(&mut unread, more).await.unwrap_err().code();
    assert_eq!(code, "stale_session");
    let read = service.get(get_request("s")).await.unwrap();
    assert_eq!((read.events().len(), read.state().all().len()), (2, 2));
}

#[tokio::test]
async fn an_append_without_events_to_store_does_nothing() {
    let service = InMemorySessionService::new();
    let key = SessionKey::new("app", "user", "missing").unwrap();
    let partial = Event { partial: true, ..event_with(json!({"a": 1})) };
    for events in [vec![], vec![partial]] {
        let mut position = SessionPosition::latest(key.clone());
        service.append_events(&mut position, events).await.unwrap();
    }
    assert_eq!(service.get(get_request("missing")).await.unwrap_err().code(), "not_found");
}

#[tokio::test]
async fn an_event_whose_text_has_no_timestamp_is_read_with_that_of_its_row() {
    let service = InMemorySessionService::new();
    let session = new_session(&service, "user", "s").await;
    let timestamp = Timestamp::from_millis(5.0).unwrap();
    let texts = [("a", r#"{"id":"a"}"#), ("b", r#"{"id":"b","timestamp":null}"#)];
    let events =
        texts.map(|(id, text)| NewEvent::new(id, timestamp, "{}", text.to_owned().into()).unwrap());
    let (position, policy) = (HandlePosition::Latest, StalePolicy::Append);
    let mut append = Append::new(session.key().clone(), position, policy, events.into());
    service.storage().carry_out(&mut append, &()).await.unwrap();
    append.finish().unwrap();
    let read = service.get(get_request("s")).await.unwrap();
    let page = service.list_events(ListEventsRequest::of(session.key())).await.unwrap();
    let by_id = service.get_events(session.key(), &["a", "b"]).await.unwrap();
    let by_id = by_id.events.iter().map(|stored| &stored.event);
    for events in
        [read.events().iter().collect::<Vec<_>>(), page.events.iter().collect(), by_id.collect()]
    {
        assert_eq!(events.iter().map(|event| event.timestamp).collect::<Vec<_>>(), [timestamp; 2]);
    }
}

struct Uncounted(MemoryStorage);

impl Write for Uncounted {
    fn memory(&self) -> &MemoryStorage {
        &self.0
    }

    fn see_list(&self, request: &ListQuery) {
        assert!(!request.with_total);
    }
}

#[tokio::test]
async fn a_list_does_not_ask_the_storage_for_a_total() {
    let service = StoredSessionService::over(ThirdParty(Uncounted(MemoryStorage::new())));
    let create =
        CreateRequest { app_name: "app".into(), user_id: "user".into(), ..Default::default() };
    service.create(create).await.unwrap();
    let list = ListRequest { app_name: "app".into(), user_id: "user".into() };
    assert_eq!(service.list(list).await.unwrap().len(), 1);
}

#[derive(Debug, Default)]
struct Counting(AtomicU64);

impl Source for Counting {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::Relaxed) as f64).unwrap()
    }

    fn new_id(&self) -> String {
        format!("id-{}", self.0.fetch_add(1, Ordering::Relaxed))
    }
}

#[tokio::test]
async fn times_and_ids_come_from_the_source_of_a_service() {
    let service = StoredSessionService::over(MemoryStorage::new()).with_source(Counting::default());
    // Behind a pointer too.
    let service: Arc<dyn SessionService> = Arc::new(Box::new(service));
    let create =
        CreateRequest { app_name: "app".into(), user_id: "user".into(), ..Default::default() };
    let session = service.create(create).await.unwrap();
    assert_eq!((session.id(), session.last_update_time().as_millis()), ("id-0", 1.0));
    let bare = Event { id: String::new(), ..Event::new("i") };
    service.append_event_to(session.key(), bare.clone()).await.unwrap();
    let invocation = Invocation::new(&session);
    let appended = invocation.append(&service, bare, None, None).await.unwrap();
    assert_eq!(appended.id, "id-2");
    let read = service.list_events(ListEventsRequest::of(session.key())).await.unwrap();
    assert_eq!([&read.events[0].id, &read.events[1].id], ["id-1", "id-2"]);
}
