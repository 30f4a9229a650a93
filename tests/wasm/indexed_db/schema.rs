//! A database on its way from one version to another, in tabs that do not all know the same one.

use adk_session_wasm::read::Window;
use adk_session_wasm::service::text_service::TextService;
use adk_session_wasm::state::Delta;
use adk_session_wasm::wasm::indexed_db::{IndexedDbOptions, IndexedDbStorage, Step};
use adk_session_wasm::write::NewSession;
use adk_session_wasm::{Error, SessionKey, Timestamp};
use js_sys::{Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::{IdbDatabase, IdbFactory, IdbOpenDbRequest, IdbTransaction};

/// The layout's version today.
const VERSION: f64 = 2.0;

/// Steps of later versions: one adds a store, one fails.
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

type Service = TextService<IndexedDbStorage>;

fn service(name: &str, later: &[Step]) -> Service {
    let options = IndexedDbOptions { blocked_timeout: 500.0, ..Default::default() };
    TextService::over(IndexedDbStorage::with_later_steps(name, later, options))
}

async fn delete(name: &str) {
    assert_eq!(IndexedDbStorage::delete_database(name, 5000.0).await, Ok(()));
}

fn key() -> Result<SessionKey, JsValue> {
    Ok(SessionKey::new("app", "user", "session")?)
}

/// A new database with a session in it.
async fn filled(name: &str, later: &[Step]) -> Result<Service, JsValue> {
    delete(name).await;
    let service = service(name, later);
    service.create_session(key()?, NewSession::new(Delta::parse(STATE)?, Timestamp::now())).await?;
    Ok(service)
}

async fn state(service: &Service) -> Result<Option<String>, Error> {
    let session =
        service.get_session(SessionKey::new("app", "user", "session")?, Window::ALL).await?;
    Ok(session.map(|session| session.state))
}

/// Checks that the data is unchanged.
async fn assert_whole(service: &Service) -> Result<(), JsValue> {
    assert_eq!(state(service).await?.as_deref(), Some(STATE));
    Ok(())
}

async fn assert_refused(service: &Service, code: &str) {
    assert_eq!(state(service).await.map_err(|error| error.code()), Err(code));
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
    drop(filled(name, &[]).await?);
    assert_whole(&service(name, LATER)).await?;
    assert_eq!(version(name).await?, VERSION + 1.0);
    delete(name).await;
    Ok(())
}

#[wasm_bindgen_test]
async fn a_newer_database_is_refused_and_unchanged() -> Result<(), JsValue> {
    let name = "schema: newer";
    let newer = filled(name, LATER).await?;
    assert_refused(&service(name, &[]), "storage_newer").await;
    assert_whole(&newer).await?;
    assert_eq!(version(name).await?, VERSION + 1.0);
    drop(newer);
    delete(name).await;
    Ok(())
}

#[wasm_bindgen_test]
async fn a_failed_step_leaves_the_older_database_unchanged() -> Result<(), JsValue> {
    let name = "schema: broken";
    let older = filled(name, &[]).await?;
    assert_refused(&service(name, BROKEN), "storage_failed").await;
    assert_whole(&older).await?;
    assert_eq!(version(name).await?, VERSION);
    drop(older);
    delete(name).await;
    Ok(())
}

#[wasm_bindgen_test]
async fn an_upgrade_waits_for_other_tabs_until_its_time_limit() -> Result<(), JsValue> {
    let name = "schema: blocked";
    drop(filled(name, &[]).await?);
    // It does not listen to `versionchange`.
    let other_tab = hold(name).await?;
    let newer = service(name, LATER);
    for _ in 0..2 {
        assert_refused(&newer, "storage_blocked").await;
    }
    other_tab.close();
    assert_whole(&newer).await?;
    assert_eq!(version(name).await?, VERSION + 1.0);
    drop(newer);
    delete(name).await;
    Ok(())
}

#[wasm_bindgen_test]
async fn a_connection_closes_for_an_upgrade_and_is_then_too_old() -> Result<(), JsValue> {
    let name = "schema: gives way";
    let older = filled(name, &[]).await?;
    let newer = service(name, LATER);
    assert_whole(&newer).await?;
    assert_refused(&older, "storage_newer").await;
    drop(newer);
    delete(name).await;
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
