//! Events that are to be stored, on their way in.

use js_sys::Array;
use wasm_bindgen::JsValue;

use crate::event::{EventText, NewEvent};

/// Reads `[id, timestamp, delta, text]` each; behind them, where keys of the delta were superseded, the text
/// with these keys. `take` makes what the storage
/// keeps of the text of the event of that id.
pub(super) fn new_events(
    events: &Array,
    take: &dyn Fn(&str, JsValue) -> Result<EventText, JsValue>,
) -> Result<Vec<NewEvent>, JsValue> {
    let mut read = Vec::with_capacity(events.length() as usize);
    for event in events.iter() {
        let row = Array::from(&event);
        let string = |index| row.get(index).as_string().unwrap_or_default();
        let timestamp = row.get(1).as_f64().unwrap_or(f64::NAN);
        let id = string(0);
        let text = take(&id, row.get(3))?;
        let whole = Some(row.get(4)).filter(JsValue::is_string);
        let whole = whole.map(|text| take(&id, text)).transpose()?;
        let mut event = NewEvent::new(&*id, timestamp, &string(2), text)?;
        event.whole = whole;
        read.push(event);
    }
    Ok(read)
}
