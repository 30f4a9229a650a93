//! Storages behind pointers: a program that chooses its storage when it runs holds an `Arc<dyn Storage>`.

use std::sync::Arc;

use crate::core::read::{ListQuery, Listing, Read, Rows};
use crate::core::session::{Revision, SessionKey};
use crate::core::storage::{Call, Deletion, Storage, StorageFuture};
use crate::core::write::{Decide, Target};

macro_rules! forward_verbs {
    ($pointer:ident) => {
        impl<S: Storage + ?Sized> Storage for $pointer<S> {
            fn write<'a>(
                &'a self,
                write: &'a mut dyn Decide,
                call: &'a dyn Call,
            ) -> StorageFuture<'a, ()> {
                (**self).write(write, call)
            }

            fn read<'a>(
                &'a self,
                target: &'a Target,
                read: &'a Read,
                call: &'a dyn Call,
            ) -> StorageFuture<'a, Rows> {
                (**self).read(target, read, call)
            }

            fn list<'a>(
                &'a self,
                request: &'a ListQuery,
                call: &'a dyn Call,
            ) -> StorageFuture<'a, Listing> {
                (**self).list(request, call)
            }

            fn delete<'a>(
                &'a self,
                deletion: &'a Deletion,
                call: &'a dyn Call,
            ) -> StorageFuture<'a, Option<Revision>> {
                (**self).delete(deletion, call)
            }

            fn find<'a>(
                &'a self,
                session_id: &'a str,
                call: &'a dyn Call,
            ) -> StorageFuture<'a, Vec<SessionKey>> {
                (**self).find(session_id, call)
            }
        }
    };
}

forward_verbs!(Arc);
forward_verbs!(Box);
