//! Tests of the verbs themselves, for duties that no case through the service can show. A refusal
//! writes nothing, decisions get the right rows, and texts and revisions are opaque.

use crate::conformance::Report;
use crate::conformance::case::time;
use crate::conformance::script::Script;
use crate::conformance::verb_rows::{
    ODD_TEXTS, STATE, change, event, filled, key, plan, session_change, set_all, texts_of,
};
use crate::conformance::verdict::{Verdict, check, equal, failed, same_texts};
use crate::core::read::{ListQuery, Listing, Read, Rows};
use crate::core::session::{NEVER, Revision, SessionHead, SessionKey};
use crate::core::state::ByOwner;
use crate::core::storage::{Deletion, Storage};
use crate::core::write::{Changes, EventRow, Found, Plan, ScopeSet, SharedChange, Target};

/// The storage under test.
struct Subject<S> {
    storage: S,
}

impl<S: Storage> Subject<S> {
    async fn create(
        &self,
        ids: &[&str],
        decide: fn(Revision) -> Option<Changes>,
    ) -> Result<Found, String> {
        self.append(Plan { creates: true, ..plan(&[], NEVER) }, ids, decide).await
    }

    async fn append(
        &self,
        plan: Plan,
        ids: &[&str],
        decide: fn(Revision) -> Option<Changes>,
    ) -> Result<Found, String> {
        self.write(plan, ids.iter().map(|id| event(id)).collect(), decide).await
    }

    async fn write(
        &self,
        plan: Plan,
        events: Vec<EventRow>,
        decide: fn(Revision) -> Option<Changes>,
    ) -> Result<Found, String> {
        let mut script = Script::new(plan, events, decide);
        self.storage.write(&mut script, &()).await.map_err(failed)?;
        script.found.ok_or_else(|| "`write` never called `decide`".to_owned())
    }

    async fn find_rows(&self, event_ids: &[&str], since: Revision) -> Result<Found, String> {
        self.append(plan(event_ids, since), &[], |_| None).await
    }

    async fn read(&self) -> Result<Rows, String> {
        self.storage.read(&key().into(), &Read::ALL, &()).await.map_err(failed)
    }

    async fn delete(&self, deletion: Deletion) -> Verdict {
        self.storage.delete(&deletion, &()).await.map(|_| ()).map_err(failed)
    }

    async fn refusals_write_nothing(&self) -> Verdict {
        self.create(&[], |_| None).await?;
        let rows = self.read().await?;
        check(
            "a refused create stored rows",
            rows.session.is_none() && rows.shared.user.is_none() && rows.shared.app.is_none(),
        )?;
        self.create(&["e1"], |_| Some(filled(1, 1, 1))).await?;
        self.find_rows(&["e1"], 0).await?;
        let rows = self.read().await?;
        equal("the revision", revision(&rows), Some(1))?;
        same_texts(rows.events, &texts_of(&["e1"]))
    }

    async fn a_write_is_read_completely(&self) -> Verdict {
        self.create(&["e1", "e2"], |_| Some(filled(7, 7, 2))).await?;
        let Rows { session, shared, events, .. } = self.read().await?;
        let session = session.ok_or("there is no session")?;
        let head = SessionHead {
            created: 7,
            revision: 7,
            last_update_time: time(1000.25),
            create_time: time(1000.25),
        };
        equal("the head", session.head, head)?;
        equal("the key", session.key, key())?;
        equal("the session's state", session.state.to_json(), STATE.into())?;
        for row in shared.values() {
            let row = row.ok_or("there is no state of the user or app")?;
            equal("a shared revision", row.revision, 7)?;
            equal("a shared state", row.state.to_json(), STATE.into())?;
        }
        same_texts(events, &texts_of(&["e1", "e2"]))
    }

    async fn a_decision_gets_the_stored_rows(&self) -> Verdict {
        let found = self.find_rows(&["e1"], 0).await?;
        check(
            "an empty storage returned rows",
            found.session.is_none() && found.events.is_empty(),
        )?;
        self.create(&["e1", "e2"], |_| Some(filled(3, 3, 2))).await?;
        let found = self.find_rows(&["e2", "none", "e1"], NEVER).await?;
        equal(
            "the revision",
            found.session.map(|head| (head.created, head.revision)),
            Some((3, 3)),
        )?;
        for row in found.shared.values() {
            let row = row.ok_or("the user's or app's state is missing")?;
            equal("a shared revision", row.revision, 3)?;
            equal("a shared state", row.state.to_json(), STATE.into())?;
        }
        let mut ids: Vec<_> =
            found.events.iter().map(|row| (row.id.to_string(), row.seq)).collect();
        ids.sort();
        equal("the events", ids, vec![("e1".into(), 3), ("e2".into(), 4)])?;
        check("changes after NEVER were returned", found.changed.is_empty())?;
        let none = self.find_rows(&[], NEVER).await?;
        check("events were returned that were not requested", none.events.is_empty())
    }

    async fn an_event_is_returned_as_it_was_written(&self) -> Verdict {
        self.create(&["e1"], |_| Some(filled(3, 3, 1))).await?;
        let found = self.find_rows(&["e1"], 0).await?;
        for row in found.events.iter().chain(&found.changed) {
            equal(
                "the row",
                (&*row.id, row.seq, row.revision, row.timestamp),
                ("e1", 3, 3, time(0.5)),
            )?;
            same_texts(vec![(row.timestamp, row.text.clone())], &texts_of(&["e1"]))?;
        }
        equal("the rows", (found.events.len(), found.changed.len()), (1, 1))
    }

    async fn changes_since_a_revision_are_new_and_replaced_events(&self) -> Verdict {
        self.create(&["e1", "e2", "e3"], |_| Some(filled(1, 1, 3))).await?;
        self.append(plan(&["e2"], NEVER), &["e2", "e4"], |_| {
            Some(Changes {
                session: Some(session_change(1, 9, &[])),
                shared: ByOwner::default(),
                events: vec![change(0, 2, 8), change(1, 9, 9)],
            })
        })
        .await?;
        for (since, expected) in [
            (0, vec![("e1", 1, 1), ("e2", 2, 8), ("e3", 3, 3), ("e4", 9, 9)]),
            (1, vec![("e2", 2, 8), ("e3", 3, 3), ("e4", 9, 9)]),
            (3, vec![("e2", 2, 8), ("e4", 9, 9)]),
            (8, vec![("e4", 9, 9)]),
            (9, vec![]),
        ] {
            let read = Read::Since { revision: since, limit: None };
            let read = self.storage.read(&key().into(), &read, &()).await.map_err(failed)?;
            check("a read of changes returned other events", read.events.is_empty())?;
            let found = self.find_rows(&[], since).await?;
            for (verb, mut changed) in [("write", found.changed), ("read", read.rows)] {
                changed.sort_by_key(|row| row.seq);
                let rows: Vec<_> =
                    changed.iter().map(|row| (&*row.id, row.seq, row.revision)).collect();
                equal(&format!("what changed since {since} in `{verb}`"), rows, expected.clone())?;
            }
        }
        let rows = self.read().await?;
        same_texts(rows.events, &texts_of(&["e1", "e2", "e3", "e4"]))
    }

    async fn a_read_by_ids_finds_the_stored_ones(&self) -> Verdict {
        self.create(&["e1", "e2", "e3"], |_| Some(filled(1, 1, 3))).await?;
        let ids = ["e3", "none", "e1"].map(Into::into).to_vec();
        let read = self.storage.read(&key().into(), &Read::Ids(ids), &()).await.map_err(failed)?;
        check("a read by ids returned other events", read.events.is_empty())?;
        equal("the revision", revision(&read), Some(1))?;
        let mut rows = read.rows;
        rows.sort_by_key(|row| row.seq);
        let places: Vec<_> = rows.iter().map(|row| (&*row.id, row.seq, row.revision)).collect();
        equal("the events", places, vec![("e1", 1, 1), ("e3", 3, 3)])?;
        let events = rows.into_iter().map(|row| (row.timestamp, row.text)).collect();
        same_texts(events, &texts_of(&["e1", "e3"]))
    }

    async fn texts_are_opaque(&self) -> Verdict {
        let odd = |(text, number): (&&str, usize)| EventRow {
            text: (*text).to_owned().into(),
            ..event(&format!("e{number}"))
        };
        let plan = Plan { creates: true, ..plan(&[], NEVER) };
        let events = ODD_TEXTS.iter().zip(1..).map(odd).collect();
        self.write(plan, events, |_| Some(filled(1, 1, ODD_TEXTS.len()))).await?;
        same_texts(self.read().await?.events, &ODD_TEXTS.map(str::to_owned))
    }

    async fn revisions_may_be_as_large_as_the_largest_safe_integer(&self) -> Verdict {
        const LARGEST: Revision = NEVER - 1;
        self.create(&["e1"], |_| Some(filled(1, 1, 1))).await?;
        self.append(plan(&[], NEVER), &["e2"], |_| {
            Some(Changes {
                session: Some(session_change(1, LARGEST, &[])),
                shared: ByOwner::default(),
                events: vec![change(0, LARGEST, LARGEST)],
            })
        })
        .await?;
        let found = self.find_rows(&["e2"], LARGEST - 1).await?;
        equal("the session's", found.session.map(|head| head.revision), Some(LARGEST))?;
        equal("the event's", found.events.first().map(|row| row.seq), Some(LARGEST))?;
        equal("the changes", found.changed.len(), 1)
    }

    async fn the_floor_never_falls_below_what_was_deleted(&self) -> Verdict {
        for deletion in [
            Deletion::Session(key()),
            Deletion::User { app_name: "app".into(), user_id: "user".into() },
        ] {
            self.create(&["e1"], |floor| Some(filled(floor + 1, floor + 50, 1))).await?;
            let last = revision(&self.read().await?).unwrap_or_default();
            self.delete(deletion).await?;
            let found = self.find_rows(&["e1"], 0).await?;
            check("a deleted session was returned", found.session.is_none())?;
            check(
                "events of a deleted session were returned",
                found.events.is_empty() && found.changed.is_empty(),
            )?;
            at_least("the floor after a delete", found.floor, last)?;
            let found = self.create(&[], |_| None).await?;
            at_least("the floor before a create", found.floor, last)?;
        }
        Ok(())
    }

    async fn the_floor_never_falls_below_a_deleted_state(&self) -> Verdict {
        self.create(&[], |_| Some(filled(1, 1, 0))).await?;
        for (deletion, revision) in [
            (Deletion::UserState { app_name: "app".into(), user_id: "user".into() }, 40),
            (Deletion::AppState { app_name: "app".into() }, 50),
        ] {
            self.append(plan(&[], NEVER), &[], |_| {
                let user = Some(SharedChange { revision: 40, state: set_all() });
                let app = Some(SharedChange { revision: 50, state: set_all() });
                Some(Changes { session: None, shared: ByOwner { user, app }, events: Vec::new() })
            })
            .await?;
            self.delete(deletion).await?;
            at_least("the floor", self.find_rows(&[], NEVER).await?.floor, revision)?;
        }
        let found = self.find_rows(&[], NEVER).await?;
        check(
            "not only the app's state was deleted",
            found.shared.user.is_some() && found.shared.app.is_none(),
        )?;
        check("the session was deleted with the app's state", found.session.is_some())
    }

    async fn states_can_be_written_without_a_session(&self) -> Verdict {
        let of_user = Target { session_id: None, ..key().into() };
        let of_app = Target { user_id: None, ..of_user.clone() };
        let scopes = ScopeSet { session: false, shared: ByOwner { user: true, app: true } };
        let plan = Plan { target: of_user.clone(), scopes, ..plan(&[], NEVER) };
        let decide = |_| {
            let user = Some(SharedChange { revision: 1, state: set_all() });
            Some(Changes { session: None, shared: ByOwner { user, app: None }, events: Vec::new() })
        };
        let found = self.append(plan.clone(), &[], decide).await?;
        check(
            "an empty storage returned rows",
            found.session.is_none() && found.shared.user.is_none() && found.shared.app.is_none(),
        )?;
        let found = self.append(plan, &[], |_| None).await?;
        check(
            "not only the user's state was stored",
            found.shared.user.is_some() && found.shared.app.is_none(),
        )?;
        let read = async |target| self.storage.read(&target, &Read::ALL, &()).await.map_err(failed);
        let rows = read(of_user).await?;
        check(
            "a read of the user did not return its state alone",
            rows.shared.user.is_some() && rows.session.is_none(),
        )?;
        check("a read of the user returned events", rows.events.is_empty())?;
        let rows = read(of_app).await?;
        check(
            "a read of the app returned a state",
            rows.shared.app.is_none() && rows.shared.user.is_none(),
        )?;
        let listed = self.list(None).await?;
        equal("sessions", listed.total, 0)
    }

    async fn a_list_shows_each_user_once(&self) -> Verdict {
        self.create(&["e1"], |_| Some(filled(1, 1, 1))).await?;
        for (user_id, session_id) in [("user", "second"), ("other", "third")] {
            let target = Target {
                app_name: "app".into(),
                user_id: Some(user_id.into()),
                session_id: Some(session_id.into()),
            };
            let plan = Plan { creates: true, target, ..plan(&[], NEVER) };
            let decide = |_| {
                let session = Some(session_change(2, 2, &[("own", "1.50")]));
                Some(Changes { session, shared: ByOwner::default(), events: Vec::new() })
            };
            self.append(plan, &[], decide).await?;
        }
        let listed = self.list(None).await?;
        let ids: Vec<_> = listed.sessions.iter().map(|row| &*row.key.session_id).collect();
        equal("the sessions", ids, vec!["second", "session", "third"])?;
        let states = listed.sessions.iter().map(|row| row.state.to_json());
        let own = r#"{"own":1.50}"#;
        equal("their states", states.collect(), vec![own.into(), STATE.to_owned(), own.into()])?;
        let users = listed.users.iter().map(|(id, row)| (id.as_str(), row.revision));
        equal("the users", users.collect(), vec![("user", 1)])?;
        equal("the app's revision", listed.app.map(|row| row.revision), Some(1))?;
        let listed = self.list(Some("other")).await?;
        equal("a user's total", (listed.total, listed.users.len()), (1, 0))
    }

    async fn sessions_are_found_by_id(&self) -> Verdict {
        equal("the sessions of an empty storage", self.find("session").await?, Vec::new())?;
        self.create(&["e1"], |_| Some(filled(1, 1, 1))).await?;
        let other = SessionKey { user_id: "other".into(), ..key() };
        let plan = Plan { creates: true, target: other.clone().into(), ..plan(&[], NEVER) };
        let decide = |_| {
            let session = Some(session_change(2, 2, &[]));
            Some(Changes { session, shared: ByOwner::default(), events: Vec::new() })
        };
        self.append(plan, &[], decide).await?;
        let found = self.find("session").await?;
        equal("the sessions of the id", found, vec![other.clone(), key()])?;
        equal("the sessions of another id", self.find("none").await?, Vec::new())?;
        self.delete(Deletion::Session(key())).await?;
        equal("the sessions after a deletion", self.find("session").await?, vec![other])
    }

    async fn find(&self, session_id: &str) -> Result<Vec<SessionKey>, String> {
        let mut keys = self.storage.find(session_id, &()).await.map_err(failed)?;
        keys.sort_by(|one, two| one.user_id.cmp(&two.user_id));
        Ok(keys)
    }

    async fn list(&self, user_id: Option<&str>) -> Result<Listing, String> {
        let request = ListQuery {
            app_name: "app".into(),
            user_id: user_id.map(str::to_owned),
            with_total: true,
            ..ListQuery::default()
        };
        self.storage.list(&request, &()).await.map_err(failed)
    }
}

/// Runs each case on a new storage, and reports it under its name.
pub(super) async fn run<S: Storage>(open: &impl AsyncFn() -> S, report: &mut Report) {
    macro_rules! run_cases {
        ($($case:ident)*) => {
            $(
                let verdict = Subject { storage: open().await }.$case().await;
                report.add(&concat!("verbs: ", stringify!($case)).replace('_', " "), verdict);
            )*
        };
    }
    run_cases! {
        refusals_write_nothing
        a_write_is_read_completely
        a_decision_gets_the_stored_rows
        an_event_is_returned_as_it_was_written
        changes_since_a_revision_are_new_and_replaced_events
        a_read_by_ids_finds_the_stored_ones
        texts_are_opaque
        revisions_may_be_as_large_as_the_largest_safe_integer
        the_floor_never_falls_below_what_was_deleted
        the_floor_never_falls_below_a_deleted_state
        states_can_be_written_without_a_session
        a_list_shows_each_user_once
        sessions_are_found_by_id
    }
}

fn revision(rows: &Rows) -> Option<Revision> {
    rows.session.as_ref().map(|session| session.head.revision)
}

fn at_least(what: &str, found: Revision, expected: Revision) -> Verdict {
    if found >= expected {
        return Ok(());
    }
    Err(format!("{what} is {found}, but must be at least {expected}"))
}
