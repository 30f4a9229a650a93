//! Instruction templates: Rust finds the placeholders, JavaScript holds the values and inserts
//! them.

use std::fmt;

use adk_session::Error;
use adk_session::internals::{artifact_error, missing_error};
use adk_session::template::{Placeholder, PlaceholderKind, Template};
use js_sys::Array;
use serde::Serialize;
use wasm_bindgen::prelude::*;

use crate::object::object_of;

/// Returns `[start, end, nameStart, nameEnd, kind, backslashes]` for each placeholder, in UTF-16
/// code units. In `kind`, bit 0 means optional and bit 1 means artifact.
#[wasm_bindgen]
pub fn scan_template(text: String) -> Vec<u32> {
    let template = Template::new(text);
    let mut numbers = Vec::with_capacity(6 * template.placeholders().len());
    for (found, range, name) in template.utf16_names() {
        let artifact = found.kind == PlaceholderKind::Artifact;
        let kind = usize::from(found.optional) | usize::from(artifact) << 1;
        let all = [range.start, range.end, name.start, name.end, kind, found.backslashes];
        numbers.extend(all.map(|number| number as u32));
    }
    numbers
}

#[derive(Serialize)]
struct MissingVariables {
    message: String,
    missing: Vec<MissingVariable>,
}

#[derive(Serialize)]
struct MissingVariable {
    name: String,
    offset: f64,
    suggestions: Vec<String>,
}

/// Describes the placeholders without a value, given by their index. `keys` are the keys that have a
/// value.
#[wasm_bindgen]
pub fn describe_missing(text: String, positions: Vec<u32>, keys: Array) -> JsValue {
    let template = Template::new(text);
    let keys = keys.iter().filter_map(|key| key.as_string());
    let all = placeholders(&template);
    let missing: Vec<_> =
        positions.iter().filter_map(|position| all.get(*position as usize).copied()).collect();
    let error = missing_error(&missing, keys);
    let message = error.to_string();
    let mut missing = Vec::new();
    if let Error::MissingVariables(variables) = error {
        for variable in variables {
            missing.push(MissingVariable {
                name: variable.name,
                offset: variable.offset as f64,
                suggestions: variable.suggestions,
            });
        }
    }
    object_of(&MissingVariables { message, missing })
}

/// Describes an artifact that could not be loaded: there is no service, or it `failed`.
#[wasm_bindgen]
pub fn artifact_message(text: String, position: u32, failed: bool) -> String {
    let template = Template::new(text);
    let error = if failed {
        // JavaScript adds the cause. A text as the cause would link `{:?}` for texts, and with it
        // Unicode's tables of printable characters.
        Error::artifact(fmt::Error)
    } else {
        Error::NoArtifactService { place: None }
    };
    match placeholders(&template).get(position as usize) {
        Some(found) => artifact_error(found, error).to_string(),
        None => String::new(),
    }
}

/// Returns the placeholders with the offsets of JavaScript, which errors repeat.
fn placeholders(template: &Template) -> Vec<Placeholder<'_>> {
    let all = template.utf16_names();
    all.map(|(found, range, _)| Placeholder { start: range.start, ..found }).collect()
}
