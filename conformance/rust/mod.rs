//! The conformance suite that every storage must pass.
//!
//! Its cases are data, `conformance/cases.json`, so that two runners share them. This one runs over any
//! [`Storage`] in Rust; `adk-session-wasm/testing` runs over any storage in JavaScript. A case has
//! a name, which is a sentence that must hold, and steps. The cases document what a session service
//! promises. Some duties of a storage never show through the service: a refusal writes nothing,
//! [`Found::floor`](crate::core::storage::Found::floor) is right, and others. `verbs.rs` tests them on
//! the verbs themselves, and `js/testing/verb_cases.ts` does so in JavaScript. A case may have a
//! `hint`: the usual fault of a storage that fails it. Its rule numbers are those of
//! `docs/writing_a_storage.md`.
//!
//! ```
//! use adk_session::memory::MemoryStorage;
//! use adk_session::conformance;
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! // Once a case: a storage that is empty.
//! let report = conformance::run(async || MemoryStorage::new()).await;
//! assert!(report.failures.is_empty(), "{report}");
//! # });
//! ```
//!
//! The op `count` adds 1 to the key `key` of the state, by a function that gets the state. The function
//! changes nothing if `key` is empty, and fails with the code `fails` if that is given.
//!
//! # The language of the cases
//!
//! A step is one call of the service as JavaScript makes it: `{"op": "getSession", "with":
//! {…request}, "expect": …}`. If the call must be refused, it says `"error": "not_found"`. Some
//! members have defaults:
//! - A request without a needed `appName`, `userId` or `sessionId` gets `"app"`, `"user"` or
//!   `"session"`; `null` leaves it out. Lists and `updateState` get only the app by default.
//! - `expectedRevision` names a handle and stands for its present revision. So do the values of
//!   `expectedEvents`.
//! - An event without `invocationId`, `author`, `timestamp` or `actions` gets `"i"`, `"agent"`,
//!   1000 and empty actions. A string stands for an event with that id.
//! - `"now"` is the clock's time during the step, 1000 by default.
//!
//! | member of a step | meaning |
//! |---|---|
//! | `"as": "a"` | keeps the returned session as the handle `a` |
//! | `"handle": "a"` | appends through this handle; the op `inspect` compares its present contents; the op `makeHandle` makes it by hand, from ids |
//! | `"as": "p"` of `listEvents` | keeps the page's cursors; `"before": "p"` and `"after": "p"` of a later `listEvents` take them |
//! | `"as": "p"` of `listSessions` | keeps the page's cursor; `"cursor": "p"` of a later `listSessions` takes it |
//! | `"expect"` | compared exactly, but of a session only the parts that it names. `null`: there is no session |
//! | `"mayFail": "code"` | the call may also be refused with this code |
//! | `"parallel": [steps]` | runs all at once; steps through one handle queue. With `"outcomes": {"ok": 1, "not_found": 2}` so many of them end so, in any order |
//! | `"repeat": n` | runs the step n times, or the steps in `"steps"`; `${i}` in strings counts from 1 |
//!
//! In a session, `events` are ids, or events of which only the named members count. `eventSet` are
//! ids in any order, and `keys` are keys of the state in their relative order. A page of events is
//! compared as a session; its `before` and `after` are `true` if the page has that cursor. The op
//! `events` reads all events in pages and returns them likewise. In a list, `sessions` are ids or
//! such sessions, and `nextCursor` is `true` if it has one. The members of `state` may have any
//! order, those of its values may not.
//!
//! A case with `"javascript": true` tests what only the API in JavaScript has: the service's option
//! `"autoTitle": true`, filters of lists, the limits of titles and labels, and cursors as texts.
//! There `"cursor": {"text": "…"}` is a cursor that no page has. The op `loadOlder` puts `limit` earlier
//! events before those of a handle, and `hasOlder` is whether there are more. The op `sessions` reads a
//! whole list in pages.
//!
//! Long values are generated. `{"$text": [n, "ab"]}` repeats a text. `{"$list": [from, to, each]}`
//! and `{"$members": [from, to, {…}]}` repeat a value with `${i}`. `{"$nest": [n, core]}` puts a
//! value into `n` arrays. A string that is just `"${i}"` becomes the number.

mod case;
mod expand;
mod expect;
mod handle;
mod request;
mod runner;
mod script;
mod stop;
mod together;
mod verb_rows;
mod verbs;
mod verdict;

use std::fmt;

use crate::conformance::case::Case;
use crate::conformance::runner::Runner;
use crate::conformance::verdict::Verdict;
use crate::core::storage::Storage;

/// The result of the suite.
#[derive(Debug, Default)]
pub struct Report {
    /// How many cases passed.
    pub passed: usize,
    /// The cases that failed.
    pub failures: Vec<Failure>,
}

/// A case that failed.
#[derive(Debug)]
pub struct Failure {
    /// The sentence that should be true.
    pub case: String,
    /// The step, and how its result differs.
    pub reason: String,
}

impl Report {
    fn add(&mut self, case: &str, verdict: Verdict) {
        match verdict {
            Ok(()) => self.passed += 1,
            Err(reason) => self.failures.push(Failure { case: case.to_owned(), reason }),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Failure { case, reason } in &self.failures {
            writeln!(f, "FAILED: {case}\n        {reason}")?;
        }
        write!(f, "{} passed, {} failed", self.passed, self.failures.len())
    }
}

/// Runs every case, each over a storage of its own that `open` makes.
pub async fn run<S: Storage>(open: impl AsyncFn() -> S) -> Report {
    let mut report = Report::default();
    for case in case::all() {
        match case {
            Ok(Case { name, stale, hint, steps }) => {
                let runner = Runner::new(open().await, stale);
                let hint = hint.map(|hint| format!(" Hint: {hint}")).unwrap_or_default();
                let result = runner.run(&steps).await;
                report.add(&name, result.map_err(|reason| format!("{reason}.{hint}")));
            }
            Err(reason) => report.add("the cases can be read", Err(reason)),
        }
    }
    verbs::run(&open, &mut report).await;
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_readable_and_has_a_unique_name() {
        let mut names = std::collections::BTreeSet::new();
        for case in case::all() {
            let name = case.unwrap().name;
            assert!(names.insert(name.clone()), "twice: {name}");
        }
        assert!(names.len() >= 70);
    }
}
