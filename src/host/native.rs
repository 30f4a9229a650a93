//! The same as `javascript.rs`, for other systems.

use std::cell::RefCell;
use std::error::Error;
use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// A future of any type; it is `Send`, except in wasm.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The error of other code: any error, or a text (`"disk full".into()`). It is `Send` and `Sync`, except in
/// wasm.
pub type ErrorSource = Box<dyn Error + Send + Sync>;

/// `Send`, except in wasm, which has one thread and whose JavaScript values must stay on it.
pub trait SendOutsideWasm: Send {}
impl<T: Send + ?Sized> SendOutsideWasm for T {}

/// `Sync`, except in wasm.
pub trait SyncOutsideWasm: Sync {}
impl<T: Sync + ?Sized> SyncOutsideWasm for T {}

thread_local! {
    /// The addresses of the mutexes that this thread has locked.
    static LOCKED: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// Locks the mutex; `None` if this thread holds it: it would wait for itself. Other threads wait.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> Option<Guard<'_, T>> {
    let address = ptr::from_ref(mutex).addr();
    if LOCKED.with_borrow(|locked| locked.contains(&address)) {
        return None;
    }
    let content = mutex.lock().unwrap_or_else(PoisonError::into_inner);
    LOCKED.with_borrow_mut(|locked| locked.push(address));
    Some(Guard { content, address })
}

/// The access to a locked mutex.
pub(crate) struct Guard<'a, T> {
    content: MutexGuard<'a, T>,
    address: usize,
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        LOCKED.with_borrow_mut(|locked| locked.retain(|address| *address != self.address));
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.content
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.content
    }
}

pub(crate) fn new_id() -> String {
    uuid::Uuid::new_v4().to_string()
}

pub(crate) fn number(text: &str) -> f64 {
    text.parse().unwrap_or(f64::NAN)
}

/// Returns the milliseconds since 1970.
pub fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_millis() as f64)
}

/// Returns a random number, different in each process.
pub fn random_seed() -> u64 {
    RandomState::new().hash_one(0)
}

pub(crate) fn is_identifier(text: &str) -> bool {
    let starts = |first| first == '_' || unicode_ident::is_xid_start(first);
    text.starts_with(starts) && text.chars().all(unicode_ident::is_xid_continue)
}

/// Other systems handle a lack of memory themselves, and a probe would cost a system call.
pub fn has_room(_bytes: usize) -> bool {
    true
}
