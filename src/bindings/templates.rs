//! Instruction templates: JavaScript holds the values and puts them in, Rust says where.

use std::fmt;

use js_sys::Array;
use wasm_bindgen::prelude::*;

use crate::bindings::object::Object;
use crate::instruction::{ArtifactError, Placeholder, PlaceholderKind, Template, TemplateError};

/// For each placeholder `[start, end, nameStart, nameEnd, kind, backslashes]` in UTF-16 code
/// units; `kind` has bit 0 set for an optional one and bit 1 for an artifact.
#[wasm_bindgen]
pub fn scan_template(text: String) -> Vec<u32> {
    let template = Template::new(text);
    let numbers = template.utf16_names().flat_map(|(found, range, name)| {
        let artifact = found.kind == PlaceholderKind::Artifact;
        let kind = usize::from(found.optional) | usize::from(artifact) << 1;
        [range.start, range.end, name.start, name.end, kind, found.backslashes]
    });
    numbers.map(|number| number as u32).collect()
}

/// What to say of the placeholders (by position among all) that have no value, `keys` being the
/// keys that have one: `{message, missing: [{name, offset, suggestions}]}`.
#[wasm_bindgen]
pub fn describe_missing(text: String, positions: Vec<u32>, keys: Array) -> JsValue {
    let template = Template::new(text);
    let keys = keys.iter().filter_map(|key| key.as_string());
    let all: Vec<_> = template.placeholders().collect();
    let missing = positions.iter().filter_map(|position| all.get(*position as usize).copied());
    let error = template.missing_error(missing, keys);
    let message = error.message_utf16();
    let missing = match error {
        TemplateError::Missing(missing) => missing,
        _ => Vec::new(),
    };
    let missing = missing.into_iter().map(|variable| {
        // Texts are texts to JavaScript: there is nothing to fail at.
        let suggestions = serde_wasm_bindgen::to_value(&variable.suggestions).unwrap_or_default();
        Object::default()
            .text("name", &variable.name)
            .number("offset", variable.offset_utf16 as f64)
            .with("suggestions", &suggestions)
            .into()
    });
    Object::default().text("message", &message).list("missing", missing).into()
}

/// What to say of an artifact that could not be loaded: no service, or one that failed.
#[wasm_bindgen]
pub fn artifact_message(text: String, position: u32, failed: bool) -> String {
    let template = Template::new(text);
    let error = if failed {
        // The cause is JavaScript's to add. A text as the cause would bring `{:?}` of texts along,
        // and with it Unicode's tables of what can be printed.
        ArtifactError::Failed(Box::new(fmt::Error))
    } else {
        ArtifactError::NoService
    };
    match nth(&template, position) {
        Some(found) => template.artifact_error(&found, error).message_utf16(),
        None => String::new(),
    }
}

fn nth(template: &Template, position: u32) -> Option<Placeholder<'_>> {
    template.placeholders().nth(position as usize)
}
