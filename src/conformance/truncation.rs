//! Tests of appends that first remove the end of a history, for storages that
//! [truncate](Storage::truncates). They compare the storage with a list of the events.

use std::sync::Arc;

use crate::conformance::Report;
use crate::conformance::case::time;
use crate::conformance::verb_rows::key;
use crate::conformance::verdict::{Verdict, check, equal, failed, run_tests, same_texts};
use crate::core::event::NewEvent;
use crate::core::read::{EventPage, PageEnd, Rows, Window};
use crate::core::session::{Description, NEVER, Revision};
use crate::core::state::Delta;
use crate::core::storage::{Deletion, Storage, carry_out};
use crate::core::write::{
    Append, Appended, Create, HandlePosition, NewSession, SharedRow, StalePolicy,
};

/// The storage under test, and the events of its session as they should be.
struct Subject<S> {
    storage: S,
    events: Vec<Stored>,
    created: Revision,
    revision: Revision,
}

/// An event: its id, its first and its last revision, and the number in its text.
#[derive(Debug, Clone, PartialEq)]
struct Stored {
    id: String,
    seq: Revision,
    revision: Revision,
    number: u32,
}

/// The id of an event, and the number in its text.
type New = (String, u32);

impl<S: Storage> Subject<S> {
    async fn new(storage: S) -> Result<Self, String> {
        let description =
            Description { initial_state: Some("{}".into()), ..Description::default() };
        let state = parsed(r#"{"own":1,"user:their":1,"app:all":1}"#)?;
        let new = NewSession { description, ..NewSession::new(state, time(1000.0)) };
        let mut create = Create::new(key(), new).map_err(failed)?;
        carry_out(&storage, &mut create, &()).await.map_err(failed)?;
        let (head, ..) = create.finish().map_err(failed)?;
        let (created, revision) = (head.created, head.revision);
        Ok(Self { storage, events: Vec::new(), created, revision })
    }

    /// Appends events after the removal, if there is one, and does the same with the list.
    async fn append(&mut self, new: &[New], after: Option<Revision>, delta: &str) -> Verdict {
        let write = self.write(new, HandlePosition::Latest, StalePolicy::Append)?;
        let write = match after {
            Some(after) => write.truncating(after, parsed(delta)?),
            None => write,
        };
        let head = self.run(write).await?.head;
        let end = after.unwrap_or(NEVER);
        let mut revision = self.revision;
        let is_changed = revision > end || delta != "{}";
        self.events.retain(|event| event.seq <= end);
        for (id, number) in new {
            match self.events.iter_mut().find(|event| event.id == *id) {
                Some(event) if event.number == *number => {}
                Some(event) => {
                    revision += 1;
                    (event.revision, event.number) = (revision, *number);
                }
                None => {
                    revision += 1;
                    let (id, number) = (id.clone(), *number);
                    self.events.push(Stored { id, seq: revision, revision, number });
                }
            }
        }
        if revision == self.revision && is_changed {
            revision += 1;
        }
        self.revision = revision;
        equal("the revision", head.revision, revision)?;
        equal("the revision of the creation", head.created, self.created)
    }

    fn write(
        &self,
        new: &[New],
        position: HandlePosition,
        policy: StalePolicy,
    ) -> Result<Append, String> {
        let events = new.iter().map(|(id, number)| {
            // The delta must not change the state of a session whose history is cut.
            NewEvent::new(id.as_str(), time(f64::from(*number)), "{}", text_of(id, *number).into())
        });
        let events = events.collect::<Result<Vec<_>, _>>().map_err(failed)?;
        Ok(Append::new(key(), position, policy, events))
    }

    async fn run(&self, mut append: Append) -> Result<Appended, String> {
        carry_out(&self.storage, &mut append, &()).await.map_err(failed)?;
        append.finish().map_err(|error| error.code().to_owned())
    }

    /// Compares the storage with the list: all events, a window, pages, and what has changed.
    async fn check(&self) -> Verdict {
        let all = self.read(Window::ALL).await?;
        same_texts(all.events, &texts_of(self.events.iter()))?;
        let head = all.session.ok_or("there is no session")?.head;
        equal("the stored revision", head.revision, self.revision)?;
        let last = self.read(Window { limit: Some(5), ..Window::ALL }).await?;
        same_texts(last.events, &texts_of(self.events.iter().rev().take(5).rev()))?;
        let Some(middle) = self.events.get(self.events.len() / 2) else { return Ok(()) };
        let place: Arc<str> = middle.id.as_str().into();
        let page = EventPage { end: PageEnd::After(place), with_count: true };
        let page = Window { limit: Some(1000), page: Some(page), ..Window::ALL };
        let rows = self.read(page).await?;
        same_texts(rows.events, &texts_of(self.events.iter().skip(self.events.len() / 2 + 1)))?;
        let count = rows.edges.and_then(|edges| edges.count);
        equal("the count", count, Some(self.events.len()))?;
        for since in [self.created, middle.seq, middle.revision] {
            let position = HandlePosition::Revision { created: self.created, revision: since };
            let appended = self.run(self.write(&[], position, StalePolicy::Merge)?).await?;
            let mut found: Vec<_> =
                appended.missed.iter().map(|row| (row.seq, row.revision)).collect();
            found.sort_unstable();
            let changed = self.events.iter().filter(|event| event.revision > since);
            let mut expected: Vec<_> = changed.map(|event| (event.seq, event.revision)).collect();
            expected.truncate(1001);
            equal("what has changed", found, expected)?;
        }
        Ok(())
    }

    fn seq_at(&self, index: usize) -> Result<Revision, String> {
        self.events.get(index).map(|event| event.seq).ok_or_else(|| "too few events".to_owned())
    }

    async fn read(&self, window: Window) -> Result<Rows, String> {
        self.storage.read(&key().into(), &window, &()).await.map_err(failed)
    }

    async fn state(&self) -> Result<[String; 3], String> {
        let Rows { session, user, app, .. } = self.read(Window::NONE).await?;
        let of = |row: Option<SharedRow>| row.map_or_else(String::new, |row| row.state.to_json());
        let session = session.ok_or("there is no session")?.state.to_json();
        Ok([session, of(user), of(app)])
    }

    /// Removes the end of a history of 300 events, which lie in pages, at many places.
    async fn a_history_is_cut_anywhere(mut self) -> Verdict {
        for length in [300_usize, 299, 257, 256, 255, 200, 129, 128, 127, 9, 8, 7, 1, 0] {
            let first: Vec<New> = numbered("a", 300, 0);
            self.append(&first, Some(0), "{}").await?;
            // Single records follow the pages.
            for new in numbered("b", 3, 0) {
                self.append(&[new], None, "{}").await?;
            }
            let last = length.checked_sub(1).map(|last| self.seq_at(last)).transpose()?;
            let after = last.unwrap_or(self.created);
            self.append(&[], Some(after), "{}").await?;
            equal("the length", self.events.len(), length)?;
            self.check().await?;
            // Old ids are free again, kept ones are replaced in place.
            self.append(&numbered("a", 300, 1), Some(after), "{}").await?;
            self.check().await?;
        }
        Ok(())
    }

    /// Runs appends and removals that a generator chooses.
    async fn many_removals_leave_the_right_events(mut self) -> Verdict {
        let mut seed = 1_u32;
        let mut random = move |below: usize| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) as usize % below
        };
        for round in 0..120 {
            let count = random(3) * random(60);
            let mut new: Vec<New> = Vec::new();
            for _ in 0..count {
                let id = format!("e{}", random(400));
                // An id comes once: the list does not know the rule for a second one.
                if new.iter().all(|(earlier, _)| *earlier != id) {
                    new.push((id, random(3) as u32));
                }
            }
            let after = match random(3) {
                0 => None,
                1 => Some(self.revision.saturating_sub(random(160) as Revision)),
                _ => self.events.get(random(self.events.len().max(1))).map(|event| event.seq),
            };
            self.append(&new, after, "{}").await.map_err(|reason| format!("{round}: {reason}"))?;
            self.check().await.map_err(|reason| format!("{round}: {reason}"))?;
        }
        Ok(())
    }

    async fn only_the_given_delta_changes_the_state(mut self) -> Verdict {
        self.append(&numbered("a", 3, 0), None, "{}").await?;
        let delta = r#"{"own":"__ADK_SENTINEL_REMOVED__","new":2,"user:their":3,"app:all":4}"#;
        let event =
            NewEvent::new("b", time(1.0), r#"{"new":9,"user:x":9}"#, text_of("b", 1).into());
        let event = event.map_err(failed)?;
        let (position, policy) = (HandlePosition::Latest, StalePolicy::Append);
        let write = Append::new(key(), position, policy, vec![event]);
        self.run(write.truncating(self.seq_at(0)?, parsed(delta)?)).await?;
        let expected = [r#"{"new":2}"#, r#"{"their":3}"#, r#"{"all":4}"#];
        equal("the states", self.state().await?, expected.map(str::to_owned))?;
        let texts = self.read(Window::ALL).await?.events;
        equal("the number of events", texts.len(), 2)
    }

    async fn a_refused_removal_changes_nothing(mut self) -> Verdict {
        self.append(&numbered("a", 20, 0), None, "{}").await?;
        let (created, before) = (self.created, self.revision);
        self.append(&numbered("b", 1, 0), None, "{}").await?;
        let at = HandlePosition::Revision { created, revision: before };
        let delta = parsed(r#"{"own":2}"#)?;
        let writes = [
            self.write(&[], at.clone(), StalePolicy::Reject)?,
            self.write(&numbered("c", 1, 0), at, StalePolicy::Reject)?,
            self.write(&[], HandlePosition::Latest, StalePolicy::Append)?.expecting(before),
        ];
        for write in writes {
            let refused = self.run(write.truncating(created, delta.clone())).await;
            equal("the refusal", refused.err(), Some("stale_session".into()))?;
        }
        let [own, ..] = self.state().await?;
        equal("the state", own, r#"{"own":1}"#.to_owned())?;
        self.check().await
    }

    async fn a_removal_of_nothing_writes_nothing(mut self) -> Verdict {
        self.append(&numbered("a", 20, 0), None, "{}").await?;
        for after in [self.revision, self.revision + 1, NEVER] {
            self.append(&[], Some(after), "{}").await?;
            self.append(&numbered("a", 2, 0), Some(after), "{}").await?;
            self.check().await?;
        }
        self.append(&[], Some(NEVER), r#"{"own":2}"#).await?;
        self.check().await
    }

    async fn a_history_that_is_removed_forgets_its_initial_state(mut self) -> Verdict {
        let kept = || Some("{}".to_owned());
        self.append(&numbered("a", 20, 0), None, "{}").await?;
        for (after, expected) in [(self.seq_at(0)?, kept()), (self.created, kept()), (0, None)] {
            self.append(&numbered("b", 2, 0), Some(after), "{}").await?;
            let session = self.read(Window::ALL).await?.session.ok_or("there is no session")?;
            equal("the initial state", session.description.initial_state, expected)?;
        }
        self.check().await
    }

    async fn a_missing_session_is_not_created(self) -> Verdict {
        self.storage.delete(&Deletion::Session(key()), &()).await.map_err(failed)?;
        let write =
            self.write(&numbered("a", 1, 0), HandlePosition::Latest, StalePolicy::Append)?;
        let refused = self.run(write.truncating(0, Delta::default())).await;
        equal("the refusal", refused.err(), Some("not_found".into()))?;
        check("a session was created", self.read(Window::ALL).await?.session.is_none())
    }
}

/// Runs each test on a new storage.
pub(super) async fn run<S: Storage>(open: &impl AsyncFn() -> S, report: &mut Report) {
    if !open().await.truncates() {
        return;
    }
    run_tests! {
        "truncation: ", report, Subject::new(open().await).await;
        a_history_is_cut_anywhere
        many_removals_leave_the_right_events
        only_the_given_delta_changes_the_state
        a_refused_removal_changes_nothing
        a_removal_of_nothing_writes_nothing
        a_history_that_is_removed_forgets_its_initial_state
        a_missing_session_is_not_created
    }
}

fn numbered(prefix: &str, count: usize, number: u32) -> Vec<New> {
    (0..count).map(|index| (format!("{prefix}{index}"), number)).collect()
}

fn text_of(id: &str, number: u32) -> String {
    format!(r#"{{"id":"{id}","n":{number}}}"#)
}

fn parsed(delta: &str) -> Result<Delta, String> {
    Delta::parse(delta).map_err(failed)
}

fn texts_of<'a>(events: impl Iterator<Item = &'a Stored>) -> Vec<String> {
    events.map(|event| text_of(&event.id, event.number)).collect()
}
