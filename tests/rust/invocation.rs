use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use adk_session::error::{Error, StaleReason};
use adk_session::event::Event;
use adk_session::invocation::*;
use adk_session::service::{
    CreateRequest, DeleteRequest, GetRequest, InMemorySessionService, ListRequest, Session,
    SessionPosition, SessionService,
};
use adk_session::state::{REMOVED, ReadonlyState, State};
use adk_session::storage::BoxFuture;

/// A service that stores after a given number of yields, in turn, and fails on demand.
#[derive(Default)]
pub(super) struct TestService {
    inner: InMemorySessionService,
    pub(super) fail_next: AtomicBool,
    pub(super) yields: Mutex<Vec<u16>>,
}

impl SessionService for TestService {
    fn create(&self, request: CreateRequest) -> BoxFuture<'_, Result<Session, Error>> {
        self.inner.create(request)
    }

    fn get(&self, request: GetRequest) -> BoxFuture<'_, Result<Session, Error>> {
        self.inner.get(request)
    }

    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<Vec<Session>, Error>> {
        self.inner.list(request)
    }

    fn delete(&self, request: DeleteRequest) -> BoxFuture<'_, Result<(), Error>> {
        SessionService::delete(&self.inner, request)
    }

    fn append_event<'a>(
        &'a self,
        session_id: &'a str,
        event: Event,
    ) -> BoxFuture<'a, Result<(), Error>> {
        self.inner.append_event(session_id, event)
    }

    fn append_events<'a>(
        &'a self,
        position: &'a mut SessionPosition,
        events: Vec<Event>,
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let yields = self.yields.lock().unwrap().pop().unwrap_or(0);
            for _ in 0..yields {
                tokio::task::yield_now().await;
            }
            if self.fail_next.swap(false, Ordering::Relaxed) {
                return Err(Error::storage("disk"));
            }
            self.inner.append_events(position, events).await
        })
    }
}

pub(super) async fn fixture(state: Value) -> (TestService, Session) {
    let service = TestService::default();
    let create = CreateRequest {
        app_name: "app".into(),
        user_id: "user".into(),
        session_id: Some("s".into()),
        state: serde_json::from_value(state).unwrap(),
    };
    let session = service.create(create).await.unwrap();
    (service, session)
}

pub(super) async fn stored(service: &TestService) -> Session {
    let (app_name, user_id, session_id) = ("app".into(), "user".into(), "s".into());
    let get = GetRequest { app_name, user_id, session_id, ..Default::default() };
    service.get(get).await.unwrap()
}

async fn stored_deltas(service: &TestService) -> Vec<Value> {
    let session = stored(service).await;
    session.events().iter().map(|event| json!(event.actions.state_delta)).collect()
}

pub(super) fn event() -> Event {
    Event::new("")
}

fn event_with(delta: Value) -> Event {
    let mut event = event();
    event.actions.state_delta = serde_json::from_value(delta).unwrap();
    event
}

fn saying(text: &str) -> Event {
    let mut event = event();
    event.content = Some(json!({"role": "model", "parts": [{"text": text}]}));
    event
}

#[tokio::test]
async fn an_append_completes_the_event() {
    let (service, session) = fixture(json!({})).await;
    let invocation = Invocation::new(&session).with_id("e-1");
    let mut context = invocation.context("guide").with_branch("root.guide");
    let mut bare = event();
    bare.id.clear();
    let event = invocation.append(&service, bare, Some(&mut context), None).await.unwrap();
    assert_eq!(event.id.len(), 36);
    assert_eq!((&*event.invocation_id, &*event.author), ("e-1", "guide"));
    assert_eq!(event.branch.as_deref(), Some("root.guide"));
    assert_eq!(stored(&service).await.events().all(), [event]);
}

#[tokio::test]
async fn an_append_keeps_the_fields_of_the_event() {
    let (service, session) = fixture(json!({})).await;
    let invocation = Invocation::new(&session);
    let mut context = invocation.context("guide").with_branch("root");
    let mut own = Event::new("i");
    (own.author, own.branch) = ("a".into(), Some("b".into()));
    let event = invocation.append(&service, own.clone(), Some(&mut context), None).await.unwrap();
    assert_eq!(event, own);
    let by_user = invocation.append(&service, self::event(), None, None).await.unwrap();
    assert_eq!((&*by_user.author, by_user.branch), ("user", None));
    assert!(by_user.invocation_id.starts_with("e-"));
}

#[tokio::test]
async fn a_write_is_visible_immediately_and_stored_once() {
    let (service, session) = fixture(json!({"kept": 0, "user:old": 1})).await;
    let invocation = Invocation::new(&session);
    let mut context = invocation.context("a");
    let other = invocation.readonly_context("b");
    context.set("a".into(), 1.into());
    context.set("temp:t".into(), 2.into());
    context.remove("kept");
    assert_eq!(other.get("a"), Some(json!(1)));
    assert_eq!(other.get("temp:t"), Some(json!(2)));
    assert_eq!(other.get("kept"), None);
    assert_eq!(json!(other.all()), json!({"a": 1, "temp:t": 2, "user:old": 1}));
    assert_eq!(json!(context.delta()), json!({"a": 1, "temp:t": 2, "kept": REMOVED}));
    invocation.append(&service, event(), Some(&mut context), None).await.unwrap();
    invocation.append(&service, event(), Some(&mut context), None).await.unwrap();
    assert_eq!(stored_deltas(&service).await, [json!({"a": 1, "kept": REMOVED}), json!({})]);
    assert_eq!(context.get("temp:t"), Some(json!(2)));
}

#[tokio::test]
async fn the_events_own_delta_and_actions_win_over_the_contexts() {
    let (service, session) = fixture(json!({})).await;
    let invocation = Invocation::new(&session);
    let mut context = invocation.context("a");
    context.set("a".into(), "context".into());
    context.set("b".into(), "context".into());
    let actions = context.actions_mut();
    actions.escalate = true;
    actions.transfer_to_agent = Some("context".into());
    actions.artifact_delta.insert("a.txt".into(), 1);
    actions.state_delta.insert("c".into(), "actions".into());
    actions.other.insert("requestedAuthConfigs".into(), json!({"1": "context", "2": "context"}));
    actions.other.insert("mine".into(), "context".into());
    let mut event = event_with(json!({"a": "event"}));
    event.actions.transfer_to_agent = Some("event".into());
    event.actions.artifact_delta.insert("b.txt".into(), 2);
    event.actions.other.insert("requestedAuthConfigs".into(), json!({"2": "event"}));
    event.actions.other.insert("mine".into(), json!({"own": 1}));
    let event = invocation.append(&service, event, Some(&mut context), None).await.unwrap();
    let expected = json!({
        "stateDelta": {"a": "event", "b": "context", "c": "actions"},
        "artifactDelta": {"a.txt": 1, "b.txt": 2},
        "transferToAgent": "event",
        "escalate": true,
        "requestedAuthConfigs": {"2": "event", "1": "context"},
        "mine": {"own": 1},
    });
    assert_eq!(serde_json::to_value(&event.actions).unwrap(), expected);
    assert_eq!(context.get("a"), Some("event".into()));
    assert_eq!(*context.actions_mut(), Default::default());
}

#[tokio::test]
async fn an_append_that_fails_leaves_the_changes_with_the_context() {
    let (service, session) = fixture(json!({})).await;
    let invocation = Invocation::new(&session);
    let (mut a, mut b) = (invocation.context("a"), invocation.context("b"));
    a.set("k".into(), "older".into());
    a.set("only".into(), "a".into());
    a.actions_mut().escalate = true;
    b.set("k".into(), "newer".into());
    service.fail_next.store(true, Ordering::Relaxed);
    let event = event();
    let failed = invocation.append(&service, event.clone(), Some(&mut a), None).await;
    assert_eq!(failed.unwrap_err().code(), "storage_failed");
    assert_eq!(json!(a.delta()), json!({"k": "older", "only": "a"}));
    invocation.append(&service, self::event(), Some(&mut b), None).await.unwrap();
    let retried = invocation.append(&service, event, Some(&mut a), None).await.unwrap();
    assert!(retried.actions.escalate);
    assert_eq!(stored_deltas(&service).await, [json!({"k": "newer"}), json!({"only": "a"})]);
    assert_eq!(a.get("k"), Some("newer".into()));
}

#[tokio::test]
async fn a_dropped_append_leaves_the_changes_with_the_context() {
    let (service, session) = fixture(json!({})).await;
    let invocation = Invocation::new(&session);
    let (mut a, mut b) = (invocation.context("a"), invocation.context("b"));
    a.set("a".into(), 1.into());
    b.set("b".into(), 1.into());
    *service.yields.lock().unwrap() = vec![0, 1_000];
    tokio::select! {
        biased;
        _ = invocation.append(&service, event(), Some(&mut a), None) => unreachable!(),
        () = tokio::task::yield_now() => {}
    }
    assert_eq!(json!(a.delta()), json!({"a": 1}));
    invocation.append(&service, event(), Some(&mut b), None).await.unwrap();
    assert_eq!(stored_deltas(&service).await, [json!({"b": 1})]);
}

#[tokio::test]
async fn concurrent_appends_are_stored_in_the_order_of_their_calls() {
    let (service, session) = fixture(json!({})).await;
    let invocation = Invocation::new(&session);
    let (mut a, mut b) = (invocation.context("a"), invocation.context("b"));
    a.set("k".into(), "older".into());
    b.set("k".into(), "newer".into());
    // Without the queue, the first would be stored last.
    *service.yields.lock().unwrap() = vec![0, 5];
    let (first, second) = tokio::join!(
        invocation.append(&service, event(), Some(&mut a), None),
        invocation.append(&service, event(), Some(&mut b), None),
    );
    assert_eq!(stored(&service).await.events().all(), [first.unwrap(), second.unwrap()]);
    assert_eq!(stored(&service).await.state().get("k"), Some("newer".into()));
}

#[tokio::test]
async fn the_output_key_gets_the_text_of_a_final_response() {
    let (service, session) = fixture(json!({})).await;
    let invocation = Invocation::new(&session);
    let (mut a, mut b) = (invocation.context("a"), invocation.context("b"));
    a.set("answer".into(), "draft".into());
    b.set("answer".into(), "other".into());
    let mut call = event();
    call.content = Some(json!({"parts": [{"text": "x"}, {"functionCall": {"name": "f"}}]}));
    for event in [call, saying(""), event()] {
        invocation.append(&service, event, None, Some("answer")).await.unwrap();
    }
    invocation.append(&service, event(), Some(&mut b), None).await.unwrap();
    let answer = saying("final");
    invocation.append(&service, answer, Some(&mut a), Some("answer")).await.unwrap();
    let deltas = stored_deltas(&service).await;
    assert_eq!(deltas[..3], [json!({}), json!({}), json!({})]);
    assert_eq!(deltas[3..], [json!({"answer": "other"}), json!({"answer": "final"})]);
    assert_eq!(b.get("answer"), Some("final".into()));
}

#[tokio::test]
async fn a_function_response_is_final_if_the_context_skips_the_summary() {
    let (service, session) = fixture(json!({})).await;
    let invocation = Invocation::new(&session);
    let mut tool = invocation.context("tool").with_function_call_id("1");
    assert_eq!(tool.function_call_id(), Some("1"));
    tool.actions_mut().skip_summarization = true;
    let mut event = event();
    let parts = json!([{"text": "done"}, {"functionResponse": {"name": "f", "response": {}}}]);
    event.content = Some(json!({ "parts": parts }));
    let event = invocation.append(&service, event, Some(&mut tool), Some("answer")).await.unwrap();
    assert_eq!(json!(event.actions.state_delta), json!({"answer": "done"}));
}

#[tokio::test]
async fn a_partial_event_takes_nothing_from_the_context() {
    let (service, session) = fixture(json!({})).await;
    let invocation = Invocation::new(&session);
    let mut context = invocation.context("a");
    context.set("a".into(), 1.into());
    let mut event = saying("h");
    event.partial = true;
    let event = invocation.append(&service, event, Some(&mut context), Some("k")).await.unwrap();
    assert_eq!(event.author, "a");
    assert_eq!(json!(context.delta()), json!({"a": 1}));
    assert!(stored(&service).await.events().is_empty());
}

#[tokio::test]
async fn the_end_removes_temp_keys_and_stops_all_writes() {
    let (service, session) = fixture(json!({"a": 0})).await;
    let invocation = Invocation::new(&session);
    let mut context = invocation.context("a");
    context.set("temp:t".into(), 1.into());
    invocation.end();
    invocation.end();
    context.set("temp:late".into(), 1.into());
    context.set("a".into(), 1.into());
    assert_eq!(json!(context.all()), json!({"a": 0}));
    let refused = invocation.append(&service, event(), Some(&mut context), None).await;
    assert_eq!(refused.unwrap_err().code(), "invalid_argument");

    let invocation = Invocation::new(&session);
    let mut context = invocation.context("a");
    context.set("temp:t".into(), 1.into());
    drop(invocation);
    assert_eq!(context.get("temp:t"), None);
}

#[tokio::test]
async fn a_pending_append_is_stored_after_the_end() {
    let (service, session) = fixture(json!({})).await;
    let invocation = Invocation::new(&session);
    let mut context = invocation.context("a");
    context.set("a".into(), 1.into());
    *service.yields.lock().unwrap() = vec![3];
    let delta = event_with(json!({"temp:t": 1}));
    let end = async {
        tokio::task::yield_now().await;
        invocation.end();
    };
    let append = invocation.append(&service, delta, Some(&mut context), None);
    let (appended, ()) = tokio::join!(append, end);
    assert_eq!(json!(appended.unwrap().actions.state_delta), json!({"a": 1}));
    assert_eq!(json!(context.all()), json!({"a": 1}));
}

#[tokio::test]
async fn a_context_of_another_invocation_is_refused() {
    let (service, session) = fixture(json!({})).await;
    let (one, other) = (Invocation::new(&session), Invocation::new(&session));
    let mut context = other.context("a");
    context.set("a".into(), 1.into());
    let refused = one.append(&service, event(), Some(&mut context), None).await.unwrap_err();
    assert_eq!(refused.code(), "invalid_argument");
    assert_eq!(context.delta().len(), 1);
}

#[tokio::test]
async fn contexts_can_move_to_other_threads() {
    let (service, session) = fixture(json!({})).await;
    let content = json!({"parts": [{"text": "Hi"}]});
    let invocation = Invocation::new(&session).with_user_content(content.clone());
    let mut context = invocation.context("tool");
    assert_eq!(context.user_content(), Some(&content));
    let names = (context.app_name(), context.user_id(), context.session_id());
    assert_eq!(names, ("app", "user", "s"));
    let work = std::thread::spawn(move || {
        context.set("a".into(), 1.into());
        context
    });
    let mut context = work.join().unwrap();
    invocation.append(&service, event(), Some(&mut context), None).await.unwrap();
    assert_eq!(stored_deltas(&service).await, [json!({"a": 1})]);
}

/// Appends an event of another program.
async fn append_as_another(service: &TestService, session: &Session, event: Event) {
    service.append_event_to(session.key(), event).await.unwrap();
}

async fn refusal(service: &TestService, invocation: &Invocation) -> StaleReason {
    match invocation.append(service, event(), None, None).await {
        Err(Error::StaleSession { reason, .. }) => reason,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_invocation_that_was_undone_or_cancelled_stores_nothing_more() {
    let mut rewind = Event::new("other");
    rewind.actions.other.insert("rewindBeforeInvocationId".into(), "e-1".into());
    let mut end_event = Event::new("e-1");
    end_event.other.insert("errorCode".into(), "INVOCATION_ABORTED".into());
    for (ending, reason) in [(rewind, StaleReason::Undone), (end_event, StaleReason::Cancelled)] {
        let (service, session) = fixture(json!({})).await;
        let invocation = Invocation::new(&session).with_id("e-1");
        let mut context = invocation.context("a");
        append_as_another(&service, &session, Event::new("of another program")).await;
        context.set("a".into(), 1.into());
        invocation.append(&service, event(), Some(&mut context), None).await.unwrap();
        append_as_another(&service, &session, ending).await;
        assert_eq!(refusal(&service, &invocation).await, reason);
        // Also the retry.
        assert_eq!(refusal(&service, &invocation).await, reason);
        assert_eq!(stored(&service).await.events().len(), 3);
    }
}

#[tokio::test]
async fn an_invocation_that_rejects_stale_appends_ends_with_a_change_by_others() {
    let (service, session) = fixture(json!({})).await;
    let invocation = Invocation::new(&session).rejecting_stale();
    for _ in 0..2 {
        invocation.append(&service, event(), None, None).await.unwrap();
    }
    append_as_another(&service, &session, Event::new("of another program")).await;
    assert_eq!(refusal(&service, &invocation).await, StaleReason::HandleBehind);
}
