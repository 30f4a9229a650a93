//! A storage of another crate: memory behind verbs that wait, with writes as a test needs them.

use adk_session::SessionKey;
use adk_session::memory::MemoryStorage;
use adk_session::storage::{
    Call, Decide, Deletion, ListQuery, Listing, Read, Rows, Storage, StorageFuture, Target,
};

/// How such a storage writes.
pub trait Write: Send + Sync {
    /// What the other verbs use.
    fn memory(&self) -> &MemoryStorage;

    fn write_memory<'a>(
        &'a self,
        write: &'a mut dyn Decide,
        call: &'a dyn Call,
    ) -> StorageFuture<'a, ()> {
        self.memory().write(write, call)
    }

    /// Sees the request for a list.
    fn see_list(&self, _: &ListQuery) {}
}

impl Write for MemoryStorage {
    fn memory(&self) -> &MemoryStorage {
        self
    }
}

/// The storage. Between its verbs others run.
pub struct ThirdParty<W>(pub W);

impl<W: Write> Storage for ThirdParty<W> {
    fn write<'a>(&'a self, write: &'a mut dyn Decide, call: &'a dyn Call) -> StorageFuture<'a, ()> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            self.0.write_memory(write, call).await
        })
    }

    fn read<'a>(
        &'a self,
        target: &'a Target,
        read: &'a Read,
        call: &'a dyn Call,
    ) -> StorageFuture<'a, Rows> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            self.0.memory().read(target, read, call).await
        })
    }

    fn list<'a>(
        &'a self,
        request: &'a ListQuery,
        call: &'a dyn Call,
    ) -> StorageFuture<'a, Listing> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            self.0.see_list(request);
            self.0.memory().list(request, call).await
        })
    }

    fn delete<'a>(
        &'a self,
        deletion: &'a Deletion,
        call: &'a dyn Call,
    ) -> StorageFuture<'a, Option<u64>> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            self.0.memory().delete(deletion, call).await
        })
    }

    fn find<'a>(
        &'a self,
        session_id: &'a str,
        call: &'a dyn Call,
    ) -> StorageFuture<'a, Vec<SessionKey>> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            self.0.memory().find(session_id, call).await
        })
    }
}
