//! Properties of state, its scopes and deltas, compared with a naive model.

use std::collections::BTreeMap;

use adk_session::event::EventText;
use adk_session::event::NewEvent;
use adk_session::memory::MemoryStorage;
use adk_session::read::Read;
use adk_session::service::text_service::TextService;
use adk_session::session::{SessionKey, Timestamp};
use adk_session::state::{Delta, REMOVED, Scope, ScopedState, merge_to_json};
use adk_session::write::{Append, HandlePosition, NewSession, StalePolicy};
use proptest::prelude::*;
use serde_json::{Map, Value};

/// `None` removes the key.
type Entries = Vec<(String, Option<Value>)>;

/// One scope with the order of keys of a JavaScript object: a key keeps its first position, and a
/// removed key returns last. A JavaScript object would put integer keys first.
#[derive(Debug, Default, Clone, PartialEq)]
struct Naive(Vec<(String, Value)>);

impl Naive {
    fn apply(&mut self, name: &str, value: Option<&Value>) {
        let at = self.0.iter().position(|(known, _)| known == name);
        match (at, value) {
            (Some(at), Some(value)) => self.0[at].1 = value.clone(),
            (None, Some(value)) => self.0.push((name.to_owned(), value.clone())),
            (Some(at), None) => {
                self.0.remove(at);
            }
            (None, None) => {}
        }
    }

    fn with_prefix(&self, prefix: &str) -> Vec<(String, Value)> {
        self.0.iter().map(|(name, value)| (format!("{prefix}{name}"), value.clone())).collect()
    }
}

/// The scope of a key, computed without the code under test.
fn scope_of(key: &str) -> (&'static str, &str) {
    for prefix in ["app:", "user:", "temp:"] {
        if let Some(name) = key.strip_prefix(prefix) {
            return (prefix, name);
        }
    }
    ("", key)
}

fn keys() -> impl Strategy<Value = String> {
    let prefixes = ["", "", "user:", "app:", "temp:", "foo:", "user:app:", "App:", ":", "user"];
    let name = prop_oneof![
        2 => prop::sample::select(vec![
            "", "a", "b", "__proto__", "constructor", "toString", "한국어", "😀", "e\u{301}",
            "\"", "\\", "\\u0041", "\u{0}", "\u{1f}\u{7f}\u{2028}", "\u{1d}", "a:b", "{a}", " a ",
        ]).prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    (prop::sample::select(prefixes.to_vec()), name)
        .prop_map(|(prefix, name)| prefix.to_owned() + &name)
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        Just(Value::from(format!("{REMOVED}!"))),
        // Within a value it is text like any other.
        Just(serde_json::json!([REMOVED, { "k": REMOVED }])),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((keys(), inner), 0..4)
                .prop_map(|members| Value::Object(Map::from_iter(members))),
        ]
    })
}

/// Deltas over few keys, so that they meet again; a key may stand twice in one.
fn deltas() -> impl Strategy<Value = Vec<Entries>> {
    prop::collection::vec(keys(), 1..6).prop_flat_map(|keys| {
        let key = prop::sample::select(keys);
        let value = prop_oneof![1 => Just(None), 3 => values().prop_map(Some)];
        prop::collection::vec(prop::collection::vec((key, value), 0..6), 0..8)
    })
}

/// The JSON text of a delta, in one of its spellings.
fn delta_text(entries: &Entries, spelled_out: bool) -> String {
    let string = |text: &str| {
        if spelled_out {
            let units = text.encode_utf16().map(|unit| format!("\\u{unit:04x}"));
            format!("\"{}\"", units.collect::<String>())
        } else {
            Value::from(text).to_string()
        }
    };
    let member = |(key, value): &(String, Option<Value>)| {
        let value = value.clone().unwrap_or_else(|| REMOVED.into());
        format!(" {}\t: {value} ", string(key))
    };
    format!("{{{}}}", entries.iter().map(member).collect::<Vec<_>>().join(","))
}

fn parsed(json: &str) -> Vec<(String, Value)> {
    let Ok(Value::Object(members)) = serde_json::from_str(json) else {
        panic!("it is no object: {json}");
    };
    members.into_iter().collect()
}

fn event(number: usize, delta: &str) -> NewEvent {
    let text = EventText::from(format!("event {number}"));
    NewEvent::new(format!("e{number}"), Timestamp::now(), delta, text).unwrap()
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_key_is_its_prefix_and_its_name(key in keys()) {
        let (scope, name) = Scope::split(&key);
        prop_assert_eq!((scope.prefix(), name), scope_of(&key));
        prop_assert_eq!(scope.prefix().to_owned() + name, key);
    }

    #[test]
    fn a_scope_equals_a_naive_model(deltas in deltas(), spelled_out: bool) {
        let mut scopes = BTreeMap::<&str, (ScopedState, Naive)>::new();
        for entries in &deltas {
            let delta = Delta::parse(&delta_text(entries, spelled_out)).unwrap();
            let parts = [("", delta.session), ("user:", delta.shared.user), ("app:", delta.shared.app)];
            for (prefix, changes) in parts {
                scopes.entry(prefix).or_default().0.apply(changes);
            }
            for (key, value) in entries {
                let (prefix, name) = scope_of(key);
                if prefix != "temp:" {
                    scopes.entry(prefix).or_default().1.apply(name, value.as_ref());
                }
            }
        }
        for (prefix, (state, naive)) in &scopes {
            prop_assert_eq!(parsed(&state.to_json()), naive.0.clone(), "{}", prefix);
            prop_assert_eq!(state.is_empty(), naive.0.is_empty());
            for (name, value) in &naive.0 {
                let found: Option<Value> = state.get(name).and_then(|t| serde_json::from_str(t).ok());
                prop_assert_eq!(found.as_ref(), Some(value));
            }
            prop_assert_eq!(state.get("never set, by any of these"), None);
            let again = ScopedState::parse(&state.to_json()).unwrap();
            prop_assert!(again.iter().eq(state.iter()));
        }
    }

    #[test]
    fn joined_deltas_have_the_effect_of_single_ones(deltas in deltas()) {
        let (mut joined, mut one_by_one) = (Delta::default(), ScopedState::default());
        for entries in &deltas {
            let delta = Delta::parse(&delta_text(entries, false)).unwrap();
            one_by_one.apply(delta.session.clone());
            joined.extend(delta);
        }
        let mut at_once = ScopedState::default();
        at_once.apply(joined.session);
        prop_assert!(at_once.iter().eq(one_by_one.iter()));
    }

    #[test]
    fn values_are_kept_exactly(key in keys(), digits in "-?[1-9][0-9]{0,40}(\\.[0-9]{1,9})?(e[0-9]{1,3})?") {
        let text = format!("{{{}:[ {digits} ]}}", Value::from(key.as_str()));
        let delta = Delta::parse(&text).unwrap();
        let mut state = ScopedState::default();
        for changes in [delta.session, delta.shared.user, delta.shared.app] {
            state.apply(changes);
        }
        let expected = format!("[ {digits} ]");
        let kept = state.iter().next().map(|(_, value)| value.to_owned());
        prop_assert_eq!(kept, (scope_of(&key).0 != "temp:").then_some(expected));
    }

    #[test]
    fn no_text_makes_parsing_panic(text in any::<String>(), broken in r#"[{}\[\]":,\\u0-9a ]*"#) {
        for text in [text, broken] {
            if let Ok(delta) = Delta::parse(&text) {
                let is_object = serde_json::from_str::<Map<String, Value>>(&text).is_ok();
                // Lone surrogates, which JavaScript may write, are all that serde_json refuses.
                prop_assert!(is_object || text.contains("\\u"), "{}: {:?}", text, delta);
            } else {
                prop_assert!(serde_json::from_str::<Map<String, Value>>(&text).is_err());
            }
        }
    }

    /// Two users with two sessions each: every agent sees its session, its user and the app.
    #[test]
    fn agents_see_the_state_of_their_session_user_and_app(
        deltas in deltas(),
        picks in prop::collection::vec(0usize..4, 8),
    ) {
        block_on(async {
            let service = TextService::over(MemoryStorage::new());
            let key = |pick: usize| {
                let user = ["ada", "grace"][pick / 2];
                SessionKey::new("app", user, ["one", "two"][pick % 2]).unwrap()
            };
            for pick in 0..4 {
                service.create_session(key(pick), NewSession::new(Delta::default(), Timestamp::MIN)).await.unwrap();
            }
            let mut app = Naive::default();
            let mut users = [const { Naive(Vec::new()) }; 2];
            let mut sessions = [const { Naive(Vec::new()) }; 4];
            for (number, (entries, pick)) in deltas.iter().zip(&picks).enumerate() {
                let event = event(number, &delta_text(entries, number % 2 == 0));
                let (position, policy) = (HandlePosition::Latest, StalePolicy::Append);
                let mut append = Append::new(key(*pick), position, policy, vec![event]);
                service.write(&mut append).await.unwrap();
                append.finish().unwrap();
                for (key, value) in entries {
                    match scope_of(key) {
                        ("app:", name) => app.apply(name, value.as_ref()),
                        ("user:", name) => users[pick / 2].apply(name, value.as_ref()),
                        ("temp:", _) => {}
                        (_, name) => sessions[*pick].apply(name, value.as_ref()),
                    }
                }
            }
            for pick in 0..4 {
                let session = service.get_session(key(pick), Read::ALL).await.unwrap().unwrap();
                let mut expected = sessions[pick].with_prefix("");
                expected.extend(users[pick / 2].with_prefix("user:"));
                expected.extend(app.with_prefix("app:"));
                prop_assert_eq!(parsed(&session.state), expected);
            }
            let of_user = service.get_shared_state("app".into(), Some("grace".into())).await.unwrap();
            prop_assert_eq!(parsed(&of_user), users[1].0.clone());
            let of_app = service.get_shared_state("app".into(), None).await.unwrap();
            prop_assert_eq!(parsed(&of_app), app.0);
            Ok(())
        })?;
    }

    #[test]
    fn merging_restores_the_prefixes(deltas in deltas()) {
        let mut scopes = [Scope::Session, Scope::User, Scope::App].map(|scope| (scope, ScopedState::default()));
        for entries in &deltas {
            let delta = Delta::parse(&delta_text(entries, false)).unwrap();
            for ((_, state), changes) in scopes.iter_mut().zip([delta.session, delta.shared.user, delta.shared.app]) {
                state.apply(changes);
            }
        }
        let merged = merge_to_json(&scopes.each_ref().map(|(scope, state)| (*scope, Some(state))));
        let again = Delta::parse(&merged).unwrap();
        for ((_, state), changes) in scopes.iter().zip([again.session, again.shared.user, again.shared.app]) {
            let mut split = ScopedState::default();
            split.apply(changes);
            prop_assert!(split.iter().eq(state.iter()));
        }
    }
}
