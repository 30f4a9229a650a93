//! The cases, read from `conformance/cases.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::conformance::expand::{expand, expand_steps};
use crate::core::session::Timestamp;
use crate::core::write::StalePolicy;

const CASES: &str = include_str!("../cases.json");

/// A sentence, and the steps that test it.
pub(super) struct Case {
    pub(super) name: String,
    /// The service's policy for stale handles.
    pub(super) stale: StalePolicy,
    /// What a storage does wrong when only this case and cases like it fail.
    pub(super) hint: Option<String>,
    pub(super) steps: Vec<Step>,
}

/// One call of the service, or several at once. The parent module describes its members.
#[derive(Debug)]
pub(super) enum Step {
    One(Call),
    Parallel { calls: Vec<Call>, outcomes: Option<BTreeMap<String, usize>> },
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Call {
    pub(super) op: Op,
    #[serde(default)]
    pub(super) with: Map<String, Value>,
    #[serde(rename = "as")]
    pub(super) keep_as: Option<String>,
    pub(super) handle: Option<String>,
    #[serde(default = "default_now")]
    pub(super) now: Timestamp,
    /// `Some(Null)` if the case says `null`.
    #[serde(default, deserialize_with = "present")]
    pub(super) expect: Option<Value>,
    pub(super) error: Option<String>,
    pub(super) may_fail: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Op {
    CreateSession,
    GetOrCreateSession,
    GetSession,
    ListSessions,
    ListEvents,
    ListChanges,
    GetEvents,
    Events,
    AppendEvent,
    AppendEvents,
    UpdateSession,
    UpdateState,
    Count,
    GetUserState,
    GetAppState,
    DeleteSession,
    DeleteUser,
    DeleteUserState,
    DeleteAppState,
    SessionInfo,
    MakeHandle,
    Inspect,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Written {
    name: String,
    stale: Option<String>,
    hint: Option<String>,
    steps: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parallel {
    parallel: Vec<Value>,
    outcomes: Option<BTreeMap<String, usize>>,
}

fn default_now() -> Timestamp {
    time(1000.0)
}

/// Returns a valid time of the suite.
pub(super) fn time(milliseconds: f64) -> Timestamp {
    Timestamp::from_millis(milliseconds).unwrap_or_default()
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Returns all cases of the Rust API; for a case that cannot be read, the reason.
pub(super) fn all() -> Vec<Result<Case, String>> {
    match serde_json::from_str::<Vec<Value>>(CASES) {
        Ok(cases) => cases
            .into_iter()
            .filter(|case| case.get("javascript").is_none())
            .map(|case| serde_json::from_value(case).map_err(|error| error.to_string()))
            .map(|case| case.and_then(read))
            .collect(),
        Err(error) => vec![Err(format!("cases.json: {error}"))],
    }
}

fn read(case: Written) -> Result<Case, String> {
    let stale = match case.stale.as_deref() {
        None | Some("merge") => StalePolicy::Merge,
        Some("append") => StalePolicy::Append,
        Some("reject") => StalePolicy::Reject,
        Some(other) => return Err(format!("there is no policy {other:?}")),
    };
    let steps: Result<Vec<Step>, String> =
        expand_steps(&case.steps).into_iter().map(read_step).collect();
    match steps {
        Ok(steps) => Ok(Case { name: case.name, stale, hint: case.hint, steps }),
        Err(reason) => Err(format!("case \"{}\": {reason}", case.name)),
    }
}

fn read_step(step: Value) -> Result<Step, String> {
    if step.get("parallel").is_none() {
        return Ok(Step::One(read_call(step)?));
    }
    let Parallel { parallel, outcomes } =
        serde_json::from_value(step).map_err(|error| error.to_string())?;
    let calls: Result<_, _> = expand_steps(&parallel).into_iter().map(read_call).collect();
    Ok(Step::Parallel { calls: calls?, outcomes })
}

fn read_call(step: Value) -> Result<Call, String> {
    let error = |error| format!("{error} in {step}");
    serde_json::from_value(expand(&step)).map_err(error)
}
