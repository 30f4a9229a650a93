//! Expands the short forms of the cases.

use serde_json::{Map, Value};

/// Returns the steps with each `repeat` expanded.
pub(super) fn expand_steps(steps: &[Value]) -> Vec<Value> {
    let mut expanded = Vec::new();
    for step in steps {
        let Some(times) = step.get("repeat").and_then(Value::as_u64) else {
            expanded.push(step.clone());
            continue;
        };
        let mut once = step.clone();
        if let Value::Object(members) = &mut once {
            members.retain(|name, _| name != "repeat");
        }
        let each = match once.get("steps") {
            Some(Value::Array(steps)) => steps.clone(),
            _ => vec![once],
        };
        for i in 1..=times {
            expanded.extend(each.iter().map(|step| substitute(step, i)));
        }
    }
    expanded
}

/// Replaces `${i}` in keys and strings.
fn substitute(value: &Value, i: u64) -> Value {
    match value {
        Value::String(text) if text == "${i}" => i.into(),
        Value::String(text) => text.replace("${i}", &i.to_string()).into(),
        Value::Array(values) => values.iter().map(|value| substitute(value, i)).collect(),
        Value::Object(members) => {
            let members = members.iter();
            members
                .map(|(key, value)| (key.replace("${i}", &i.to_string()), substitute(value, i)))
                .collect()
        }
        other => other.clone(),
    }
}

/// Returns a value with all generated values filled in.
pub(super) fn expand(value: &Value) -> Value {
    match value {
        Value::Array(values) => values.iter().map(expand).collect(),
        Value::Object(members) => expand_object(members),
        other => other.clone(),
    }
}

fn expand_object(members: &Map<String, Value>) -> Value {
    let mut expanded = Map::new();
    for (key, value) in members {
        let parameters = value.as_array().map(Vec::as_slice);
        match (key.as_str(), parameters) {
            ("$text", Some([times, Value::String(text)])) => {
                return text.repeat(count(times) as usize).into();
            }
            ("$nest", Some([times, core])) => {
                let nest = |inside, _| Value::Array(vec![inside]);
                return (0..count(times)).fold(expand(core), nest);
            }
            ("$list", Some([from, to, each])) => {
                let numbers = count(from)..=count(to);
                return numbers.map(|i| expand(&substitute(each, i))).collect();
            }
            ("$members", Some([from, to, each])) => {
                for i in count(from)..=count(to) {
                    if let Value::Object(members) = expand(&substitute(each, i)) {
                        expanded.extend(members);
                    }
                }
            }
            _ => {
                expanded.insert(key.clone(), expand(value));
            }
        }
    }
    Value::Object(expanded)
}

fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn long_values_are_expanded() {
        let written = json!({
            "text": {"$text": [3, "ab"]},
            "list": {"$list": [2, 3, {"id": "e${i}", "n": "${i}"}]},
            "state": {"before": 0, "$members": [1, 2, {"k${i}": "${i}"}], "after": 0},
            "deep": {"$nest": [2, "core"]},
        });
        let expected = json!({
            "text": "ababab",
            "list": [{"id": "e2", "n": 2}, {"id": "e3", "n": 3}],
            "state": {"before": 0, "k1": 1, "k2": 2, "after": 0},
            "deep": [["core"]],
        });
        assert_eq!(expand(&written).to_string(), expected.to_string());
    }

    #[test]
    fn repeated_steps_are_expanded() {
        let written =
            [json!({"repeat": 2, "op": "o${i}"}), json!({"repeat": 2, "steps": [{"op": "p"}]})];
        let ops: Vec<Value> =
            expand_steps(&written).iter().map(|step| step["op"].clone()).collect();
        assert_eq!(ops, ["o1", "o2", "p", "p"]);
    }
}
