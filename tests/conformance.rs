//! The conformance suite over the storage in memory, and over one that has to start every write
//! over.
#![cfg(not(target_arch = "wasm32"))]

use adk_session_wasm::SessionKey;
use adk_session_wasm::conformance::{self, Report};
use adk_session_wasm::memory::MemoryStorage;
use adk_session_wasm::read::Window;
use adk_session_wasm::read::{ListRequest, Listing, Rows};
use adk_session_wasm::storage::{
    Call, Decide, Decision, Deletion, Found, Plan, Storage, StorageFuture, Target,
};

fn assert_conforms(report: Report) {
    assert!(report.failures.is_empty(), "\n{report}");
    println!("{report}");
}

#[tokio::test]
async fn memory_conforms() {
    assert_conforms(conformance::run(async || MemoryStorage::new()).await);
}

#[tokio::test]
async fn a_storage_that_retries_every_write_conforms() {
    assert_conforms(conformance::run(async || Retrying(MemoryStorage::new())).await);
}

/// Retries each write, as a database does whose transaction is aborted. Between its verbs others run.
struct Retrying(MemoryStorage);

impl Storage for Retrying {
    fn write<'a>(&'a self, write: &'a mut dyn Decide, call: &'a dyn Call) -> StorageFuture<'a, ()> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            self.0.write(&mut StartingOver(write), call).await
        })
    }

    fn read<'a>(
        &'a self,
        target: &'a Target,
        window: &'a Window,
        call: &'a dyn Call,
    ) -> StorageFuture<'a, Rows> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            self.0.read(target, window, call).await
        })
    }

    fn list<'a>(
        &'a self,
        request: &'a ListRequest,
        call: &'a dyn Call,
    ) -> StorageFuture<'a, Listing> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            self.0.list(request, call).await
        })
    }

    fn delete<'a>(
        &'a self,
        deletion: &'a Deletion,
        call: &'a dyn Call,
    ) -> StorageFuture<'a, Option<u64>> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            self.0.delete(deletion, call).await
        })
    }

    fn find(&self, session_id: &str) -> Option<Vec<SessionKey>> {
        self.0.find(session_id)
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
