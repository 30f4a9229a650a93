//! Keys and ranges of them.
//!
//! Names are never joined into one string: a key is an array, in which each name keeps to itself.
//! An event's id in the index is the one exception, and its first `/` ends a number.

use js_sys::Array;
use wasm_bindgen::JsValue;
use web_sys::IdbKeyRange;

use crate::session::{Revision, SessionKey};

pub(crate) fn list(names: &[&str]) -> JsValue {
    let list = Array::new();
    for name in names {
        list.push(&JsValue::from_str(name));
    }
    list.into()
}

pub(crate) fn session(key: &SessionKey) -> JsValue {
    list(&[&key.app_name, &key.user_id, &key.session_id])
}

/// The key of an app's state and count of sessions, or of a user's.
pub(crate) fn scope(app_name: &str, user_id: Option<&str>) -> JsValue {
    match user_id {
        Some(user_id) => list(&[app_name, user_id]),
        None => list(&[app_name]),
    }
}

/// An event's id as the index has it.
pub(crate) fn event_id(number: f64, id: &str) -> String {
    // A whole number, and to print any other would be a tenth of the wasm.
    format!("{}/{id}", number as u64)
}

/// The id of an event as it was given.
pub(crate) fn plain_id(id: &str) -> &str {
    id.split_once('/').map_or(id, |(_, id)| id)
}

/// Everything that begins as `prefix` does: an array is greater than any name or number.
pub(crate) fn within(prefix: &JsValue) -> JsValue {
    let after = Array::from(prefix);
    after.push(&Array::new());
    between(prefix, &after)
}

/// `[number, from]` up to `[number, to]`, both included.
pub(crate) fn span(number: f64, from: f64, to: f64) -> JsValue {
    between(&pair(number, from), &pair(number, to))
}

/// From `[number, from]` on.
pub(crate) fn from(number: f64, from: f64) -> JsValue {
    span(number, from, f64::INFINITY)
}

/// What is thrown where there is no such range is no key either: a request for it throws as well.
pub(crate) fn between(first: &JsValue, last: &JsValue) -> JsValue {
    IdbKeyRange::bound(first, last).map_or_else(|thrown| thrown, JsValue::from)
}

/// The first whole number after a revision, as a number of JavaScript's.
pub(crate) fn after(revision: Revision) -> f64 {
    revision.saturating_add(1) as f64
}

pub(crate) fn pair(number: f64, second: f64) -> JsValue {
    Array::of2(&JsValue::from_f64(number), &JsValue::from_f64(second)).into()
}
