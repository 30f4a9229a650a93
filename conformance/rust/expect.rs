//! Compares a result with the expected one, and describes the first difference.

use serde_json::{Map, Value};

use crate::conformance::verdict::Verdict;

/// The kind of result, which determines the members that may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `null`, or a session; only its named parts count.
    Session,
    /// A page of sessions; only their named parts count.
    Page,
    /// A state: exact, its members in any order.
    State,
    /// There is no result to compare.
    Nothing,
}

pub(super) fn compare(kind: Kind, expected: &Value, actual: &Value) -> Verdict {
    match (kind, expected, actual) {
        (Kind::Session, Value::Object(parts), Value::Object(session)) => {
            compare_session("", parts, session)
        }
        (Kind::Page, Value::Object(parts), Value::Object(page)) => compare_page(parts, page),
        (Kind::State, Value::Object(expected), Value::Object(actual)) => {
            compare_state("the state", expected, actual)
        }
        _ => exact("", expected, actual),
    }
}

fn compare_session(at: &str, parts: &Map<String, Value>, session: &Map<String, Value>) -> Verdict {
    for (part, expected) in parts {
        let at = format!("{at}.{part}");
        match (part.as_str(), expected) {
            ("events", Value::Array(expected)) => {
                compare_events(&at, expected, list(session.get("events")))?;
            }
            ("eventSet", Value::Array(expected)) => {
                let ids = list(session.get("events")).iter().filter_map(|event| event.get("id"));
                exact(&at, &sorted(expected.iter()), &sorted(ids))?;
            }
            ("keys", Value::Array(expected)) => {
                let keys = session.get("state").and_then(Value::as_object).into_iter().flatten();
                let keys = keys.map(|(key, _)| Value::from(key.clone()));
                let named = keys.filter(|key| expected.contains(key));
                exact(&at, &expected.iter().cloned().collect(), &named.collect())?;
            }
            ("state" | "labels", Value::Object(expected)) => match session.get(part) {
                Some(Value::Object(actual)) => compare_state(&at, expected, actual)?,
                other => exact(&at, &expected.clone().into(), other.unwrap_or(&Value::Null))?,
            },
            _ => exact(&at, expected, session.get(part).unwrap_or(&Value::Null))?,
        }
    }
    Ok(())
}

fn compare_events(at: &str, expected: &[Value], actual: &[Value]) -> Verdict {
    compare_ids(at, expected, actual)?;
    for (number, (expected, actual)) in expected.iter().zip(actual).enumerate() {
        for (part, expected) in expected.as_object().into_iter().flatten() {
            let at = format!("{at}[{number}].{part}");
            exact(&at, expected, actual.get(part).unwrap_or(&Value::Null))?;
        }
    }
    Ok(())
}

/// Compares ids and their order. An expected item without an id matches any id.
fn compare_ids(at: &str, expected: &[Value], actual: &[Value]) -> Verdict {
    let ids = |things: &[Value]| -> Value {
        let ids = things.iter().enumerate().map(|(number, thing)| {
            let any = || actual.get(number).and_then(|actual| actual.get("id"));
            let id = if thing.is_object() { thing.get("id").or_else(any) } else { Some(thing) };
            id.cloned().unwrap_or_else(|| "(any)".into())
        });
        ids.collect()
    };
    exact(at, &ids(expected), &ids(actual))
}

fn compare_page(parts: &Map<String, Value>, page: &Map<String, Value>) -> Verdict {
    for (part, expected) in parts {
        let at = format!(".{part}");
        let actual = page.get(part).unwrap_or(&Value::Null);
        let ("sessions", Value::Array(expected)) = (part.as_str(), expected) else {
            exact(&at, expected, actual)?;
            continue;
        };
        let actual = list(Some(actual));
        compare_ids(&at, expected, actual)?;
        for (number, (expected, actual)) in expected.iter().zip(actual).enumerate() {
            if let (Value::Object(expected), Value::Object(actual)) = (expected, actual) {
                compare_session(&format!("{at}[{number}]"), expected, actual)?;
            }
        }
    }
    Ok(())
}

fn compare_state(at: &str, expected: &Map<String, Value>, actual: &Map<String, Value>) -> Verdict {
    for (key, expected) in expected {
        match actual.get(key) {
            Some(actual) => {
                exact(&format!("{at}[{}]", Value::from(key.clone())), expected, actual)?
            }
            None => return Err(format!("{at} has no key {key:?}, but should")),
        }
    }
    match actual.keys().find(|key| !expected.contains_key(*key)) {
        Some(key) => Err(format!("{at} has the key {key:?}, but should not")),
        None => Ok(()),
    }
}

/// Compares as JSON text: the order of members counts.
fn exact(at: &str, expected: &Value, actual: &Value) -> Verdict {
    let (expected, actual) = (expected.to_string(), actual.to_string());
    if expected == actual {
        return Ok(());
    }
    let at = if at.is_empty() { "the answer" } else { at };
    Err(format!("{at} is {}, but should be {}", short(&actual), short(&expected)))
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn sorted<'a>(values: impl Iterator<Item = &'a Value>) -> Value {
    let mut texts: Vec<String> = values.map(Value::to_string).collect();
    texts.sort();
    texts.into_iter().collect()
}

fn short(text: &str) -> String {
    const SHOWN: usize = 300;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn session() -> Value {
        json!({
            "id": "s",
            "state": {"a": {"x": 1, "y": 2}, "b": null},
            "events": [{"id": "e1", "author": "agent"}, {"id": "e2"}],
        })
    }

    #[test]
    fn only_the_expected_parts_are_compared() {
        let fitting = [
            json!({}),
            json!({"id": "s", "events": ["e1", "e2"]}),
            json!({"events": [{"id": "e1", "author": "agent"}, "e2"], "eventSet": ["e2", "e1"]}),
            json!({"events": [{"author": "agent"}, {}]}),
            json!({"state": {"b": null, "a": {"x": 1, "y": 2}}, "keys": ["a", "b"]}),
        ];
        for expected in fitting {
            compare(Kind::Session, &expected, &session()).unwrap();
        }
    }

    #[test]
    fn every_difference_is_found_and_named() {
        let differing = [
            (json!(null), "the answer is {"),
            (json!({"id": "t"}), ".id"),
            (json!({"events": ["e1"]}), ".events"),
            (json!({"events": ["e2", "e1"]}), ".events"),
            (json!({"events": [{}, {}, {}]}), ".events"),
            (json!({"events": [{}]}), ".events"),
            (json!({"events": [{"id": "e1", "author": "user"}, "e2"]}), ".events[0].author"),
            (json!({"eventSet": ["e1"]}), ".eventSet"),
            (json!({"state": {"a": {"y": 2, "x": 1}, "b": null}}), ".state[\"a\"]"),
            (json!({"state": {"a": {"x": 1, "y": 2}}}), ".state has the key \"b\""),
            (
                json!({"state": {"a": {"x": 1, "y": 2}, "b": null, "c": 1}}),
                ".state has no key \"c\"",
            ),
            (json!({"keys": ["b", "a"]}), ".keys"),
            (json!({"lastUpdateTime": 1}), ".lastUpdateTime"),
        ];
        for (expected, place) in differing {
            let reason = compare(Kind::Session, &expected, &session()).unwrap_err();
            assert!(reason.starts_with(place), "{reason}");
        }
    }

    #[test]
    fn sessions_of_a_page_are_compared_by_id_or_by_parts() {
        let page = json!({"sessions": [session()], "totalItems": 1});
        for fitting in [json!({"sessions": ["s"]}), json!({"sessions": [{"keys": ["a", "b"]}]})] {
            compare(Kind::Page, &fitting, &page).unwrap();
        }
        let differing = [
            json!({"sessions": []}),
            json!({"sessions": ["s", "t"]}),
            json!({"sessions": [{"id": "s", "state": {}}]}),
            json!({"totalItems": 2}),
        ];
        for expected in differing {
            compare(Kind::Page, &expected, &page).unwrap_err();
        }
    }
}
