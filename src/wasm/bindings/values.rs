//! Values that cross to JavaScript as they are: texts and numbers.

use adk_session::event::EventText;
use adk_session::read::TimedText;
use adk_session::write::SharedRow;
use js_sys::Array;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::*;

use crate::text::foreign_string;
use crate::thrown::Thrown;

/// A result for JavaScript, or a promise of it.
pub(super) type JsResult = Result<JsValue, Thrown>;

/// About how many bytes of text cross at once. One call for each event costs more than the copy.
/// One piece for all would grow wasm memory by the whole history, and wasm memory never shrinks.
const PIECE: usize = 256 << 10;

/// Events on their way to JavaScript: JSON texts, each of one event or of several with commas between
/// them, or records of IndexedDB. See `CoreStorage.parse` in `js/core/storage/wasm/wasm_store.ts`.
pub(super) type Fragments = Array;

pub(super) fn fragments(events: Vec<TimedText>) -> Fragments {
    let fragments = Array::new();
    let mut piece = String::new();
    for (_, text) in events {
        match text {
            EventText::Foreign(text) => {
                fragments.push(&foreign_string(&*text));
            }
            EventText::Own(text) => {
                if !piece.is_empty() && piece.len() + text.len() > PIECE {
                    fragments.push(&JsValue::from_str(&piece));
                    piece.clear();
                }
                // Copying it would take as much memory again.
                if text.len() > PIECE {
                    fragments.push(&text.with(JsValue::from_str));
                    continue;
                }
                if !piece.is_empty() {
                    piece.push(',');
                }
                text.with(|text| piece.push_str(text));
            }
        }
    }
    if !piece.is_empty() {
        fragments.push(&JsValue::from_str(&piece));
    }
    fragments
}

/// Returns the JSON object of a user's or an app's state.
pub(super) fn state_to_javascript(row: Option<SharedRow>) -> JsResult {
    Ok(JsValue::from_str(&row.unwrap_or_default().state.try_to_json()?))
}

#[wasm_bindgen]
extern "C" {
    /// Makes a list of five numbers. A call into JavaScript for each of them would cost more.
    #[wasm_bindgen(js_name = Array)]
    pub(super) fn array_of(first: f64, second: f64, third: f64, fourth: f64, fifth: f64) -> Array;

    /// Makes a list of four numbers and a text.
    #[wasm_bindgen(js_name = Array)]
    pub(super) fn array_with(first: f64, second: f64, third: f64, fourth: f64, text: &str)
    -> Array;
}
