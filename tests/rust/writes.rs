//! The rules of writes, over memory.

use adk_session::error::StaleReason;
use adk_session::event::{NewEvent, Replaceable};
use adk_session::memory::MemoryStorage;
use adk_session::session::{Revision, SessionHead, SessionKey};
use adk_session::state::Delta;
use adk_session::storage::{Decide, Decision, Deletion, Found, Read, Storage};
use adk_session::write::{
    Append, Appended, Create, EventRow, HandlePosition, NewSession, StalePolicy, Update,
};
use adk_session::{Error, Timestamp};

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
    let mut create = Create::new(key(), new).unwrap();
    storage.write(&mut create, &()).await.unwrap();
    create.finish().unwrap().head
}

fn append(events: Vec<NewEvent>) -> Append {
    Append::new(key(), HandlePosition::Latest, StalePolicy::Append, events)
}

async fn run(storage: &MemoryStorage, mut append: Append) -> Appended {
    storage.carry_out(&mut append, &()).await.unwrap();
    append.finish().unwrap()
}

async fn texts(storage: &MemoryStorage) -> Vec<String> {
    let rows = storage.read(&key().into(), &Read::ALL, &()).await.unwrap();
    rows.events.into_iter().map(|(_, text)| text.into()).collect()
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
async fn a_state_that_was_deleted_gets_no_earlier_revision_again() {
    let storage = MemoryStorage::new();
    let mut revisions: Vec<Revision> = Vec::new();
    for _ in 0..3 {
        let delta = Delta::parse(r#"{"app:a":1}"#).unwrap();
        let mut update = Update::new("shop".to_owned(), None, delta).unwrap();
        storage.write(&mut update, &()).await.unwrap();
        revisions.extend(update.finish().unwrap().app);
        storage.delete(&Deletion::AppState { app_name: "shop".to_owned() }, &()).await.unwrap();
    }
    assert_eq!(revisions, [1, 2, 3]);
}

#[test]
fn an_update_without_a_name_of_its_app_or_user_is_refused() {
    for (app_name, user_id) in [("", None), ("shop", Some(""))] {
        let user_id = user_id.map(str::to_owned);
        let update = Update::new(app_name.to_owned(), user_id, Delta::default());
        assert_eq!(update.err().unwrap().code(), "invalid_argument");
    }
}

#[tokio::test]
async fn an_append_tells_the_place_of_each_event() {
    let storage = MemoryStorage::new();
    let SessionHead { created, .. } = create(&storage, Vec::new()).await;
    let appended = run(&storage, append(vec![event("a", 1), event("b", 1)])).await;
    assert_eq!(appended.stored_at, [(created + 1, created + 1), (created + 2, created + 2)]);
    let events = vec![event("b", 1), event("a", 2), event("c", 1), event("c", 1)];
    let appended = run(&storage, append(events)).await;
    let (again, new) = (created + 3, created + 4);
    let expected = [(created + 2, created + 2), (created + 1, again), (new, new), (new, new)];
    assert_eq!(appended.stored_at, expected);
    assert_eq!(appended.head.revision, new);
}

#[tokio::test]
async fn a_conflict_of_events_names_the_stored_revisions() {
    let storage = MemoryStorage::new();
    let created = create(&storage, Vec::new()).await.created;
    run(&storage, append(vec![event("a", 1), event("b", 1)])).await;
    let replacing = |id, number, replaces| {
        let mut event = event(id, number);
        event.replaces = replaces;
        event
    };
    let events = vec![
        replacing("a", 2, Replaceable::Revision(created + 2)),
        replacing("b", 1, Replaceable::Nothing),
        replacing("c", 1, Replaceable::Revision(created + 2)),
        replacing("d", 1, Replaceable::Nothing),
    ];
    let mut append = append(events);
    storage.write(&mut append, &()).await.unwrap();
    let Err(Error::EventConflict { session_id, actual }) = append.finish() else {
        panic!("there is no conflict");
    };
    assert_eq!(session_id, "s1");
    assert_eq!(actual, [("a".to_owned(), Some(created + 1)), ("c".to_owned(), None)]);
    assert_eq!(texts(&storage).await, ["1", "1"]);
}

#[tokio::test]
async fn a_refused_append_says_why() {
    let storage = MemoryStorage::new();
    let created = create(&storage, vec![event("a", 1)]).await;
    let SessionHead { created, revision, .. } = created;
    let actual = run(&storage, append(vec![event("b", 1)])).await.head.revision;
    let refusal = async |position, expected: Option<Revision>| {
        let mut append = Append::new(key(), position, StalePolicy::Reject, vec![event("c", 1)]);
        if let Some(expected) = expected {
            append = append.expecting(expected);
        }
        storage.carry_out(&mut append, &()).await.unwrap();
        match append.finish() {
            Err(Error::StaleSession { reason, expected, actual, .. }) => (reason, expected, actual),
            other => panic!("{other:?}"),
        }
    };
    let behind = HandlePosition::Revision { created, revision };
    let last = HandlePosition::LastEvent(Some("a".to_owned()));
    assert_eq!(
        [
            refusal(HandlePosition::Latest, Some(revision)).await,
            refusal(behind.clone(), Some(revision)).await,
            refusal(behind.clone(), Some(actual)).await,
            refusal(behind, None).await,
            refusal(last, None).await,
        ],
        [
            (StaleReason::OtherRevision, revision, actual),
            (StaleReason::OtherRevision, revision, actual),
            (StaleReason::HandleBehind, revision, actual),
            (StaleReason::HandleBehind, revision, actual),
            (StaleReason::LaterEvents, revision, actual),
        ],
    );
}

#[test]
fn only_a_new_event_makes_a_handle_without_a_revision_stale() {
    let is_stale = |(seq, revision)| {
        let position = HandlePosition::LastEvent(Some("last".to_owned()));
        let mut append = Append::new(key(), position, StalePolicy::Reject, vec![event("new", 1)]);
        let (created, last) = (3, 5);
        let head = SessionHead { created, revision: 9, ..SessionHead::default() };
        let row = |id: &str, seq, revision| EventRow {
            id: id.into(),
            seq,
            revision,
            timestamp: Timestamp::MIN,
            text: String::new().into(),
        };
        let found = || Found { session: Some(head), ..Found::default() };
        let events = vec![row("last", last, last)];
        assert!(matches!(append.decide(Found { events, ..found() }), Decision::NeedsRows));
        assert!(append.replan());
        assert_eq!(append.plan().since, last);
        append.decide(Found { changed: vec![row("e", seq, revision)], ..found() });
        append.finish().is_err()
    };
    // An event that was replaced, one that is listed for its place alone, and a new one.
    assert_eq!([(4, 9), (9, 4), (9, 9)].map(is_stale), [false, false, true]);
}

#[tokio::test]
async fn an_append_that_computes_its_delta_gets_the_whole_state_also_after_it_needed_more_rows() {
    let storage = MemoryStorage::new();
    let SessionHead { created, revision, .. } = create(&storage, vec![turn("i1", 1)]).await;
    run(&storage, append(vec![turn("i2", 2)])).await;
    for position in [
        HandlePosition::Revision { created, revision },
        HandlePosition::LastEvent(Some("i1".to_owned())),
    ] {
        let append = Append::new(key(), position, StalePolicy::Append, vec![event("none", 1)]);
        let computing = append.computing(Box::new(|state| {
            assert_eq!(state, r#"{"n":2,"user:n":2}"#);
            Ok(Delta::default().into())
        }));
        run(&storage, computing.unwrap()).await;
    }
}

/// An event of an invocation that sets the key `n`.
fn turn(invocation: &str, n: u32) -> NewEvent {
    let text = format!(r#"{{"invocationId":"{invocation}"}}"#);
    NewEvent::new(invocation, time(5.0), &format!(r#"{{"n":{n},"user:n":{n}}}"#), text.into())
        .unwrap()
}

/// A rewind whose delta says what the state of its cut is not.
fn rewind(before: &str) -> NewEvent {
    let text =
        format!(r#"{{"invocationId":"r","actions":{{"rewindBeforeInvocationId":"{before}"}}}}"#);
    NewEvent::new("r", time(5.0), r#"{"n":null}"#, text.into()).unwrap()
}

#[tokio::test]
async fn a_session_that_is_created_with_a_rewind_has_the_state_of_its_cut() {
    for (before, n) in [("i1", None), ("i2", Some(1)), ("none", Some(2))] {
        let events = vec![turn("i1", 1), turn("i2", 2), rewind(before)];
        let new = NewSession { events, ..NewSession::new(Delta::default(), time(3.0)) };
        let mut create = Create::new(key(), new).unwrap();
        MemoryStorage::new().write(&mut create, &()).await.unwrap();
        let state = create.finish().unwrap().state;
        let state: serde_json::Value = serde_json::from_str(&state).unwrap();
        assert_eq!(state.get("n").and_then(|n| n.as_u64()), n, "{before}");
        assert_eq!(state["user:n"], 2, "the user's state is not rewound");
    }
}

#[tokio::test]
async fn an_append_brings_the_stored_state_to_a_handle_that_has_missed_a_rewind() {
    let storage = MemoryStorage::new();
    let head = create(&storage, vec![turn("i1", 1)]).await;
    let mut removing = rewind("i1");
    removing.delta = Delta::parse(r#"{"n":"__ADK_SENTINEL_REMOVED__"}"#).unwrap();
    let created = head.created;
    for (missed, state) in [(turn("i2", 2), None), (removing, Some(r#"{"user:n":2}"#))] {
        let after = run(&storage, append(vec![missed])).await.head.revision;
        let position = HandlePosition::Revision { created, revision: after - 1 };
        let next = format!("after {after}");
        let next = Append::new(key(), position, StalePolicy::Merge, vec![event(&next, 1)]);
        assert_eq!(run(&storage, next).await.state.as_deref(), state);
    }
}

/// An event of an invocation.
fn said(id: &str, invocation: &str) -> NewEvent {
    let text = format!(r#"{{"invocationId":"{invocation}"}}"#);
    NewEvent::new(id, time(5.0), "{}", text.into()).unwrap()
}

/// The event by which a run was cancelled.
fn end_event(invocation: &str) -> NewEvent {
    let text = format!(r#"{{"invocationId":"{invocation}","errorCode":"INVOCATION_ABORTED"}}"#);
    NewEvent::new("end_event", time(5.0), "{}", text.into()).unwrap()
}

#[tokio::test]
async fn a_repeated_append_takes_no_handle_past_a_marker_that_it_has_missed() {
    for marker in [rewind("i2"), end_event("i2")] {
        let storage = MemoryStorage::new();
        let head = create(&storage, vec![turn("i1", 1), turn("i2", 2)]).await;
        let append = async |since, events: Vec<NewEvent>| {
            let position = HandlePosition::Revision { created: head.created, revision: since };
            run(&storage, Append::new(key(), position, StalePolicy::Append, events)).await
        };
        let before = head.revision;
        append(before, vec![marker.clone()]).await;
        append(before + 1, vec![turn("i3", 3)]).await;
        // Events that the handle has, one behind the marker, and both: named twice, or after another.
        for repeated in [
            vec![turn("i1", 1)],
            vec![turn("i1", 1), turn("i2", 2)],
            vec![turn("i3", 3)],
            vec![turn("i3", 3), turn("i3", 3)],
            vec![turn("i1", 1), turn("i3", 3)],
        ] {
            let appended = append(before, repeated).await;
            assert_eq!(appended.head.revision, before + 2, "nothing is written");
            assert_eq!(appended.handle_revision(), before);
        }
    }
}

#[tokio::test]
async fn an_append_of_a_run_is_refused_behind_what_has_ended_the_run_whatever_its_handle_has() {
    use StalePolicy::{Append as Keep, Merge, Reject};
    for (marker, reason) in
        [(rewind("i2"), StaleReason::Undone), (end_event("i2"), StaleReason::Cancelled)]
    {
        for policy in [Merge, Keep, Reject] {
            let storage = MemoryStorage::new();
            let head = create(&storage, vec![turn("i1", 1), turn("i2", 2)]).await;
            let (created, since) = (head.created, head.revision);
            let append = |revision, events| {
                let position = HandlePosition::Revision { created, revision };
                Append::new(key(), position, policy, events)
            };
            run(&storage, append(since, vec![marker.clone()])).await;
            let late = || vec![said("late", "i2")];
            let latest = since + 1;
            let mut write = append(latest, late()).of_run(since);
            storage.carry_out(&mut write, &()).await.unwrap();
            let Err(Error::StaleSession { reason: actual, expected, .. }) = write.finish() else {
                panic!("the run goes on");
            };
            assert_eq!((actual, expected), (reason, since));
            // Another invocation, a run that began behind the marker, and one of an earlier session with the same id.
            let other = append(latest, vec![said("other", "i1")]).of_run(since);
            let appended = run(&storage, other).await;
            assert_eq!(appended.missed.len(), 0, "the handle has missed nothing");
            let begun = append(latest + 1, late()).of_run(latest + 1);
            run(&storage, begun).await;
            let earlier = append(latest + 2, vec![said("later", "i2")]).of_run(created - 1);
            assert_eq!(run(&storage, earlier).await.missed.len(), 0);
        }
    }
}

#[test]
fn an_append_of_two_events_computes_no_delta() {
    for events in [vec![], vec![event("a", 1), event("b", 1)]] {
        let computed = append(events).computing(Box::new(|_| Ok(Delta::default().into())));
        assert_eq!(
            computed.unwrap_err().to_string(),
            "events must be one event if its delta is computed"
        );
    }
}
