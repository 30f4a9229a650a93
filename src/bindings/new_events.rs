//! Events that are to be stored, on their way in. `js/wasm/new_events.ts` packs them.

use js_sys::Array;
use wasm_bindgen::JsValue;

use crate::bindings::parts::Parts;
use crate::event::{EventText, NewEvent};

/// Reads events.
///
/// - `packed`: of each event its id and the JSON text of its delta. A string that crosses costs more
///   than its bytes, so all cross as one.
/// - `numbers`: of each event the length of its id and of its delta in UTF-16 code units, and its
///   timestamp.
/// - `texts`: of each event its JSON text, and the text with superseded keys, or `undefined`.
///   IndexedDB and adapters store the JavaScript string, so it does not enter the wasm. `take` makes
///   what the storage keeps of the text of the event with the given id.
pub(super) fn new_events(
    packed: &str,
    numbers: &[f64],
    texts: &Array,
    take: &dyn Fn(&str, JsValue) -> Result<EventText, JsValue>,
) -> Result<Vec<NewEvent>, JsValue> {
    let mut parts = Parts::of(packed);
    let (numbers, _) = numbers.as_chunks::<3>();
    let mut events = Vec::with_capacity(numbers.len());
    for ([id, delta, timestamp], position) in numbers.iter().zip((0..).step_by(2)) {
        let (id, delta) = (parts.next(*id as usize), parts.next(*delta as usize));
        let text = take(id, texts.get(position))?;
        let mut event = NewEvent::new(id, *timestamp, delta, text)?;
        let whole = texts.get(position + 1);
        if !whole.is_undefined() {
            event.whole = Some(take(&event.id, whole)?);
        }
        events.push(event);
    }
    Ok(events)
}
