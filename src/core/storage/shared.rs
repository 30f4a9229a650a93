//! Storages and services behind pointers: a program that chooses its storage when it runs holds an
//! `Arc<dyn Storage>`.

use std::sync::Arc;

use crate::core::read::{ListQuery, Listing, Read, Rows};
use crate::core::session::{Revision, SessionKey};
use crate::core::storage::{Call, Deletion, Storage};
use crate::core::write::{Decide, Target};

/// Implements a trait for `Arc` and `Box`. Its methods return boxed futures of a `Result`, but for the one in brackets.
macro_rules! forward_to_pointers {
    ($trait:ident $methods:tt) => {
        forward_to_pointers!(Arc, $trait $methods);
        forward_to_pointers!(Box, $trait $methods);
    };
    ($pointer:ident, $trait:ident {
        $([$plain:ident() -> $value:ty];)?
        $($method:ident<$a:lifetime>($($argument:ident: $type:ty),*) -> $result:ty;)*
    }) => {
        impl<P: $trait + ?Sized> $trait for $pointer<P> {
            $(fn $method<$a>(
                &$a self,
                $($argument: $type),*
            ) -> $crate::host::BoxFuture<$a, Result<$result, $crate::core::error::Error>> {
                (**self).$method($($argument),*)
            })*
            $(fn $plain(&self) -> $value {
                (**self).$plain()
            })?
        }
    };
}
pub(crate) use forward_to_pointers;

forward_to_pointers!(Storage {
    write<'a>(write: &'a mut dyn Decide, call: &'a dyn Call) -> ();
    read<'a>(target: &'a Target, read: &'a Read, call: &'a dyn Call) -> Rows;
    list<'a>(request: &'a ListQuery, call: &'a dyn Call) -> Listing;
    delete<'a>(deletion: &'a Deletion, call: &'a dyn Call) -> Option<Revision>;
    find<'a>(session_id: &'a str, call: &'a dyn Call) -> Vec<SessionKey>;
});
