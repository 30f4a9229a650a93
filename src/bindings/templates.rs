//! Instruction templates: JavaScript holds the values and puts them in, Rust says where.

use wasm_bindgen::prelude::*;

use crate::instruction::{PlaceholderKind, Template};

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
