//! The number of sessions is stored with the state of a user or an app. Deleting one keeps the
//! other.

use adk_session::read::{ListOrder, ListQuery};
use adk_session::service::text_service::TextService;
use adk_session::state::Delta;
use adk_session::storage::{Deletion, Storage};
use adk_session::write::{NewSession, Update};
use adk_session::{SessionKey, Timestamp};
use adk_session_wasm::Thrown;
use adk_session_wasm::indexed_db::{IndexedDbOptions, IndexedDbStorage};
use wasm_bindgen_test::wasm_bindgen_test;

type Service = TextService<IndexedDbStorage>;

fn service(name: &str) -> Service {
    TextService::over(IndexedDbStorage::new(name, None, IndexedDbOptions::default()))
}

async fn empty(name: &str) -> Service {
    let deleted = IndexedDbStorage::delete_database(name, 5000.0).await;
    assert!(deleted.is_ok(), "{deleted:?}");
    service(name)
}

fn key(session_id: &str) -> Result<SessionKey, Thrown> {
    Ok(SessionKey::new("app", "user", session_id)?)
}

async fn create(service: &Service, session_id: &str) -> Result<(), Thrown> {
    let state = Delta::parse(r#"{"user:name":"Ada","app:theme":"dark"}"#)?;
    service.create_session(key(session_id)?, NewSession::new(state, Timestamp::now())).await?;
    Ok(())
}

async fn set_states(service: &Service, delta: &str) -> Result<(), Thrown> {
    let mut update = Update::new("app".into(), Some("user".into()), Delta::parse(delta)?)?;
    service.write(&mut update).await?;
    update.finish()?;
    Ok(())
}

/// The rows of the user and of the app: the number of sessions, and the state.
async fn rows(service: &Service) -> Result<Vec<(usize, String)>, Thrown> {
    let mut rows = Vec::new();
    for user_id in [Some("user".to_owned()), None] {
        let request = ListQuery {
            app_name: "app".into(),
            user_id: user_id.clone(),
            order: ListOrder { descending: true, ..ListOrder::default() },
            limit: Some(1),
            ..ListQuery::default()
        };
        let listed = service.list_sessions(request).await?;
        rows.push((listed.1, service.get_shared_state("app".into(), user_id).await?));
    }
    Ok(rows)
}

fn both(total: usize, user: &str, app: &str) -> Vec<(usize, String)> {
    vec![(total, user.to_owned()), (total, app.to_owned())]
}

#[wasm_bindgen_test]
async fn sessions_stay_counted_when_the_states_are_deleted() -> Result<(), Thrown> {
    let service = empty("count: states deleted").await;
    create(&service, "one").await?;
    create(&service, "two").await?;
    let (app_name, user_id) = ("app".to_owned(), "user".to_owned());
    service
        .storage()
        .delete(&Deletion::UserState { app_name: app_name.clone(), user_id }, &())
        .await?;
    service.storage().delete(&Deletion::AppState { app_name }, &()).await?;
    assert_eq!(rows(&service).await?, both(2, "{}", "{}"));
    set_states(&service, r#"{"user:name":"Bob","app:theme":"light"}"#).await?;
    assert_eq!(rows(&service).await?, both(2, r#"{"name":"Bob"}"#, r#"{"theme":"light"}"#));
    Ok(())
}

#[wasm_bindgen_test]
async fn states_remain_when_the_last_session_is_deleted() -> Result<(), Thrown> {
    let service = empty("count: sessions deleted").await;
    create(&service, "one").await?;
    service.storage().delete(&Deletion::Session(key("one")?), &()).await?;
    let (user, app) = (r#"{"name":"Ada"}"#, r#"{"theme":"dark"}"#);
    assert_eq!(rows(&service).await?, both(0, user, app));
    create(&service, "two").await?;
    assert_eq!(rows(&service).await?, both(1, user, app));
    Ok(())
}

#[wasm_bindgen_test]
async fn sessions_that_another_tab_creates_stay_counted() -> Result<(), Thrown> {
    let name = "count: another tab";
    let (service, other_tab) = (empty(name).await, self::service(name));
    create(&service, "one").await?;
    set_states(&service, r#"{"user:name":"Bob","app:theme":"light"}"#).await?;
    create(&other_tab, "two").await?;
    set_states(&service, r#"{"user:name":"Cy","app:theme":"blue"}"#).await?;
    assert_eq!(rows(&service).await?, both(2, r#"{"name":"Cy"}"#, r#"{"theme":"blue"}"#));
    Ok(())
}
