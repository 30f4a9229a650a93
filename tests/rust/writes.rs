//! The rules of writes, over memory.

use adk_session_wasm::Timestamp;
use adk_session_wasm::event::NewEvent;
use adk_session_wasm::memory::MemoryStorage;
use adk_session_wasm::session::{Revision, SessionHead, SessionKey};
use adk_session_wasm::state::Delta;
use adk_session_wasm::storage::{Deletion, Storage, Window};
use adk_session_wasm::write::{Appended, HandlePosition, NewSession, StalePolicy, Write};

fn key() -> SessionKey {
    SessionKey::new("shop", "ada", "s1").unwrap()
}

fn time(milliseconds: f64) -> Timestamp {
    Timestamp::from_millis(milliseconds).unwrap()
}

/// An event at the time 5, whose text is a number.
fn event(id: &str, number: u32) -> NewEvent {
    NewEvent::new(id, time(5.0), "{}", number.to_string().into()).unwrap()
}

async fn create(storage: &MemoryStorage, events: Vec<NewEvent>) -> SessionHead {
    let new = NewSession { events, ..NewSession::new(Delta::default(), time(3.0)) };
    let write = Write::create(key(), new).unwrap();
    storage.write(write).await.unwrap().created().unwrap().0
}

fn append(events: Vec<NewEvent>) -> Write {
    Write::append(key(), HandlePosition::Latest, StalePolicy::Append, events)
}

async fn run(storage: &MemoryStorage, write: Write) -> Appended {
    storage.write(write).await.unwrap().appended().unwrap()
}

async fn texts(storage: &MemoryStorage) -> Vec<String> {
    let rows = storage.read(key().into(), Window::ALL).await.unwrap();
    rows.events.into_iter().map(String::from).collect()
}

#[tokio::test]
async fn an_event_is_compared_with_the_one_before_it_in_the_same_append() {
    let storage = MemoryStorage::new();
    create(&storage, vec![event("a", 1)]).await;
    let appended = run(&storage, append(vec![event("a", 2), event("a", 1)])).await;
    assert!(appended.unchanged.is_empty());
    assert_eq!(texts(&storage).await, ["1"]);
}

#[tokio::test]
async fn a_session_with_a_future_event_is_updated_then_and_created_now() {
    let head = create(&MemoryStorage::new(), vec![event("a", 1)]).await;
    assert_eq!([head.last_update_time, head.create_time], [time(5.0), time(3.0)]);
}

#[tokio::test]
async fn a_handle_does_not_miss_events_that_its_append_removes() {
    let storage = MemoryStorage::new();
    let SessionHead { created, .. } = create(&storage, Vec::new()).await;
    let stays = run(&storage, append(vec![event("stays", 1)])).await.head.revision;
    run(&storage, append(vec![event("goes", 2)])).await;
    let position = HandlePosition::Revision { created, revision: created };
    let events = vec![event("new", 3)];
    let write = Write::append(key(), position, StalePolicy::Merge, events);
    let appended = run(&storage, write.truncating(stays, Delta::default())).await;
    let missed: Vec<_> = appended.missed.iter().map(|row| &*row.id).collect();
    assert_eq!(missed, ["stays"]);
    assert_eq!(texts(&storage).await, ["1", "3"]);
}

#[tokio::test]
async fn a_state_that_was_deleted_gets_no_earlier_revision_again() {
    let storage = MemoryStorage::new();
    let mut revisions: Vec<Revision> = Vec::new();
    for _ in 0..3 {
        let delta = Delta::parse(r#"{"app:a":1}"#).unwrap();
        let write = Write::update("shop".to_owned(), None, delta).unwrap();
        revisions.extend(storage.write(write).await.unwrap().updated().unwrap().app);
        storage.delete(Deletion::AppState { app_name: "shop".to_owned() }).await.unwrap();
    }
    assert_eq!(revisions, [1, 2, 3]);
}
