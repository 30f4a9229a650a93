//! What the cases of both kinds end with, and the checks of those of the verbs.

use std::error::Error as _;
use std::fmt::Debug;

use crate::conformance::case::time;
use crate::conformance::verb_rows::EVENT_TIME;
use crate::core::error::Error;
use crate::core::read::TimedText;
use crate::core::storage::is_same_json;

/// The result of a case; the reason if it failed.
pub(super) type Verdict = Result<(), String>;

/// Returns the message of an error, with its cause.
pub(super) fn failed(error: Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// Compares events that were read: their texts as JSON values, because a storage may sort their keys, and
/// their times, which are all [`EVENT_TIME`].
pub(super) fn same_texts(found: Vec<TimedText>, expected: &[String]) -> Verdict {
    for (timestamp, _) in &found {
        equal("the time of an event", *timestamp, time(EVENT_TIME))?;
    }
    let found: Vec<String> = found.into_iter().map(|(_, text)| text.into()).collect();
    let mut pairs = found.iter().zip(expected);
    if found.len() == expected.len() && pairs.all(|(one, other)| is_same_json(one, other)) {
        return Ok(());
    }
    Err(format!("the events: found {found:?}, but expected {expected:?}"))
}

pub(super) fn equal<T: Debug + PartialEq>(what: &str, found: T, expected: T) -> Verdict {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what}: found {found:?}, but expected {expected:?}"))
}

/// `problem` is the sentence for the report.
pub(super) fn check(problem: &str, holds: bool) -> Verdict {
    if holds { Ok(()) } else { Err(problem.to_owned()) }
}
