//! What the core asks of the machine it runs on: the time, fresh ids, chance, Unicode.

/// Milliseconds since 1970.
#[cfg(target_arch = "wasm32")]
pub(crate) fn now() -> f64 {
    js_sys::Date::now()
}

/// Milliseconds since 1970.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn now() -> f64 {
    use std::time::{SystemTime, UNIX_EPOCH};
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_millis() as f64)
}

/// A UUID v4.
#[cfg(target_arch = "wasm32")]
pub(crate) fn new_id() -> String {
    random_uuid()
}

/// A UUID v4.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn new_id() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// The number that JavaScript reads; NaN for a text that is none.
///
/// In the wasm the code for it would be 12 kB.
#[cfg(target_arch = "wasm32")]
pub(crate) fn number(text: &str) -> f64 {
    javascript_number(text)
}

/// The number that JavaScript reads; NaN for a text that is none.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn number(text: &str) -> f64 {
    text.parse().unwrap_or(f64::NAN)
}

/// A number that is another one in each process, and in each instance of the wasm.
#[cfg(target_arch = "wasm32")]
pub(crate) fn random_seed() -> u64 {
    js_sys::Math::random().to_bits()
}

/// A number that is another one in each process, and in each instance of the wasm.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn random_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0)
}

/// Whether that is a Unicode identifier: `XID_Start` or `_`, then `XID_Continue`.
///
/// JavaScript has the tables for it; in the wasm they would be 8 kB.
#[cfg(target_arch = "wasm32")]
pub(crate) fn is_identifier(text: &str) -> bool {
    thread_local! {
        static IDENTIFIER: js_sys::RegExp =
            js_sys::RegExp::new(r"^[\p{XID_Start}_]\p{XID_Continue}*$", "u");
    }
    IDENTIFIER.with(|identifier| identifier.test(text))
}

/// Whether that is a Unicode identifier: `XID_Start` or `_`, then `XID_Continue`.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn is_identifier(text: &str) -> bool {
    let starts = |first| first == '_' || unicode_ident::is_xid_start(first);
    text.starts_with(starts) && text.chars().all(unicode_ident::is_xid_continue)
}

#[cfg(target_arch = "wasm32")]
#[wasm_bindgen::prelude::wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = crypto, js_name = randomUUID)]
    fn random_uuid() -> String;
    #[wasm_bindgen(js_name = Number)]
    fn javascript_number(text: &str) -> f64;
}
