//! What is counted for the whole database, and for each app and user.

use web_sys::IdbRequest;

use crate::session::Revision;
use crate::storage::Target;
use crate::storage::indexed_db::failure::Failure;
use crate::storage::indexed_db::keys;
use crate::storage::indexed_db::record::Record;
use crate::storage::indexed_db::schema::{COUNTS, META};
use crate::storage::indexed_db::transaction::{Transaction, result};

const KEY: &str = "sequence";

/// The next session's number, and the highest revision that was ever deleted.
pub(super) struct Sequence {
    next: f64,
    pub(super) floor: Revision,
    is_changed: bool,
}

impl Sequence {
    pub(super) fn ask(transaction: &Transaction) -> Result<IdbRequest, Failure> {
        transaction.asked(transaction.store(META)?.get(&KEY.into()))
    }

    pub(super) fn read(request: &IdbRequest) -> Result<Self, Failure> {
        let record = Record::found(result(request)?);
        let count = |member| record.as_ref().map_or(0.0, |record| record.count(member));
        let (next, floor) = (count("next").max(1.0), count("floor") as Revision);
        Ok(Self { next, floor, is_changed: false })
    }

    /// A number that no session has or had.
    pub(super) fn next(&mut self) -> f64 {
        let number = self.next;
        self.next += 1.0;
        self.is_changed = true;
        number
    }

    pub(super) fn raise_floor(&mut self, revision: Revision) {
        if revision > self.floor {
            self.floor = revision;
            self.is_changed = true;
        }
    }

    pub(super) fn put(&self, transaction: &Transaction) -> Result<(), Failure> {
        if !self.is_changed {
            return Ok(());
        }
        let record = Record::empty();
        record.set_text("key", KEY);
        record.set_number("next", self.next);
        record.set_number("floor", self.floor as f64);
        transaction.asked(transaction.store(META)?.put(&record)).map(drop)
    }
}

/// How many sessions some apps and users have.
///
/// Kept by create and delete: to count 5,000 takes ten times as long as to read a page of them.
#[derive(Default)]
pub(super) struct Counts {
    owners: Vec<Count>,
}

struct Count {
    app_name: String,
    user_id: Option<String>,
    request: IdbRequest,
    sessions: f64,
    is_changed: bool,
}

impl Counts {
    /// Asks for the counts of the app and the user of each.
    pub(super) fn ask<'t>(
        &mut self,
        transaction: &Transaction,
        targets: impl Iterator<Item = &'t Target>,
    ) -> Result<(), Failure> {
        for Target { app_name, user_id, .. } in targets {
            for user_id in [None, user_id.as_deref()] {
                self.ask_of(transaction, app_name, user_id)?;
            }
        }
        Ok(())
    }

    /// Asks for the count of an app, or of a user.
    pub(super) fn ask_of(
        &mut self,
        transaction: &Transaction,
        app_name: &str,
        user_id: Option<&str>,
    ) -> Result<(), Failure> {
        if self.position(app_name, user_id).is_none() {
            let key = keys::scope(app_name, user_id);
            self.owners.push(Count {
                app_name: app_name.to_owned(),
                user_id: user_id.map(str::to_owned),
                request: transaction.asked(transaction.store(COUNTS)?.get(&key))?,
                sessions: 0.0,
                is_changed: false,
            });
        }
        Ok(())
    }

    pub(super) fn read(&mut self) -> Result<(), Failure> {
        for count in &mut self.owners {
            let record = Record::found(result(&count.request)?);
            count.sessions = record.map_or(0.0, |record| record.count("sessions"));
        }
        Ok(())
    }

    /// How many sessions the app has, or the user.
    pub(super) fn of(&self, app_name: &str, user_id: Option<&str>) -> usize {
        let count = self.position(app_name, user_id).and_then(|at| self.owners.get(at));
        count.map_or(0, |count| count.sessions as usize)
    }

    pub(super) fn add(&mut self, target: &Target, sessions: f64) {
        for user_id in [None, target.user_id.as_deref()] {
            let position = self.position(&target.app_name, user_id);
            if let Some(count) = position.and_then(|position| self.owners.get_mut(position)) {
                count.sessions = (count.sessions + sessions).max(0.0);
                count.is_changed = true;
            }
        }
    }

    fn position(&self, app_name: &str, user_id: Option<&str>) -> Option<usize> {
        self.owners
            .iter()
            .position(|count| count.app_name == app_name && count.user_id.as_deref() == user_id)
    }

    pub(super) fn put(&self, transaction: &Transaction) -> Result<(), Failure> {
        for count in self.owners.iter().filter(|count| count.is_changed) {
            let store = transaction.store(COUNTS)?;
            let key = keys::scope(&count.app_name, count.user_id.as_deref());
            if count.sessions > 0.0 {
                let record = Record::empty();
                record.set("key", &key);
                record.set_number("sessions", count.sessions);
                transaction.asked(store.put(&record))?;
            } else {
                transaction.asked(store.delete(&key))?;
            }
        }
        Ok(())
    }
}
