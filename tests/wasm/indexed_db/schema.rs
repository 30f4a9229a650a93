//! Databases of other versions, in tabs that do not all know the same one.

use adk_session::read::Read;
use adk_session::service::text_service::TextService;
use adk_session::state::Delta;
use adk_session::write::NewSession;
use adk_session::{SessionKey, Timestamp};
use adk_session_wasm::Thrown;
use adk_session_wasm::indexed_db::{IndexedDbOptions, IndexedDbStorage};
use js_sys::{Array, Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::{IdbDatabase, IdbFactory, IdbOpenDbRequest};

/// The layout's version today.
const VERSION: u32 = 4;

type Service = TextService<IndexedDbStorage>;

fn service(name: &str) -> Service {
    let options = IndexedDbOptions { timeout: 500.0, ..Default::default() };
    TextService::over(IndexedDbStorage::new(name, None, options))
}

async fn delete(name: &str) {
    let deleted = IndexedDbStorage::delete_database(name, 5000.0).await;
    assert!(deleted.is_ok(), "{deleted:?}");
}

fn key() -> Result<SessionKey, Thrown> {
    Ok(SessionKey::new("app", "user", "session")?)
}

async fn assert_refused(service: &Service, code: &str) -> Result<(), Thrown> {
    let read = service.get_session(key()?, Read::ALL).await;
    assert_eq!(read.map_err(|error| error.code()).err(), Some(code));
    Ok(())
}

#[wasm_bindgen_test]
async fn a_connection_closes_for_an_upgrade_and_is_then_too_old() -> Result<(), Thrown> {
    let name = "schema: gives way";
    delete(name).await;
    let service = service(name);
    let state = Delta::parse(r#"{"topic":"moss"}"#)?;
    service.create_session(key()?, NewSession::new(state, Timestamp::now())).await?;
    let newer = open_bare(name, VERSION + 1).await?;
    for _ in 0..2 {
        assert_refused(&service, "storage_newer").await?;
    }
    assert_eq!(newer.version(), f64::from(VERSION + 1));
    newer.close();
    delete(name).await;
    Ok(())
}

#[wasm_bindgen_test]
async fn an_opening_waits_for_other_tabs_until_its_time_limit_and_then_refuses_their_older_database()
-> Result<(), Thrown> {
    let name = "schema: blocked";
    delete(name).await;
    // It does not listen to `versionchange`.
    let other_tab = open_bare(name, 1).await?;
    let service = service(name);
    for _ in 0..2 {
        assert_refused(&service, "storage_blocked").await?;
    }
    other_tab.close();
    // Now it is refused, since it is of an older version.
    assert_refused(&service, "storage_failed").await?;
    let older = open_bare(name, 1).await?;
    let stores: Array = Array::from(&Reflect::get(&older, &"objectStoreNames".into())?);
    assert_eq!(stores.length(), 0, "the refusal changed nothing");
    older.close();
    delete(name).await;
    Ok(())
}

/// Opens a database as another tab would, with an upgrade that changes nothing.
async fn open_bare(name: &str, version: u32) -> Result<IdbDatabase, Thrown> {
    let factory: IdbFactory =
        Reflect::get(&js_sys::global(), &"indexedDB".into())?.unchecked_into();
    let request: IdbOpenDbRequest = factory.open_with_u32(name, version)?;
    let opened = Promise::new(&mut |resolve, reject| {
        request.set_onsuccess(Some(&resolve));
        request.set_onerror(Some(&reject));
    });
    JsFuture::from(opened).await?;
    Ok(request.result()?.unchecked_into())
}
