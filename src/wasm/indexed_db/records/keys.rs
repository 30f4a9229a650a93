//! Keys and key ranges.
//!
//! Names are never joined into one string: a key is an array with one element per name. The one
//! exception is an event's id in the index, `number/id`: its first `/` ends the number.

use adk_session::read::ListPlace;
use adk_session::session::{Revision, SessionKey};
use js_sys::Array;
use wasm_bindgen::JsValue;
use web_sys::IdbKeyRange;

pub(crate) fn list(names: &[&str]) -> JsValue {
    let list = Array::new();
    for name in names {
        list.push(&JsValue::from_str(name));
    }
    list.into()
}

pub(crate) fn session(key: &SessionKey) -> JsValue {
    list(&[key.app_name(), key.user_id(), key.session_id()])
}

/// Returns the key of a record in `states`: an app's, or a user's.
pub(crate) fn owner(app_name: &str, user_id: Option<&str>) -> JsValue {
    match user_id {
        Some(user_id) => list(&[app_name, user_id]),
        None => list(&[app_name]),
    }
}

/// Returns the index key of an event id.
pub(crate) fn event_id(number: f64, id: &str) -> String {
    // A whole number. Printing any other number would be a tenth of the wasm.
    format!("{}/{id}", number as u64)
}

/// Returns the range of the index keys of all events of a session.
pub(crate) fn event_ids(number: f64) -> JsValue {
    // `0` follows `/`.
    let number = number as u64;
    between(&format!("{number}/").into(), &format!("{number}0").into())
}

/// Returns the event id of an index key.
pub(crate) fn plain_id(id: &str) -> &str {
    id.split_once('/').map_or(id, |(_, id)| id)
}

/// Returns the range of all keys that begin with `prefix`: an array is greater than any name or
/// number.
pub(crate) fn within(prefix: &JsValue) -> JsValue {
    let after = Array::from(prefix);
    after.push(&Array::new());
    between(prefix, &after)
}

/// Returns the range of an owner's sessions in an index by time: all, or those that a list has
/// after a place.
pub(crate) fn listed(owner: &JsValue, after: Option<&ListPlace>, descending: bool) -> JsValue {
    let Some(ListPlace { time, session_id, user_id }) = after else {
        return within(owner);
    };
    let [place, end] = [Array::from(owner), Array::from(owner)];
    let is_of_app = place.length() == 1;
    place.push(&time.as_millis().into());
    place.push(&JsValue::from_str(session_id));
    if is_of_app {
        place.push(&JsValue::from_str(user_id));
    }
    end.push(&Array::new());
    if descending { half_open(owner, &place, true) } else { half_open(&place, &end, false) }
}

/// Returns the range from `first` to `last`, without the one at which a list in this order begins.
pub(crate) fn half_open(first: &JsValue, last: &JsValue, descending: bool) -> JsValue {
    let range = IdbKeyRange::bound_with_lower_open_and_upper_open;
    range(first, last, !descending, descending).map_or_else(|thrown| thrown, JsValue::from)
}

/// Returns the range from `[number, from]` to `[number, to]`, both included.
pub(crate) fn span(number: f64, from: f64, to: f64) -> JsValue {
    between(&pair(number, from), &pair(number, to))
}

/// Returns the range from `[number, from]` to the last key of that number.
pub(crate) fn from(number: f64, from: f64) -> JsValue {
    span(number, from, f64::INFINITY)
}

/// Returns the range from `first` to `last`. If the browser refuses it, returns the error that it
/// threw: that is no valid key, so a request for it throws as well.
pub(crate) fn between(first: &JsValue, last: &JsValue) -> JsValue {
    IdbKeyRange::bound(first, last).map_or_else(|thrown| thrown, JsValue::from)
}

/// Returns the first revision after this one, as a JavaScript number.
pub(crate) fn after(revision: Revision) -> f64 {
    revision.saturating_add(1) as f64
}

pub(crate) fn pair(number: f64, second: f64) -> JsValue {
    Array::of2(&JsValue::from_f64(number), &JsValue::from_f64(second)).into()
}
