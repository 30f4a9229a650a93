//! The rules of writes, over memory.

use adk_session_wasm::event::NewEvent;
use adk_session_wasm::memory::MemoryStorage;
use adk_session_wasm::session::{Revision, SessionHead, SessionKey};
use adk_session_wasm::state::Delta;
use adk_session_wasm::storage::{Deletion, Storage, Window};
use adk_session_wasm::write::{Appended, HandlePosition, NewSession, StalePolicy, Write};
use adk_session_wasm::{Error, Timestamp};

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

#[tokio::test]
async fn an_append_tells_the_place_of_each_event() {
    let storage = MemoryStorage::new();
    let SessionHead { created, .. } = create(&storage, Vec::new()).await;
    let appended = run(&storage, append(vec![event("a", 1), event("b", 1)])).await;
    assert_eq!(appended.placed, [(created + 1, created + 1), (created + 2, created + 2)]);
    let events = vec![event("b", 1), event("a", 2), event("c", 1), event("c", 1)];
    let appended = run(&storage, append(events)).await;
    let (again, new) = (created + 3, created + 4);
    let expected = [(created + 2, created + 2), (created + 1, again), (new, new), (new, new)];
    assert_eq!(appended.placed, expected);
    assert_eq!(appended.head.revision, new);
}

#[tokio::test]
async fn a_conflict_of_events_names_the_stored_revisions() {
    let storage = MemoryStorage::new();
    let created = create(&storage, Vec::new()).await.created;
    run(&storage, append(vec![event("a", 1), event("b", 1)])).await;
    let expecting = |id, number, expected| NewEvent { expected, ..event(id, number) };
    let events = vec![
        expecting("a", 2, Some(created + 2)),
        expecting("b", 1, Some(0)),
        expecting("c", 1, Some(created + 2)),
        expecting("d", 1, Some(0)),
    ];
    let written = storage.write(append(events)).await.unwrap();
    let Err(Error::EventConflict { session_id, actual }) = written.appended() else {
        panic!("there is no conflict");
    };
    assert_eq!(session_id, "s1");
    assert_eq!(actual, [("a".to_owned(), Some(created + 1)), ("c".to_owned(), None)]);
    assert_eq!(texts(&storage).await, ["1", "1"]);
}
