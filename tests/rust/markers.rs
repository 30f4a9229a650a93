//! Which events are markers, in cases that `tests/js/values/model/markers.test.ts` shares.

use adk_session::event::NewEvent;
use adk_session::memory::MemoryStorage;
use adk_session::service::StoredSessionService;
use adk_session::state::Delta;
use adk_session::storage::{Decide, Decision, Found};
use adk_session::write::{Create, NewSession};
use adk_session::{CreateRequest, Event, SessionKey, SessionService, Timestamp};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    name: String,
    event: Value,
    may_be_marker: bool,
}

/// Whether a storage is told to keep the place of the event.
fn is_kept(text: String) -> bool {
    let event = NewEvent::new("e", Timestamp::MIN, "{}", text.into()).unwrap();
    let new =
        NewSession { events: vec![event], ..NewSession::new(Delta::default(), Timestamp::MIN) };
    let mut create = Create::new(SessionKey::new("app", "user", "s").unwrap(), new).unwrap();
    let Decision::Done(Some(changes)) = create.decide(Found::default()) else {
        panic!("nothing is created");
    };
    !changes.session.unwrap().markers.seqs.is_empty()
}

#[test]
fn the_markers_are_those_of_the_shared_cases() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("../vectors/markers.json")).unwrap();
    assert!(cases.len() >= 15);
    for Case { name, event, may_be_marker } in cases {
        assert_eq!(is_kept(event.to_string()), may_be_marker, "{name}");
        assert_eq!(is_kept(serde_json::to_string_pretty(&event).unwrap()), may_be_marker, "{name}");
    }
    assert!(!is_kept("isCompacted".to_owned()));
}

#[tokio::test]
async fn a_rewind_of_a_rust_program_is_found_among_the_markers() {
    let service = StoredSessionService::over(MemoryStorage::new());
    let create =
        CreateRequest { app_name: "app".into(), user_id: "user".into(), ..Default::default() };
    let session = service.create(create).await.unwrap();
    let mut rewind = Event::new("i-2");
    rewind.actions.other.insert("rewindBeforeInvocationId".into(), "i-1".into());
    for event in [Event::new("i-1"), Event::new("i-1"), rewind] {
        service.append_event(session.id(), event).await.unwrap();
    }
    let target = session.key().clone().into();
    let read = service.storage().read_markers(&target, None).unwrap();
    assert_eq!(read.events.len(), 2, "the rewind, and the first event that it undoes");
    assert!(read.edges.is_some(), "the places are complete");
}
