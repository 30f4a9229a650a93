//! Properties of every instruction template.
#![cfg(not(target_arch = "wasm32"))]

use std::collections::BTreeMap;

use adk_session_wasm::template::{Lookup, Placeholder, PlaceholderKind, Template, TemplateError};
use proptest::prelude::*;

/// Texts made of what the scanner decides by, so that most hold several placeholders.
fn templates() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => prop::sample::select(vec![
            "{", "}", "{", "}", "\\", "?", " ", "\n", "a", "name", "user:", "app:", "artifact.",
            ".txt", ":", "-", "\"k\": ", "이름", "é", "e\u{301}", "😀", "𝒳", "\u{FEFF}", "1",
        ]).prop_map(str::to_owned),
        4 => prop::sample::select(vec![
            "{name}", "{user:a?}", "{ 이름 }", "\\{a}", "\\\\{a}", "{{a}}", "{artifact.b c}",
        ]).prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![templates(), any::<String>()]
}

fn no_keys() -> [&'static str; 0] {
    []
}

fn render(text: &str, value: &'static str) -> Result<String, TemplateError> {
    Template::new(text).render_with(|_| Lookup::Text(value.into()), no_keys)
}

/// The parts of a template between its placeholders, with the backslashes that are printed.
fn outside(template: &Template) -> Vec<String> {
    let text = template.text();
    let mut from = 0;
    let mut parts = Vec::new();
    for found in template.placeholders() {
        let plain = &text[from..found.start - found.backslashes];
        parts.push(plain.to_owned() + &"\\".repeat(found.backslashes / 2));
        from = found.end;
    }
    parts.push(text[from..].to_owned());
    parts
}

/// The content of a placeholder without its position.
fn meaning(found: Placeholder<'_>) -> (String, PlaceholderKind, bool, usize) {
    (found.name.to_owned(), found.kind, found.optional, found.end - found.start)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn text_without_braces_is_unchanged(text in "[^{}]*") {
        prop_assert_eq!(render(&text, "no").ok(), Some(text.clone()));
    }

    #[test]
    fn text_outside_placeholders_is_never_lost(text in texts()) {
        let template = Template::new(text.as_str());
        let mut parts = outside(&template).into_iter();
        let mut expected = parts.next().unwrap_or_default();
        for (found, part) in template.placeholders().zip(parts) {
            expected += if found.is_escaped() { &text[found.range()] } else { "<value>" };
            expected += &part;
        }
        prop_assert_eq!(render(&text, "<value>").ok(), Some(expected));
    }

    #[test]
    fn an_escaped_placeholder_prints_literally(text in templates()) {
        // Backslashes that stand there already are doubled, so that one more escapes.
        let template = Template::new(text.as_str());
        let mut escaped = String::new();
        let mut from = 0;
        for found in template.placeholders() {
            escaped += &text[from..found.start];
            escaped += &"\\".repeat(found.backslashes + 1);
            from = found.start;
        }
        escaped += &text[from..];
        prop_assert_eq!(render(&escaped, "no").ok(), Some(text.clone()));
    }

    #[test]
    fn scanning_twice_finds_the_same_placeholders(text in texts()) {
        let template = Template::new(text.as_str());
        prop_assert_eq!(&Template::new(template.text()), &template);
        for found in template.placeholders() {
            let alone = Template::new(&text[found.range()]);
            let again: Vec<_> = alone.placeholders().map(meaning).collect();
            prop_assert_eq!(again, vec![meaning(found)]);
        }
    }

    #[test]
    fn placeholders_are_ordered_and_do_not_overlap(text in texts()) {
        let template = Template::new(text.as_str());
        let mut end = 0;
        for found in template.placeholders() {
            let written = &text[found.range()];
            prop_assert!(end <= found.start - found.backslashes);
            prop_assert!(text[..found.start].ends_with(&"\\".repeat(found.backslashes)));
            let in_braces = written.starts_with('{') && written.ends_with('}');
            prop_assert!(in_braces, "{written}");
            prop_assert!(written.contains(found.name) && !found.name.is_empty());
            end = found.end;
        }
    }

    #[test]
    fn utf16_offsets_agree_with_encode_utf16(text in texts()) {
        let template = Template::new(text.as_str());
        let units = |end: usize| text[..end].encode_utf16().count();
        let utf16: Vec<_> = text.encode_utf16().collect();
        for (found, range, name) in template.utf16_names() {
            prop_assert_eq!(range, units(found.start)..units(found.end));
            prop_assert_eq!(String::from_utf16_lossy(&utf16[name]), found.name);
        }
    }

    #[test]
    fn missing_names_are_all_reported(
        text in texts(),
        keys in prop::collection::vec(any::<String>(), 0..4),
    ) {
        let template = Template::new(text.as_str());
        let required = |found: &Placeholder<'_>| !found.is_escaped() && !found.optional;
        let wanted: Vec<_> = template.placeholders().filter(required).map(|f| f.start).collect();
        match template.render_with(|_| Lookup::Missing, || keys) {
            Ok(_) => prop_assert!(wanted.is_empty()),
            Err(TemplateError::Missing(missing)) => {
                for found in &missing {
                    let units = text[..found.offset].encode_utf16().count();
                    prop_assert_eq!(found.offset_utf16, units);
                }
                prop_assert_eq!(missing.iter().map(|f| f.offset).collect::<Vec<_>>(), wanted);
            }
            Err(other) => prop_assert!(false, "{other}"),
        }
    }

    #[test]
    fn values_are_printed_as_serde_json_writes_them(
        text in any::<String>(),
        object in prop::collection::btree_map(any::<String>(), any::<String>(), 0..4),
    ) {
        let print = |json: String| {
            let lookup = |_: &Placeholder<'_>| Lookup::Json(json.clone().into());
            Template::new("{v}").render_with(lookup, no_keys).ok()
        };
        let pretty = |object: &BTreeMap<_, _>| serde_json::to_string_pretty(object).ok();
        prop_assert_eq!(print(serde_json::Value::from(text.as_str()).to_string()), Some(text));
        let compact = serde_json::to_string(&object).ok();
        prop_assert_eq!(pretty(&object).and_then(print), compact);
    }

    #[test]
    fn malformed_json_never_panics(json in any::<String>(), quoted in r#""[\\"u0-9a-fé]*"#) {
        for json in [json, quoted] {
            let lookup = |_: &Placeholder<'_>| Lookup::Json(json.as_str().into());
            let printed = Template::new("{v}").render_with(lookup, no_keys);
            prop_assert!(printed.is_ok());
        }
    }
}
