//! A storage of another crate with its own error type becomes a session service.

use std::error::Error as _;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use adk_session::error::StorageProblem;
use adk_session::memory::MemoryStorage;
use adk_session::service::StoredSessionService;
use adk_session::session::SessionHead;
use adk_session::storage::{Call, Decide, Decision, Found, Storage, StorageFuture};
use adk_session::{CreateRequest, Error, Event, GetRequest, SessionKey, SessionService};

use crate::third_party::{ThirdParty, Write};

/// Keeps nothing while its disk is full.
#[derive(Default)]
struct Disk {
    contents: MemoryStorage,
    is_full: AtomicBool,
}

#[derive(Debug, PartialEq)]
struct DiskFull;

impl fmt::Display for DiskFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no space left on device")
    }
}

impl std::error::Error for DiskFull {}

impl From<DiskFull> for Error {
    fn from(error: DiskFull) -> Self {
        Self::Storage { problem: StorageProblem::QuotaExceeded, source: error.into() }
    }
}

impl Disk {
    fn check(&self) -> Result<(), DiskFull> {
        if self.is_full.load(Ordering::Relaxed) { Err(DiskFull) } else { Ok(()) }
    }
}

impl Write for Disk {
    fn memory(&self) -> &MemoryStorage {
        &self.contents
    }

    fn write_memory<'a>(
        &'a self,
        write: &'a mut dyn Decide,
        call: &'a dyn Call,
    ) -> StorageFuture<'a, ()> {
        Box::pin(async move {
            self.check()?;
            self.contents.write(write, call).await
        })
    }
}

#[tokio::test]
async fn a_storage_with_its_own_error_type_is_a_session_service() -> Result<(), Error> {
    let service = StoredSessionService::over(ThirdParty(Disk::default()));
    let (app_name, user_id) = ("shop".to_owned(), "ada".to_owned());
    let create = CreateRequest {
        app_name: app_name.clone(),
        user_id: user_id.clone(),
        ..CreateRequest::default()
    };
    let session = service.create(create).await?;
    service.append_event_to(session.key(), Event::new("first")).await?;

    service.storage().0.is_full.store(true, Ordering::Relaxed);
    let refused = service.append_event_to(session.key(), Event::new("second")).await;
    let refused = refused.unwrap_err();
    assert_eq!(
        (refused.code(), refused.to_string().as_str()),
        ("quota_exceeded", "the storage is full")
    );
    let source = refused.source().and_then(|source| source.downcast_ref());
    assert_eq!(source, Some(&DiskFull));

    let session_id = session.id().to_owned();
    let read = service.get(GetRequest { app_name, user_id, session_id, ..GetRequest::default() });
    assert_eq!(read.await?.events().len(), 1);
    Ok(())
}

/// Answers writes without asking what to write.
struct Undecided(MemoryStorage);

impl Write for Undecided {
    fn memory(&self) -> &MemoryStorage {
        &self.0
    }

    fn write_memory<'a>(&'a self, _: &'a mut dyn Decide, _: &'a dyn Call) -> StorageFuture<'a, ()> {
        Box::pin(async move { Ok(()) })
    }
}

#[tokio::test]
async fn a_storage_that_never_calls_decide_is_told_so() -> Result<(), Error> {
    let service = StoredSessionService::over(ThirdParty(Undecided(MemoryStorage::new())));
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
        let error = error.unwrap();
        assert_eq!(error.to_string(), "the storage failed");
        assert_eq!(error.source().unwrap().to_string(), "it never called decide");
    }
    Ok(())
}

/// Has the highest revisions that Rust can hold.
struct Exhausted(MemoryStorage);

impl Write for Exhausted {
    fn memory(&self) -> &MemoryStorage {
        &self.0
    }

    fn write_memory<'a>(
        &'a self,
        write: &'a mut dyn Decide,
        _: &'a dyn Call,
    ) -> StorageFuture<'a, ()> {
        Box::pin(async move {
            let head = SessionHead { revision: u64::MAX, ..SessionHead::default() };
            let session = Some(head).filter(|_| !write.plan().creates);
            let decision = write.decide(Found { session, floor: u64::MAX, ..Found::default() });
            assert!(matches!(decision, Decision::Done(None)));
            Ok(())
        })
    }
}

#[tokio::test]
async fn a_storage_whose_revisions_have_no_next_one_is_told_so() -> Result<(), Error> {
    let service = StoredSessionService::over(ThirdParty(Exhausted(MemoryStorage::new())));
    let key = SessionKey::new("shop", "ada", "s1")?;
    let create = CreateRequest {
        app_name: "shop".into(),
        user_id: "ada".into(),
        ..CreateRequest::default()
    };
    let events = vec![Event::new("first")];
    let delta = [("app:a".to_owned(), 1.into())].into();
    let errors = [
        service.create_with(create, events, Default::default()).await.err(),
        service.append_event_to(&key, Event::new("second")).await.err(),
        service.update_state("shop", None, delta).await.err(),
    ];
    for error in errors {
        assert_eq!(error.map(|error| error.code()), Some("storage_failed"));
    }
    Ok(())
}
