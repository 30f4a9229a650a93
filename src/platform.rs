//! What the core needs from its host: the time, fresh ids, random numbers, Unicode tables, room in
//! memory.

/// Returns the milliseconds since 1970.
#[cfg(target_arch = "wasm32")]
pub(crate) fn now() -> f64 {
    js_sys::Date::now()
}

/// Returns the milliseconds since 1970.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn now() -> f64 {
    use std::time::{SystemTime, UNIX_EPOCH};
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_millis() as f64)
}

/// Returns a UUID v4.
#[cfg(target_arch = "wasm32")]
pub(crate) fn new_id() -> String {
    random_uuid()
}

/// Returns a UUID v4.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn new_id() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// Returns the number that JavaScript reads from the text; NaN if it is no number.
///
/// JavaScript parses it: the code would add 12 kB to the wasm.
#[cfg(target_arch = "wasm32")]
pub(crate) fn number(text: &str) -> f64 {
    javascript_number(text)
}

/// Returns the number that JavaScript reads from the text; NaN if it is no number.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn number(text: &str) -> f64 {
    text.parse().unwrap_or(f64::NAN)
}

/// Returns a random number, different in each process and each instance of the wasm.
#[cfg(target_arch = "wasm32")]
pub(crate) fn random_seed() -> u64 {
    js_sys::Math::random().to_bits()
}

/// Returns a random number, different in each process and each instance of the wasm.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn random_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0)
}

/// Whether the text is a Unicode identifier: `XID_Start` or `_`, then `XID_Continue`.
///
/// JavaScript has the tables; they would add 8 kB to the wasm.
#[cfg(target_arch = "wasm32")]
pub(crate) fn is_identifier(text: &str) -> bool {
    thread_local! {
        static IDENTIFIER: js_sys::RegExp =
            js_sys::RegExp::new(r"^[\p{XID_Start}_]\p{XID_Continue}*$", "u");
    }
    IDENTIFIER.with(|identifier| identifier.test(text))
}

/// Whether the text is a Unicode identifier: `XID_Start` or `_`, then `XID_Continue`.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn is_identifier(text: &str) -> bool {
    let starts = |first| first == '_' || unicode_ident::is_xid_start(first);
    text.starts_with(starts) && text.chars().all(unicode_ident::is_xid_continue)
}

/// Returns whether `bytes` more bytes can be allocated in one piece.
#[cfg(target_arch = "wasm32")]
pub(crate) fn has_room(bytes: usize) -> bool {
    let mut probe = Vec::<u8>::new();
    let is_there = probe.try_reserve_exact(bytes).is_ok();
    // Without it, the compiler would remove the unused allocation.
    std::hint::black_box(&mut probe);
    is_there
}

/// Returns `true`: other systems handle a lack of memory themselves, and a probe would cost a system
/// call.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn has_room(_bytes: usize) -> bool {
    true
}

#[cfg(target_arch = "wasm32")]
#[wasm_bindgen::prelude::wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = crypto, js_name = randomUUID)]
    fn random_uuid() -> String;
    #[wasm_bindgen(js_name = Number)]
    fn javascript_number(text: &str) -> f64;
}
