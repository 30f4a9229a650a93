//! JSON texts are the same if JavaScript reads them as equal values, by vectors that TypeScript tests as well.

use adk_session::storage::is_same_json;
use proptest::prelude::*;
use serde_json::Value;

const VECTORS: &str = include_str!("../vectors/same_json.json");

#[test]
fn the_shared_vectors_hold() {
    let vectors: Vec<Value> = serde_json::from_str(VECTORS).unwrap();
    assert!(vectors.len() > 20);
    for vector in &vectors {
        let [one, other] = ["one", "other"].map(|side| vector[side].as_str().unwrap());
        let expected = vector["same"].as_bool().unwrap();
        assert_eq!(is_same_json(one, other), expected, "{vector}");
        assert_eq!(is_same_json(other, one), expected, "{vector}");
    }
}

#[test]
fn nesting_takes_no_stack() {
    let deep = 500_000;
    let nested = |number| format!("[{number},").repeat(deep) + "0" + &"]".repeat(deep);
    assert!(is_same_json(&nested("1"), &nested("1.0")));
    assert!(!is_same_json(&nested("1"), &nested("2")));
    assert!(!is_same_json(&nested("1"), &"[1,".repeat(deep)));
}

#[test]
fn objects_of_many_keys_are_compared_in_any_order() {
    let object = |keys: &mut dyn Iterator<Item = usize>| {
        let members: Vec<String> = keys.map(|key| format!("\"key{key}\":{key}")).collect();
        format!("{{{}}}", members.join(","))
    };
    let count = 100_000;
    assert!(is_same_json(&object(&mut (0..count)), &object(&mut (0..count).rev())));
    assert!(!is_same_json(&object(&mut (0..count)), &object(&mut (1..=count).rev())));
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Into::into),
        (-3..4_i32).prop_map(Into::into),
        prop::sample::select(vec!["", "a", "é", "\n"]).prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map("[ab]{0,2}", inner, 0..4)
                .prop_map(|map| map.into_iter().collect()),
        ]
    })
}

/// Writes the same value with its keys reversed and its strings escaped differently.
fn rewritten(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members: Vec<String> = members
                .iter()
                .rev()
                .map(|(key, value)| format!(" {}: {}", escaped(key), rewritten(value)))
                .collect();
            format!("{{{}}}", members.join(" ,"))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(rewritten).collect();
            format!("[{}]", items.join(" , "))
        }
        Value::String(text) => escaped(text),
        Value::Number(number) => format!("{number}.0e0"),
        other => other.to_string(),
    }
}

fn escaped(text: &str) -> String {
    let units: String = text.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
    format!("\"{units}\"")
}

proptest! {
    #[test]
    fn a_value_is_the_same_in_any_spelling(value in value()) {
        prop_assert!(is_same_json(&value.to_string(), &rewritten(&value)));
    }

    #[test]
    fn different_values_are_not_the_same(one in value(), other in value()) {
        prop_assert_eq!(is_same_json(&one.to_string(), &rewritten(&other)), one == other);
    }

    #[test]
    fn malformed_json_is_the_same_only_as_its_own_text(text in "[\\[\\]{}:,\"a1 ]{0,8}") {
        let is_json = serde_json::from_str::<Value>(&text).is_ok();
        prop_assert_eq!(is_same_json(&text, &format!("{text} ")), is_json);
        prop_assert!(is_same_json(&text, &text));
    }
}
