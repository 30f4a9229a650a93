//! The conformance suite over the storage in memory, and over one that has to start every write
//! over.

use std::sync::Arc;

use adk_session::conformance::{self, Report};
use adk_session::memory::MemoryStorage;
use adk_session::storage::{Call, Decide, Decision, Found, Plan, Storage, StorageFuture};

use crate::third_party::{ThirdParty, Write};

fn assert_conforms(report: Report) {
    assert!(report.failures.is_empty(), "\n{report}");
    println!("{report}");
}

#[tokio::test]
async fn memory_conforms() {
    assert_conforms(conformance::run(async || MemoryStorage::new()).await);
}

#[tokio::test]
async fn a_storage_that_is_chosen_at_run_time_conforms() {
    let chosen = || -> Arc<dyn Storage> { Arc::new(ThirdParty(MemoryStorage::new())) };
    assert_conforms(conformance::run(async || chosen()).await);
}

#[tokio::test]
async fn a_storage_that_retries_every_write_conforms() {
    let open = async || ThirdParty(Retrying(MemoryStorage::new()));
    assert_conforms(conformance::run(open).await);
}

/// Retries each write, as a database does whose transaction is aborted.
struct Retrying(MemoryStorage);

impl Write for Retrying {
    fn memory(&self) -> &MemoryStorage {
        &self.0
    }

    fn write_memory<'a>(
        &'a self,
        write: &'a mut dyn Decide,
        call: &'a dyn Call,
    ) -> StorageFuture<'a, ()> {
        Box::pin(async move { self.0.write(&mut StartingOver(write), call).await })
    }
}

/// A write of which each decision is made three times. The first two see wrong rows, as if a
/// database had aborted and retried the transaction.
struct StartingOver<'a>(&'a mut dyn Decide);

impl Decide for StartingOver<'_> {
    fn plan(&self) -> &Plan {
        self.0.plan()
    }

    fn decide(&mut self, found: Found) -> Decision {
        self.0.decide(Found::default());
        self.0.decide(found.clone());
        self.0.decide(found)
    }
}
