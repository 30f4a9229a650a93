//! The futures of a service can be spawned on a runtime with several threads.

use std::collections::HashMap;
use std::sync::Arc;

use adk_session::memory::MemoryStorage;
use adk_session::service::StoredSessionService;
use adk_session::{
    CreateRequest, Error, Event, GetRequest, InMemorySessionService, SessionService,
    TemplateContext, inject_session_state,
};
use serde_json::{Map, Value};

use crate::third_party::ThirdParty;

/// Appends to one session from many tasks, by code that knows only the interface. Which storage it has is
/// known when it runs.
async fn append_from_many_tasks(service: Arc<dyn SessionService>) -> Result<(), Error> {
    let (app_name, user_id) = ("shop".to_owned(), "ada".to_owned());
    let create = CreateRequest {
        app_name: app_name.clone(),
        user_id: user_id.clone(),
        ..CreateRequest::default()
    };
    let session = service.create(create).await?;
    let tasks: Vec<_> = (0..64)
        .map(|number| {
            let (service, id) = (Arc::clone(&service), session.id().to_owned());
            let event = Event::new(format!("invocation-{number}"));
            tokio::spawn(async move { service.append_event(&id, event).await })
        })
        .collect();
    for task in tasks {
        task.await.unwrap()?;
    }
    let session_id = session.id().to_owned();
    let get = GetRequest { app_name, user_id, session_id, ..GetRequest::default() };
    assert_eq!(service.get(get).await?.events().len(), 64);
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn memory_takes_appends_from_many_threads() {
    append_from_many_tasks(Arc::new(InMemorySessionService::new())).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_storage_that_waits_takes_appends_from_many_threads() {
    let service = StoredSessionService::over(ThirdParty(MemoryStorage::new()));
    append_from_many_tasks(Arc::new(service)).await.unwrap();
}

#[test]
fn errors_cross_threads() {
    const fn check<E: std::error::Error + Send + Sync + 'static>() {}
    check::<Error>();
}

/// Polls a future whose storage has all at hand.
fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::pin!(future).poll(&mut context) {
        std::task::Poll::Ready(result) => result,
        std::task::Poll::Pending => panic!("it waits"),
    }
}

type Delta = HashMap<String, Value>;

#[test]
fn a_computed_change_that_calls_the_service_fails_and_changes_nothing() {
    let service = Arc::new(InMemorySessionService::new());
    let inner = Arc::clone(&service);
    let compute = move |_: &Map<String, Value>| -> Result<Delta, Error> {
        ready(inner.get_shared_state("shop", None))?;
        Ok([("app:total".to_owned(), 1.into())].into())
    };
    let refused = ready(service.compute_state("shop", None, compute)).unwrap_err();
    assert_eq!(refused.code(), "invalid_argument");
    assert_eq!(refused.to_string(), "state_delta must not call the service");
    assert!(ready(service.get_shared_state("shop", None)).unwrap().is_empty());
}

#[test]
fn a_computed_change_may_call_another_service() {
    let (service, other) = (InMemorySessionService::new(), InMemorySessionService::new());
    let compute = move |_: &Map<String, Value>| -> Result<Delta, Error> {
        let state = ready(other.get_shared_state("shop", None))?;
        Ok([("app:keys".to_owned(), state.len().into())].into())
    };
    ready(service.compute_state("shop", None, compute)).unwrap();
    assert_eq!(ready(service.get_shared_state("shop", None)).unwrap()["keys"], 0);
}

#[test]
fn calls_of_other_threads_wait_for_a_computed_change() {
    let service = InMemorySessionService::new();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let compute = |state: &Map<String, Value>| -> Result<Delta, Error> {
                        let total = state.get("app:total").and_then(Value::as_u64).unwrap_or(0);
                        // The others meet the locked storage.
                        std::thread::yield_now();
                        Ok([("app:total".to_owned(), (total + 1).into())].into())
                    };
                    ready(service.compute_state("shop", None, compute)).unwrap();
                }
            });
        }
    });
    assert_eq!(ready(service.get_shared_state("shop", None)).unwrap()["total"], 400);
}

/// Renders in a task, by code that knows only the interface of contexts.
async fn render_in_a_task<C: TemplateContext + 'static>(context: C) -> String {
    let task = tokio::spawn(async move { inject_session_state("On {topic}.", &context).await });
    task.await.unwrap().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_template_is_rendered_in_a_task_with_any_context() {
    let state = Map::from_iter([("topic".to_owned(), "tea".into())]);
    assert_eq!(render_in_a_task(state).await, "On tea.");
}
