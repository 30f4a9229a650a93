//! The futures of a service can be spawned on a runtime with several threads.

use std::sync::Arc;

use adk_session::memory::MemoryStorage;
use adk_session::service::StoredSessionService;
use adk_session::{
    CreateRequest, Error, Event, GetRequest, InMemorySessionService, SessionService,
};

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
    check::<adk_session::template::TemplateError>();
}
