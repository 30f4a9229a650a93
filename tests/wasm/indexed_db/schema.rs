//! A database on its way from one version to another, in tabs that do not all know the same one.

use adk_session_wasm::SessionKey;
use adk_session_wasm::service::StoredSessionService;
use adk_session_wasm::session::Window;
use adk_session_wasm::state::Delta;
use adk_session_wasm::storage::{IndexedDbOptions, IndexedDbStorage, Step};
use js_sys::{Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::{IdbDatabase, IdbFactory, IdbOpenDbRequest, IdbTransaction};

/// What later versions may do: add a store, or fail to.
const LATER: &[Step] = &[add_store];
const BROKEN: &[Step] = &[fail];

fn add_store(database: &IdbDatabase, _: &IdbTransaction) -> Result<(), JsValue> {
    database.create_object_store("later").map(drop)
}

fn fail(database: &IdbDatabase, transaction: &IdbTransaction) -> Result<(), JsValue> {
    add_store(database, transaction)?;
    transaction.object_store("sessions")?.clear()?;
    Err(js_sys::Error::new("no room for it").into())
}

type Service = StoredSessionService<IndexedDbStorage>;

fn service(name: &str, later: &[Step]) -> Service {
    let options = IndexedDbOptions { blocked_timeout: 50.0, ..Default::default() };
    StoredSessionService::over(IndexedDbStorage::with_later_steps(name, later, options))
}

async fn emptied(name: &str) {
    assert_eq!(IndexedDbStorage::delete_database(name, 5000.0).await, Ok(()));
}

fn key() -> Result<SessionKey, JsValue> {
    Ok(SessionKey::new("app", "user", "session")?)
}

async fn fill(service: &Service) -> Result<(), JsValue> {
    let state = Delta::parse(r#"{"topic":"moss","user:name":"Ada"}"#)?;
    service.create_session(key()?, state, 1000.0).await?;
    Ok(())
}

async fn state(service: &Service) -> Result<Option<String>, JsValue> {
    let session = service.get_session(key()?, Window::ALL).await?;
    Ok(session.map(|session| session.state))
}

fn code(error: &JsValue) -> Option<String> {
    Reflect::get(error, &"code".into()).ok()?.as_string()
}

async fn version(name: &str) -> Result<f64, JsValue> {
    let database = hold(name).await?;
    let version = database.version();
    database.close();
    Ok(version)
}

const STATE: &str = r#"{"topic":"moss","user:name":"Ada"}"#;

#[wasm_bindgen_test]
async fn an_older_database_is_upgraded_with_its_data() -> Result<(), JsValue> {
    let name = "schema: upgraded";
    emptied(name).await;
    let older = service(name, &[]);
    fill(&older).await?;
    drop(older);
    assert_eq!(state(&service(name, LATER)).await?.as_deref(), Some(STATE));
    assert_eq!(version(name).await?, 2.0);
    emptied(name).await;
    Ok(())
}

#[wasm_bindgen_test]
async fn a_newer_database_is_refused_and_left_untouched() -> Result<(), JsValue> {
    let name = "schema: newer";
    emptied(name).await;
    let newer = service(name, LATER);
    fill(&newer).await?;
    let refused = state(&service(name, &[])).await.map_err(|error| code(&error));
    assert_eq!(refused, Err(Some("storage_newer".to_owned())));
    assert_eq!(state(&newer).await?.as_deref(), Some(STATE));
    assert_eq!(version(name).await?, 2.0);
    drop(newer);
    emptied(name).await;
    Ok(())
}

#[wasm_bindgen_test]
async fn a_step_that_fails_leaves_the_older_database_as_it_was() -> Result<(), JsValue> {
    let name = "schema: broken";
    emptied(name).await;
    let older = service(name, &[]);
    fill(&older).await?;
    let refused = state(&service(name, BROKEN)).await.map_err(|error| code(&error));
    assert_eq!(refused, Err(Some("storage_failed".to_owned())));
    assert_eq!(state(&older).await?.as_deref(), Some(STATE));
    assert_eq!(version(name).await?, 1.0);
    drop(older);
    emptied(name).await;
    Ok(())
}

#[wasm_bindgen_test]
async fn an_upgrade_waits_for_other_tabs_no_longer_than_it_may() -> Result<(), JsValue> {
    let name = "schema: blocked";
    emptied(name).await;
    let older = service(name, &[]);
    fill(&older).await?;
    drop(older);
    // It does not listen to `versionchange`.
    let other_tab = hold(name).await?;
    let newer = service(name, LATER);
    for _ in 0..2 {
        let refused = state(&newer).await.map_err(|error| code(&error));
        assert_eq!(refused, Err(Some("storage_blocked".to_owned())));
    }
    other_tab.close();
    assert_eq!(state(&newer).await?.as_deref(), Some(STATE));
    assert_eq!(version(name).await?, 2.0);
    drop(newer);
    emptied(name).await;
    Ok(())
}

#[wasm_bindgen_test]
async fn a_connection_gives_way_to_an_upgrade_and_is_then_too_old() -> Result<(), JsValue> {
    let name = "schema: gives way";
    emptied(name).await;
    let older = service(name, &[]);
    fill(&older).await?;
    let newer = service(name, LATER);
    assert_eq!(state(&newer).await?.as_deref(), Some(STATE));
    let refused = state(&older).await.map_err(|error| code(&error));
    assert_eq!(refused, Err(Some("storage_newer".to_owned())));
    drop(newer);
    emptied(name).await;
    Ok(())
}

/// Opens a database as another tab would.
async fn hold(name: &str) -> Result<IdbDatabase, JsValue> {
    let factory: IdbFactory =
        Reflect::get(&js_sys::global(), &"indexedDB".into())?.unchecked_into();
    let request: IdbOpenDbRequest = factory.open(name)?;
    let opened = Promise::new(&mut |resolve, reject| {
        request.set_onsuccess(Some(&resolve));
        request.set_onerror(Some(&reject));
    });
    JsFuture::from(opened).await?;
    Ok(request.result()?.unchecked_into())
}
