//! A storage of another crate with its own error type becomes a session service.
#![cfg(not(target_arch = "wasm32"))]

use std::cell::Cell;

use adk_session_wasm::error::StorageProblem;
use adk_session_wasm::memory::MemoryStorage;
use adk_session_wasm::read::Window;
use adk_session_wasm::read::{ListRequest, Listing, Rows};
use adk_session_wasm::service::StoredSessionService;
use adk_session_wasm::session::{Description, SessionHead};
use adk_session_wasm::storage::{Decide, Decision, Deletion, Found, Storage, Target};
use adk_session_wasm::{CreateRequest, Error, Event, GetRequest, SessionKey, SessionService};

/// Keeps nothing while its disk is full.
#[derive(Default)]
struct Disk {
    contents: MemoryStorage,
    is_full: Cell<bool>,
}

#[derive(Debug)]
struct DiskFull;

impl From<DiskFull> for Error {
    fn from(_: DiskFull) -> Self {
        Self::Storage { problem: StorageProblem::QuotaExceeded, reason: "full".into() }
    }
}

impl Disk {
    fn check(&self) -> Result<(), DiskFull> {
        if self.is_full.get() { Err(DiskFull) } else { Ok(()) }
    }
}

impl Storage for Disk {
    async fn write(&self, write: &mut dyn Decide) -> Result<(), Error> {
        self.check()?;
        self.contents.write(write).await
    }

    async fn read(&self, target: Target, window: Window) -> Result<Rows, Error> {
        self.contents.read(target, window).await
    }

    async fn list(&self, request: ListRequest) -> Result<Listing, Error> {
        self.contents.list(request).await
    }

    async fn delete(&self, deletion: Deletion) -> Result<Option<u64>, Error> {
        self.contents.delete(deletion).await
    }
}

#[tokio::test]
async fn a_storage_with_its_own_error_type_is_a_session_service() -> Result<(), Error> {
    let service = StoredSessionService::over(Disk::default());
    let (app_name, user_id) = ("shop".to_owned(), "ada".to_owned());
    let create = CreateRequest {
        app_name: app_name.clone(),
        user_id: user_id.clone(),
        ..CreateRequest::default()
    };
    let session = service.create(create).await?;
    service.append_event_to(session.key(), Event::new("first")).await?;

    service.storage().is_full.set(true);
    let refused = service.append_event_to(session.key(), Event::new("second")).await;
    assert_eq!(refused.map_err(|error| error.code()), Err("quota_exceeded"));

    let session_id = session.id().to_owned();
    let read = service.get(GetRequest { app_name, user_id, session_id, ..GetRequest::default() });
    assert_eq!(read.await?.events().len(), 1);
    Ok(())
}

/// Answers writes without asking what to write.
struct Undecided(MemoryStorage);

impl Storage for Undecided {
    async fn write(&self, _write: &mut dyn Decide) -> Result<(), Error> {
        Ok(())
    }

    async fn read(&self, target: Target, window: Window) -> Result<Rows, Error> {
        self.0.read(target, window).await
    }

    async fn list(&self, request: ListRequest) -> Result<Listing, Error> {
        self.0.list(request).await
    }

    async fn delete(&self, deletion: Deletion) -> Result<Option<u64>, Error> {
        self.0.delete(deletion).await
    }
}

#[tokio::test]
async fn a_storage_that_never_calls_decide_is_told_so() -> Result<(), Error> {
    let service = StoredSessionService::over(Undecided(MemoryStorage::new()));
    let key = SessionKey::new("shop", "ada", "s1")?;
    let create = CreateRequest {
        app_name: "shop".into(),
        user_id: "ada".into(),
        ..CreateRequest::default()
    };
    let delta = [("app:a".to_owned(), 1.into())].into();
    let errors = [
        service.create(create).await.err(),
        service.append_event_to(&key, Event::new("first")).await.err(),
        service.update_state("shop", None, delta).await.err(),
    ];
    for error in errors {
        let message = error.map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(message, "the storage failed: it never called decide");
    }
    Ok(())
}

/// Has the highest revisions that Rust can hold.
struct Exhausted(MemoryStorage);

impl Storage for Exhausted {
    async fn write(&self, write: &mut dyn Decide) -> Result<(), Error> {
        let head = SessionHead { revision: u64::MAX, ..SessionHead::default() };
        let session = Some(head).filter(|_| !write.plan().creates);
        let decision = write.decide(Found { session, floor: u64::MAX, ..Found::default() });
        assert!(matches!(decision, Decision::Done(None)));
        Ok(())
    }

    async fn read(&self, target: Target, window: Window) -> Result<Rows, Error> {
        self.0.read(target, window).await
    }

    async fn list(&self, request: ListRequest) -> Result<Listing, Error> {
        self.0.list(request).await
    }

    async fn delete(&self, deletion: Deletion) -> Result<Option<u64>, Error> {
        self.0.delete(deletion).await
    }
}

#[tokio::test]
async fn a_storage_whose_revisions_have_no_next_one_is_told_so() -> Result<(), Error> {
    let service = StoredSessionService::over(Exhausted(MemoryStorage::new()));
    let key = SessionKey::new("shop", "ada", "s1")?;
    let create = CreateRequest {
        app_name: "shop".into(),
        user_id: "ada".into(),
        ..CreateRequest::default()
    };
    let events = vec![Event::new("first")];
    let delta = [("app:a".to_owned(), 1.into())].into();
    let errors = [
        service.create_with(create, events, Description::default()).await.err(),
        service.append_event_to(&key, Event::new("second")).await.err(),
        service.update_state("shop", None, delta).await.err(),
    ];
    for error in errors {
        assert_eq!(error.map(|error| error.code()), Some("storage_failed"));
    }
    Ok(())
}

/// Reads from a replica, which still has the session that is gone.
#[derive(Default)]
struct Lagging {
    replica: MemoryStorage,
    is_gone: Cell<bool>,
}

impl Storage for Lagging {
    async fn write(&self, write: &mut dyn Decide) -> Result<(), Error> {
        let empty = MemoryStorage::new();
        let storage = if self.is_gone.get() { &empty } else { &self.replica };
        storage.write(write).await
    }

    async fn read(&self, target: Target, window: Window) -> Result<Rows, Error> {
        self.replica.read(target, window).await
    }

    async fn list(&self, request: ListRequest) -> Result<Listing, Error> {
        self.replica.list(request).await
    }

    async fn delete(&self, deletion: Deletion) -> Result<Option<u64>, Error> {
        self.replica.delete(deletion).await
    }
}

#[tokio::test]
async fn the_changes_of_a_session_that_is_gone_for_writes_have_to_be_read_as_a_whole()
-> Result<(), Error> {
    let service = StoredSessionService::over(Lagging::default());
    let (app_name, user_id) = ("shop".to_owned(), "ada".to_owned());
    let create = CreateRequest { app_name, user_id, ..CreateRequest::default() };
    let session = service.create(create).await?;
    service.storage().is_gone.set(true);
    let listed = service.list_changes(session.key(), session.revision()).await?;
    assert!(listed.changes.is_none());
    Ok(())
}
