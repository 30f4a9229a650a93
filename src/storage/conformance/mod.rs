//! The one suite that every storage must pass.
//!
//! Its cases are data, `cases.json`, so that two runners share them: this one, over any [`Storage`]
//! in Rust, and `adk-session-wasm/testing`, over any adapter in JavaScript. A case is a name (a
//! sentence that must hold) and steps; they read as documentation of what a session service
//! promises. What the service never asks of a storage in a way that JavaScript could see (a
//! refusal writes nothing, [`Found::floor`](crate::storage::Found::floor), …) is asked of the
//! verbs themselves, in `verbs.rs`.
//!
//! ```
//! use adk_session_wasm::storage::{MemoryStorage, conformance};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! // Once a case: a storage that is empty.
//! let report = conformance::run(async || MemoryStorage::new()).await;
//! assert!(report.failures.is_empty(), "{report}");
//! # });
//! ```
//!
//! # The language of the cases
//!
//! A step is one call of the service as JavaScript makes it:
//! `{"op": "getSession", "with": {…request}, "expect": …}` or, if it must be refused,
//! `"error": "not_found"`. To keep the cases short:
//! - A request that needs an `appName`, `userId` or `sessionId` and names none gets `"app"`,
//!   `"user"` or `"session"`; `null` leaves it out. Lists and `updateState` take only the app by
//!   themselves.
//! - An event that names none gets `invocationId` `"i"`, `author` `"agent"`, `timestamp` 1000 and
//!   empty `actions`; a string is the id of such an event.
//! - `"now"` is the clock's time during the step; 1000 unless told.
//!
//! | member of a step | meaning |
//! |---|---|
//! | `"as": "a"` | the returned session is kept as the handle `a` |
//! | `"handle": "a"` | appends go through it; the op `inspect` looks at it as it is now; the op `makeHandle` makes one by hand, of ids |
//! | `"expect"` | compared exactly, but of a session only the parts that it names. `null`: there is no session |
//! | `"mayFail": "code"` | it may succeed or be refused so |
//! | `"parallel": [steps]` | all at once; those through one handle queue. With `"outcomes": {"ok": 1, "not_found": 2}` any of them may have any of these |
//! | `"repeat": n` | so many times, `${i}` in its strings counting from 1; with `"steps"` those |
//!
//! Of a session, `events` are ids or events of which only the named members count, `eventSet` are
//! ids in any order, and `keys` are keys of the state in their relative order; of a list, `sessions`
//! are ids or such sessions.
//! The members of `state` may stand in any order, those of its values may not.
//!
//! Long values are made: `{"$text": [n, "ab"]}` repeats a text, `{"$list": [from, to, each]}` and
//! `{"$members": [from, to, {…}]}` repeat what holds `${i}`, `{"$nest": [n, core]}` puts a value
//! into `n` arrays. A string that is just `"${i}"` becomes the number.

mod case;
mod expand;
mod expect;
mod handle;
mod runner;
mod stop;
mod together;
mod verbs;

use std::fmt;

use crate::storage::conformance::case::Case;
use crate::storage::conformance::runner::Runner;
use crate::storage::{Listing, Storage};

/// What the suite found.
#[derive(Debug, Default)]
pub struct Report {
    /// How many cases passed.
    pub passed: usize,
    /// The others.
    pub failures: Vec<Failure>,
}

/// A case that did not hold.
#[derive(Debug)]
pub struct Failure {
    /// The sentence that should be true.
    pub case: String,
    /// Which step, and what was otherwise than it must be.
    pub reason: String,
}

impl Report {
    fn add(&mut self, case: &str, result: Result<(), String>) {
        match result {
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
pub async fn run<S>(open: impl AsyncFn() -> S) -> Report
where
    S: Storage<Listing = Listing>,
    S::Failure: fmt::Debug,
{
    let mut report = Report::default();
    for case in case::all() {
        match case {
            Ok(Case { name, stale, steps }) => {
                let runner = Runner::new(open().await, stale);
                report.add(&name, runner.run(&steps).await);
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
    fn every_case_can_be_read_and_has_a_name_of_its_own() {
        let mut names = std::collections::BTreeSet::new();
        for case in case::all() {
            let name = case.unwrap().name;
            assert!(names.insert(name.clone()), "twice: {name}");
        }
        assert!(names.len() >= 70);
    }
}
