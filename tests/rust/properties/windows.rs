//! Properties of windows of events and of pages of a list.

use adk_session::event::EventText;
use adk_session::event::NewEvent;
use adk_session::memory::MemoryStorage;
use adk_session::read::{ListOrder, ListPlace, ListQuery, PageEnd, Read};
use adk_session::service::text_service::TextService;
use adk_session::session::{SessionHead, SessionKey, Timestamp};
use adk_session::state::Delta;
use adk_session::storage::{Deletion, Storage};
use adk_session::write::{Append, HandlePosition, NewSession, StalePolicy};
use proptest::prelude::*;

/// Few, so that they are equal often, and the ends of what is allowed.
fn times() -> impl Strategy<Value = Timestamp> {
    let last = Timestamp::MAX.as_millis();
    let times = prop_oneof![
        4 => (0u32..6).prop_map(f64::from),
        1 => (0u32..60).prop_map(|tenths| f64::from(tenths) / 10.0),
        1 => prop::sample::select(vec![0.0, -0.0, 1.5e12, last]),
        1 => 0.0..last,
    ];
    times.prop_map(time)
}

fn time(milliseconds: f64) -> Timestamp {
    Timestamp::from_millis(milliseconds).unwrap()
}

fn windows() -> impl Strategy<Value = (Option<usize>, Option<Timestamp>)> {
    (prop::option::of(prop_oneof![0usize..8, Just(usize::MAX)]), prop::option::of(times()))
}

/// An event: its id, its time, and its text.
type Given = (u8, Timestamp, u8);

fn batches() -> impl Strategy<Value = Vec<Vec<Given>>> {
    let event = (0u8..12, times(), 0u8..3);
    prop::collection::vec(prop::collection::vec(event, 0..4), 0..12)
}

fn text_of((id, time, says): Given) -> String {
    format!("{id} at {time}: {says}")
}

fn new_event(given: Given) -> NewEvent {
    let text = EventText::from(text_of(given));
    NewEvent::new(format!("event {}", given.0), given.1, "{}", text).unwrap()
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_window_filters_by_time_and_then_takes_the_last_events(
        batches in batches(),
        windows in prop::collection::vec(windows(), 1..6),
    ) {
        block_on(async {
            let service = TextService::over(MemoryStorage::new());
            let key = SessionKey::new("app", "user", "s").unwrap();
            let created = service.create_session(key.clone(), NewSession::new(Delta::default(), time(2.0))).await.unwrap();
            let mut head = created.head;
            let mut naive: Vec<Given> = Vec::new();
            for batch in batches {
                let mut time = head.last_update_time;
                for given in &batch {
                    match naive.iter_mut().find(|event| event.0 == given.0) {
                        Some(same) if text_of(*same) == text_of(*given) => continue,
                        Some(replaced) => *replaced = *given,
                        None => naive.push(*given),
                    }
                    time = time.max(given.1);
                }
                let events = batch.into_iter().map(new_event).collect();
                let (position, policy) = (HandlePosition::Latest, StalePolicy::Append);
                let mut append = Append::new(key.clone(), position, policy, events);
                service.write(&mut append).await.unwrap();
                let appended = append.finish().unwrap();
                prop_assert!(appended.head.last_update_time >= head.last_update_time);
                prop_assert!(appended.head.revision >= head.revision);
                prop_assert_eq!(appended.head.last_update_time, time);
                head = appended.head;
            }
            for (limit, after) in windows {
                let read = Read::Last { limit, after };
                let read = service.get_session(key.clone(), read).await.unwrap().unwrap();
                let texts: Vec<String> = read.events.into_iter().map(|(_, text)| text.into()).collect();
                let after = after.unwrap_or_default();
                let filtered = naive.iter().filter(|event| event.1 >= after);
                let mut expected: Vec<String> = filtered.map(|event| text_of(*event)).collect();
                let last = limit.unwrap_or(expected.len()).min(expected.len());
                expected.drain(..expected.len() - last);
                prop_assert_eq!(texts, expected);
                prop_assert_eq!(read.head, head);
            }
            Ok(())
        })?;
    }

    #[test]
    fn pages_of_events_join_to_the_history_in_both_directions(
        appends in prop::collection::vec((0u8..40, times(), 0u8..3), 0..60),
        limit in 1usize..9,
    ) {
        block_on(async {
            let service = TextService::over(MemoryStorage::new());
            let key = SessionKey::new("app", "user", "s").unwrap();
            service.create_session(key.clone(), NewSession::new(Delta::default(), time(2.0))).await.unwrap();
            let mut naive: Vec<Given> = Vec::new();
            for given in appends {
                match naive.iter_mut().find(|event| event.0 == given.0) {
                    Some(replaced) => *replaced = given,
                    None => naive.push(given),
                }
                let (position, policy) = (HandlePosition::Latest, StalePolicy::Append);
                let events = vec![new_event(given)];
                let mut append = Append::new(key.clone(), position, policy, events);
                service.write(&mut append).await.unwrap();
                append.finish().unwrap();
            }
            for is_forward in [true, false] {
                let mut end = if is_forward { PageEnd::First } else { PageEnd::Last };
                let mut texts: Vec<String> = Vec::new();
                loop {
                    let page = service.get_events(key.clone(), end, Some(limit), true).await.unwrap();
                    prop_assert_eq!(page.event_count, Some(naive.len()));
                    prop_assert!(page.events.len() <= limit);
                    let found = page.events.len();
                    let read = page.events.into_iter().map(|(_, text)| String::from(text));
                    texts.extend(if is_forward { read.collect() } else { read.rev().collect::<Vec<_>>() });
                    end = match if is_forward { page.after } else { page.before } {
                        Some(cursor) if !is_forward => PageEnd::Before(cursor),
                        Some(cursor) if found > 0 => PageEnd::After(cursor),
                        _ => break,
                    };
                }
                if !is_forward {
                    texts.reverse();
                }
                let expected: Vec<String> = naive.iter().map(|event| text_of(*event)).collect();
                prop_assert_eq!(texts, expected);
            }
            Ok(())
        })?;
    }

    #[test]
    fn a_page_is_a_slice_of_the_sorted_list(
        changes in prop::collection::vec((0u8..4, 0u8..8, prop::option::weighted(0.8, times())), 0..40),
        user in prop::option::of(0u8..5),
        limit in prop::option::of(0usize..6),
        offset in prop_oneof![0usize..12, Just(usize::MAX)],
        descending: bool,
        by_creation: bool,
    ) {
        // U+FFFD stands before an emoji in UTF-8 and after it in UTF-16.
        let ids = ["a", "b", "ab", "\u{fffd}", "😀", "Z", "é", "\u{0}"];
        let users = ["ada", "\u{fffd}", "😀", "", "nobody"].map(|user| format!("u{user}"));
        block_on(async {
            let service = TextService::over(MemoryStorage::new());
            // User, id, and the time of the list: in the order of their creation.
            let mut naive: Vec<(u8, u8, Timestamp)> = Vec::new();
            let order = ListOrder { by_creation, descending };
            for (user, id, time) in changes {
                let key = SessionKey::new("app", &users[user as usize], ids[id as usize]).unwrap();
                let at = naive.iter().position(|known| (known.0, known.1) == (user, id));
                match (at, time) {
                    (None, Some(time)) => {
                        service.create_session(key, NewSession::new(Delta::default(), time)).await.unwrap();
                        naive.push((user, id, time));
                    }
                    (Some(at), Some(time)) => {
                        let event = new_event((id, time, 0));
                        let (position, policy) = (HandlePosition::Latest, StalePolicy::Merge);
                        let events = vec![event];
                        let mut append = Append::new(key, position, policy, events);
                        service.write(&mut append).await.unwrap();
                        append.finish().unwrap();
                        if !by_creation {
                            naive[at].2 = naive[at].2.max(time);
                        }
                    }
                    (at, None) => {
                        service.storage().delete(&Deletion::Session(key), &()).await.unwrap();
                        at.map(|at| naive.remove(at));
                    }
                }
            }
            let units = |text: &str| text.encode_utf16().collect::<Vec<_>>();
            naive.retain(|known| user.is_none_or(|user| known.0 == user));
            naive.sort_by(|one, other| {
                let by_id = || units(ids[one.1 as usize]).cmp(&units(ids[other.1 as usize]));
                let by_user = || units(&users[one.0 as usize]).cmp(&units(&users[other.0 as usize]));
                one.2.cmp(&other.2).then_with(by_id).then_with(by_user)
            });
            if descending {
                naive.reverse();
            }
            let time_of = |head: SessionHead| {
                if by_creation { head.create_time } else { head.last_update_time }
            };
            let user_id = user.map(|user| users[user as usize].clone());
            let mut request =
                ListQuery { app_name: "app".into(), user_id, order, offset, limit, with_total: true, ..Default::default() };
            let (sessions, total) = service.list_sessions(request.clone()).await.unwrap();
            prop_assert_eq!(total, naive.len());
            let expected = naive.iter().skip(offset).take(limit.unwrap_or(usize::MAX));
            let expected: Vec<_> = expected
                .map(|known| (users[known.0 as usize].as_str(), ids[known.1 as usize], known.2))
                .collect();
            let found: Vec<_> = sessions
                .iter()
                .map(|row| (row.key.user_id(), row.key.session_id(), time_of(row.head)))
                .collect();
            prop_assert_eq!(found, expected);
            prop_assert!(sessions.iter().all(|session| session.events.is_empty()));
            // A walk by places, after each of which the session at that place is deleted.
            (request.offset, request.limit) = (0, Some(limit.unwrap_or(1).max(1)));
            let mut walked = Vec::new();
            loop {
                let page = service.list_sessions(request.clone()).await.unwrap().0;
                let Some(last) = page.last() else { break };
                let key = last.key.clone();
                request.after = Some(ListPlace::new(time_of(last.head), key.session_id(), key.user_id()));
                walked.extend(page.into_iter().map(|session| session.key));
                service.storage().delete(&Deletion::Session(key), &()).await.unwrap();
            }
            let expected: Vec<_> = naive
                .iter()
                .map(|known| {
                    SessionKey::new("app", users[known.0 as usize].as_str(), ids[known.1 as usize]).unwrap()
                })
                .collect();
            prop_assert_eq!(walked, expected);
            Ok(())
        })?;
    }
}
