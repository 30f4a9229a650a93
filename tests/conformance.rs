//! The conformance suite over the storage in memory, and over one that has to start every write
//! over.
#![cfg(not(target_arch = "wasm32"))]

use adk_session_wasm::session::Window;
use adk_session_wasm::storage::conformance::{self, Report};
use adk_session_wasm::storage::{
    Changes, Decide, Deletion, Found, ListRequest, Listing, MemoryStorage, MemoryText, Rows,
    Storage, Target, WriteRequest,
};
use adk_session_wasm::{Error, SessionKey};

fn assert_conforms(report: Report) {
    assert!(report.failures.is_empty(), "\n{report}");
    println!("{report}");
}

#[tokio::test]
async fn memory_conforms() {
    assert_conforms(conformance::run(async || MemoryStorage::new()).await);
}

#[tokio::test]
async fn a_storage_that_starts_over_conforms() {
    assert_conforms(conformance::run(async || Retrying(MemoryStorage::new())).await);
}

/// Asks each decision three times, twice of them on findings that turned out to be void, as a
/// database does whose transaction is aborted. Between its verbs others run.
struct Retrying(MemoryStorage);

struct AskedAgain<D>(D);

impl<D: Decide<MemoryText>> Decide<MemoryText> for AskedAgain<D> {
    fn decide(&mut self, found: Found<'_, MemoryText>) -> Option<Changes<MemoryText>> {
        let nothing = Found {
            session: None,
            state: None,
            user: None,
            app: None,
            events: Vec::new(),
            changed: Vec::new(),
            floor: 0,
        };
        self.0.decide(nothing);
        let same = Found { events: found.events.clone(), changed: found.changed.clone(), ..found };
        self.0.decide(same);
        self.0.decide(found)
    }
}

impl Storage for Retrying {
    type Text = MemoryText;
    type Listing = Listing;
    type Failure = Error;

    async fn create<D: Decide<MemoryText> + 'static>(
        &self,
        request: WriteRequest,
        decision: D,
    ) -> Result<D, Error> {
        tokio::task::yield_now().await;
        Ok(self.0.create(request, AskedAgain(decision)).await?.0)
    }

    async fn append<D: Decide<MemoryText> + 'static>(
        &self,
        request: WriteRequest,
        decision: D,
    ) -> Result<D, Error> {
        tokio::task::yield_now().await;
        Ok(self.0.append(request, AskedAgain(decision)).await?.0)
    }

    async fn read(&self, target: Target, window: Window) -> Result<Rows<MemoryText>, Error> {
        tokio::task::yield_now().await;
        self.0.read(target, window).await
    }

    async fn list(&self, request: ListRequest) -> Result<Listing, Error> {
        tokio::task::yield_now().await;
        self.0.list(request).await
    }

    async fn delete(&self, deletion: Deletion) -> Result<Option<u64>, Error> {
        tokio::task::yield_now().await;
        self.0.delete(deletion).await
    }

    fn find(&self, session_id: &str) -> Option<Vec<SessionKey>> {
        self.0.find(session_id)
    }
}
