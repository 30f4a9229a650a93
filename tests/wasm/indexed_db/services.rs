//! A session service over IndexedDB, as a page in Rust uses it.

use std::sync::Arc;

use adk_session::memory::MemoryStorage;
use adk_session::service::{DescribeRequest, StoredSessionService};
use adk_session::storage::Storage;
use adk_session::{CreateRequest, Event, GetRequest, SessionService};
use adk_session_wasm::Thrown;
use adk_session_wasm::indexed_db::{IndexedDbOptions, IndexedDbStorage};
use js_sys::Function;
use wasm_bindgen_test::wasm_bindgen_test;

fn create(user_id: &str, session_id: Option<&str>) -> CreateRequest {
    let (app_name, user_id) = ("shop".to_owned(), user_id.to_owned());
    let session_id = session_id.map(str::to_owned);
    CreateRequest { app_name, user_id, session_id, ..CreateRequest::default() }
}

#[wasm_bindgen_test]
async fn an_append_by_a_bare_id_works_over_a_storage_that_is_chosen_at_run_time()
-> Result<(), Thrown> {
    let name = "services: bare ids";
    IndexedDbStorage::delete_database(name, 5000.0).await?;
    for is_stored in [true, false] {
        let storage: Box<dyn Storage> = if is_stored {
            Box::new(IndexedDbStorage::new(name, None, IndexedDbOptions::default()))
        } else {
            Box::new(MemoryStorage::new())
        };
        #[allow(clippy::arc_with_non_send_sync, reason = "a page has one thread")]
        let service: Arc<dyn SessionService> = Arc::new(StoredSessionService::over(storage));
        let session = service.create(create("ada", None)).await?;
        service.append_event(session.id(), Event::new("invocation-1")).await?;
        let get = GetRequest {
            app_name: "shop".into(),
            user_id: "ada".into(),
            session_id: session.id().into(),
            ..GetRequest::default()
        };
        assert_eq!(service.get(get).await?.events().len(), 1);

        let missing = service.append_event("none", Event::new("invocation-1")).await;
        assert_eq!(missing.map_err(|error| error.code()), Err("not_found"));
        for user_id in ["ada", "grace"] {
            service.create(create(user_id, Some("latest"))).await?;
        }
        let ambiguous = service.append_event("latest", Event::new("invocation-1")).await;
        assert_eq!(ambiguous.map_err(|error| error.code()), Err("ambiguous"));
    }
    IndexedDbStorage::delete_database(name, 5000.0).await?;
    Ok(())
}

#[wasm_bindgen_test]
async fn an_on_open_that_never_settles_ends_by_ten_times_the_timeout() -> Result<(), Thrown> {
    let name = "services: on_open";
    let on_open = Function::new_no_args("return new Promise(() => {});");
    let options = IndexedDbOptions { timeout: 100.0, ..IndexedDbOptions::default() };
    let storage = IndexedDbStorage::new(name, Some(on_open), options);
    for _ in ["the call that opens", "one that comes while it waits"] {
        let opened = storage.open().await;
        assert_eq!(opened.map_err(|error| error.code()), Err("connection_lost"));
    }
    drop(storage);
    IndexedDbStorage::delete_database(name, 5000.0).await?;
    Ok(())
}

#[wasm_bindgen_test]
async fn an_empty_first_title_gives_a_session_no_title() -> Result<(), Thrown> {
    let name = "services: titles";
    IndexedDbStorage::delete_database(name, 5000.0).await?;
    let storage = IndexedDbStorage::new(name, None, IndexedDbOptions::default());
    let service = StoredSessionService::over(storage);
    let session = service.create(create("ada", None)).await?;
    for (first_title, expected) in [("", None), ("Tea", Some("Tea")), ("", Some("Tea"))] {
        let first_title = Some(first_title.to_owned());
        let request = DescribeRequest { first_title, ..DescribeRequest::default() };
        service.describe_session(session.key(), request).await?;
        let info = service.session_info(session.key()).await?;
        assert_eq!(info.description.title.as_deref(), expected);
    }
    IndexedDbStorage::delete_database(name, 5000.0).await?;
    Ok(())
}
