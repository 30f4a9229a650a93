//! wasm, in a program of JavaScript.

use std::arch::wasm32::memory_size;
use std::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard};

use wasm_bindgen::prelude::wasm_bindgen;

/// A future of any type; it is `Send`, except in wasm.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// The error of other code: any error, or a text (`"disk full".into()`). It is `Send` and `Sync`, except in
/// wasm.
pub type ErrorSource = Box<dyn Error>;

/// `Send`, except in wasm, which has one thread and whose JavaScript values must stay on it.
pub trait SendOutsideWasm {}
impl<T: ?Sized> SendOutsideWasm for T {}

/// `Sync`, except in wasm.
pub trait SyncOutsideWasm {}
impl<T: ?Sized> SyncOutsideWasm for T {}

/// The access to a locked mutex.
pub(crate) type Guard<'a, T> = MutexGuard<'a, T>;

/// Locks the mutex; `None` if its own thread holds it. To wait would end the instance.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> Option<Guard<'_, T>> {
    mutex.try_lock().ok()
}

#[wasm_bindgen]
extern "C" {
    /// Returns a UUID v4.
    #[wasm_bindgen(js_namespace = crypto, js_name = randomUUID)]
    pub(crate) fn new_id() -> String;
    /// Returns the number that JavaScript reads from the text; NaN if it is no number.
    ///
    /// JavaScript parses it: the code would add 12 kB to the wasm.
    #[wasm_bindgen(js_name = Number)]
    pub(crate) fn number(text: &str) -> f64;
}

/// Returns the milliseconds since 1970.
pub fn now() -> f64 {
    js_sys::Date::now()
}

/// Returns a random number, different in each process and each instance of the wasm.
pub fn random_seed() -> u64 {
    js_sys::Math::random().to_bits()
}

/// Whether the text is a Unicode identifier: `XID_Start` or `_`, then `XID_Continue`.
///
/// JavaScript has the tables; they would add 8 kB to the wasm.
pub(crate) fn is_identifier(text: &str) -> bool {
    thread_local! {
        static IDENTIFIER: js_sys::RegExp =
            js_sys::RegExp::new(r"^[\p{XID_Start}_]\p{XID_Continue}*$", "u");
    }
    IDENTIFIER.with(|identifier| identifier.test(text))
}

/// By how much memory grows at least, in bytes.
const STEP: usize = 512 << 10;

/// Returns whether `bytes` more bytes can be allocated in one piece.
pub fn has_room(bytes: usize) -> bool {
    let pages = memory_size::<0>();
    let is_there = can_allocate(bytes);
    // The allocator grows memory by a few pages of 64 KiB. Each growth takes as long as several writes.
    if memory_size::<0>() > pages {
        can_allocate(bytes.saturating_add(STEP));
    }
    is_there
}

fn can_allocate(bytes: usize) -> bool {
    let mut probe = Vec::<u8>::new();
    let is_there = probe.try_reserve_exact(bytes).is_ok();
    // Without it, the compiler would remove the unused allocation.
    std::hint::black_box(&mut probe);
    is_there
}
