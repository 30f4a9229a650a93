//! Reads new events, which `js/wasm/new_events.ts` packs.

use js_sys::Array;
use wasm_bindgen::JsValue;

use crate::bindings::parts::Parts;
use crate::event::{EventText, NewEvent, TextSlice};

/// The place of the events' texts.
pub(super) enum Texts<'a> {
    /// Among the parts of this packed text. The events share it.
    Packed(&'a TextSlice),
    /// JavaScript strings, two for each event, for storages that keep them. They do not enter the
    /// wasm.
    JavaScript(&'a Array),
}

/// Reads events.
///
/// - `parts`: each event's id and the JSON text of its delta. If the texts are packed, its JSON
///   text follows, and the text with superseded keys.
/// - `numbers`: the lengths of these four in UTF-16 code units, and the timestamp, for each event.
///   The text with superseded keys has the length 0 if there is none.
pub(super) fn new_events(
    parts: &mut Parts<'_>,
    numbers: &[f64],
    texts: &Texts<'_>,
) -> Result<Vec<NewEvent>, JsValue> {
    let (numbers, _) = numbers.as_chunks::<5>();
    let mut events = Vec::with_capacity(numbers.len());
    for ([id, delta, text, whole, timestamp], position) in numbers.iter().zip((0..).step_by(2)) {
        let (id, delta) = (parts.next(*id as usize), parts.next(*delta as usize));
        let mut next_text = |position: u32, units: f64| match texts {
            Texts::Packed(packed) => packed.part(parts.next_range(units as usize)).into(),
            Texts::JavaScript(texts) => EventText::from(texts.get(position)),
        };
        let text = next_text(position, *text);
        let whole = (*whole > 0.0).then(|| next_text(position + 1, *whole));
        let mut event = NewEvent::new(id, *timestamp, delta, text)?;
        event.whole = whole;
        events.push(event);
    }
    Ok(events)
}
