//! What the core needs from its host: the time, fresh ids, random numbers, Unicode tables, room in
//! memory, threads.

pub use host::{BoxFuture, SendOutsideWasm, SyncOutsideWasm};
pub(crate) use host::{has_room, is_identifier, lock, new_id, now, number, random_seed};

#[cfg(target_arch = "wasm32")]
mod host {
    use std::future::Future;
    use std::pin::Pin;
    use std::sync::{Mutex, MutexGuard};

    use wasm_bindgen::prelude::wasm_bindgen;

    /// A future of any type; it is `Send`, except in wasm.
    pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

    /// `Send`, except in wasm, which has one thread and whose JavaScript values must stay on it.
    pub trait SendOutsideWasm {}
    impl<T: ?Sized> SendOutsideWasm for T {}

    /// `Sync`, except in wasm.
    pub trait SyncOutsideWasm {}
    impl<T: ?Sized> SyncOutsideWasm for T {}

    /// Locks the mutex; `None` if its own thread holds it. To wait would end the instance.
    pub(crate) fn lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
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
    pub(crate) fn now() -> f64 {
        js_sys::Date::now()
    }

    /// Returns a random number, different in each process and each instance of the wasm.
    pub(crate) fn random_seed() -> u64 {
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

    /// Returns whether `bytes` more bytes can be allocated in one piece.
    pub(crate) fn has_room(bytes: usize) -> bool {
        let mut probe = Vec::<u8>::new();
        let is_there = probe.try_reserve_exact(bytes).is_ok();
        // Without it, the compiler would remove the unused allocation.
        std::hint::black_box(&mut probe);
        is_there
    }
}

/// The same for other systems.
#[cfg(not(target_arch = "wasm32"))]
mod host {
    use std::future::Future;
    use std::hash::{BuildHasher, RandomState};
    use std::pin::Pin;
    use std::sync::{Mutex, MutexGuard, PoisonError};
    use std::time::{SystemTime, UNIX_EPOCH};

    /// A future of any type; it is `Send`, except in wasm.
    pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

    /// `Send`, except in wasm, which has one thread and whose JavaScript values must stay on it.
    pub trait SendOutsideWasm: Send {}
    impl<T: Send + ?Sized> SendOutsideWasm for T {}

    /// `Sync`, except in wasm.
    pub trait SyncOutsideWasm: Sync {}
    impl<T: Sync + ?Sized> SyncOutsideWasm for T {}

    pub(crate) fn lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
        Some(mutex.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn new_id() -> String {
        uuid::Uuid::new_v4().to_string()
    }

    pub(crate) fn number(text: &str) -> f64 {
        text.parse().unwrap_or(f64::NAN)
    }

    pub(crate) fn now() -> f64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_millis() as f64)
    }

    pub(crate) fn random_seed() -> u64 {
        RandomState::new().hash_one(0)
    }

    pub(crate) fn is_identifier(text: &str) -> bool {
        let starts = |first| first == '_' || unicode_ident::is_xid_start(first);
        text.starts_with(starts) && text.chars().all(unicode_ident::is_xid_continue)
    }

    /// Other systems handle a lack of memory themselves, and a probe would cost a system call.
    pub(crate) fn has_room(_bytes: usize) -> bool {
        true
    }
}
