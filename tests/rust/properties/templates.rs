//! Properties of every instruction template.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::iter;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use adk_session::Error;
use adk_session::template::{Artifact, Placeholder, PlaceholderKind, Template, TemplateContext};
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

/// Has this JSON value for each key and file.
struct Everywhere<'v>(&'v str);

impl TemplateContext for Everywhere<'_> {
    fn state_json(&self, _key: &str) -> Option<Cow<'_, str>> {
        Some(self.0.into())
    }

    fn state_keys(&self) -> impl Iterator<Item = Cow<'_, str>> {
        iter::empty()
    }

    async fn load_artifact(&self, _filename: &str) -> Result<Option<Artifact>, Error> {
        Ok(Some(Artifact::Json(self.0.to_owned())))
    }
}

/// Has keys, but a value for none of them.
struct Nowhere(Vec<String>);

impl TemplateContext for Nowhere {
    fn state_json(&self, _key: &str) -> Option<Cow<'_, str>> {
        None
    }

    fn state_keys(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.0.iter().map(Into::into)
    }

    async fn load_artifact(&self, _filename: &str) -> Result<Option<Artifact>, Error> {
        Ok(None)
    }
}

/// Renders with a context that never waits.
fn render_with(text: &str, context: &impl TemplateContext) -> Result<String, Error> {
    let template = Template::new(text);
    let rendered = pin!(template.render(context));
    match rendered.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(rendered) => rendered,
        Poll::Pending => unreachable!("the context never waits"),
    }
}

fn render(text: &str, value: &str) -> Result<String, Error> {
    render_with(text, &Everywhere(&serde_json::Value::from(value).to_string()))
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
    fn an_escaped_text_prints_unchanged(text in texts()) {
        let escaped = Template::escape(&text);
        prop_assert_eq!(render(&escaped, "no").ok(), Some(text.clone()));
        let within = format!("{{a}}: {escaped} {{b}}");
        prop_assert_eq!(render(&within, "<value>").ok(), Some(format!("<value>: {text} <value>")));
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
        match render_with(&text, &Nowhere(keys)) {
            Ok(_) => prop_assert!(wanted.is_empty()),
            Err(Error::MissingVariables(missing)) => {
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
        let print = |json: String| render_with("{v}", &Everywhere(&json)).ok();
        let pretty = |object: &BTreeMap<_, _>| serde_json::to_string_pretty(object).ok();
        prop_assert_eq!(print(serde_json::Value::from(text.as_str()).to_string()), Some(text));
        let compact = serde_json::to_string(&object).ok();
        prop_assert_eq!(pretty(&object).and_then(print), compact);
    }

    #[test]
    fn malformed_json_never_panics(json in any::<String>(), quoted in r#""[\\"u0-9a-fé]*"#) {
        for json in [json, quoted] {
            let printed = render_with("{v}", &Everywhere(&json));
            prop_assert!(printed.is_ok());
        }
    }
}
