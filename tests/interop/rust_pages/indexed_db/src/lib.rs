//! A page whose sessions are in IndexedDB.

use adk_session::service::StoredSessionService;
use adk_session::{CreateRequest, Error, Event, GetRequest, SessionService};
use adk_session_wasm::indexed_db::{IndexedDbOptions, IndexedDbStorage};
use wasm_bindgen::prelude::*;

/// Stores a session with an event, and returns how many events another service finds.
#[wasm_bindgen]
pub async fn stored_events(name: String) -> Result<usize, JsError> {
    Ok(count(&name).await?)
}

async fn count(name: &str) -> Result<usize, Error> {
    let open = || {
        let storage = IndexedDbStorage::new(name, None, IndexedDbOptions::default());
        StoredSessionService::over(storage)
    };
    let (app_name, user_id) = ("shop".to_string(), "ada".to_string());
    let service = open();
    let session = service
        .create(CreateRequest {
            app_name: app_name.clone(),
            user_id: user_id.clone(),
            ..Default::default()
        })
        .await?;
    service.append_event_to(session.key(), Event::new("invocation-1")).await?;
    let session_id = session.id().to_string();
    let request =
        GetRequest { app_name, user_id, session_id, num_recent_events: None, after: None };
    Ok(open().get(request).await?.events().len())
}
