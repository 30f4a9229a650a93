//! Texts of JavaScript: as texts of events they stay there, others are copied if memory has room.

use std::any::Any;
use std::sync::Arc;

use adk_session::Error;
use adk_session::event::{EventText, ForeignText};
use adk_session::internals::require_room;
use js_sys::JsString;
use wasm_bindgen::{JsCast, JsValue};

/// Bytes of memory for each UTF-16 code unit of a text that is copied, as in `js/core/wasm/core.ts`.
pub(crate) const TEXT_UNIT: usize = 4;

/// The same for the text of a state, which is parsed.
pub(crate) const STATE_UNIT: usize = 12;

/// Shorter texts need no check: memory keeps room for them. In UTF-16 code units.
const SHORT_TEXT: u32 = 1 << 16;

/// Copies a text that takes `unit` bytes for each of its UTF-16 code units.
///
/// # Errors
/// Fails with `quota_exceeded` if memory has no room.
pub(crate) fn copy_text(text: &JsString, unit: usize) -> Result<String, Error> {
    if text.length() > SHORT_TEXT {
        require_room(text.length() as usize * unit)?;
    }
    Ok(text.into())
}

/// The text of an event that stays in JavaScript.
struct JsText(JsValue);

impl ForeignText for JsText {
    fn size(&self) -> usize {
        TEXT_UNIT * self.0.unchecked_ref::<JsString>().length() as usize
    }

    fn is_equal(&self, other: &dyn ForeignText) -> bool {
        js_text(other).is_some_and(|other| self.0 == other.0)
    }

    fn read(&self) -> String {
        self.0.as_string().unwrap_or_default()
    }
}

fn js_text(text: &dyn ForeignText) -> Option<&JsText> {
    (text as &dyn Any).downcast_ref()
}

/// Makes the text of an event of a JavaScript string, which stays where it is.
pub(crate) fn event_text(text: JsValue) -> EventText {
    EventText::Foreign(Arc::new(JsText(text)))
}

/// Returns the JavaScript string of a text that is there already.
pub(crate) fn foreign_string(text: &dyn ForeignText) -> JsValue {
    js_text(text).map_or_else(|| JsValue::from_str(&text.read()), |text| text.0.clone())
}

/// Returns the text as a JavaScript string.
pub(crate) fn string_of(text: &EventText) -> JsValue {
    match text {
        EventText::Own(text) => text.with(JsValue::from_str),
        EventText::Foreign(text) => foreign_string(&**text),
    }
}
