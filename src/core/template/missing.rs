//! The errors for placeholders that cannot be printed.

use crate::core::error::{ArtifactPlace, Error, MissingVariable};
use crate::core::names::NameMap;

use super::near::near_misses;
use super::placeholder::{Placeholder, PlaceholderKind};

/// Returns the error for placeholders without a value. Similar keys are searched in `known_keys`.
pub fn missing_error<K>(missing: &[Placeholder<'_>], known_keys: K) -> Error
where
    K: IntoIterator,
    K::Item: AsRef<str>,
{
    // File names get no suggestions: a context cannot list its artifacts synchronously.
    let mut places = NameMap::<usize>::default();
    let mut keys = Vec::new();
    for found in missing.iter().filter(|found| found.kind == PlaceholderKind::State) {
        if places.add(found.name, keys.len()) {
            keys.push(found.name);
        }
    }
    let near = near_misses(&keys, known_keys);
    let variable = |found: &Placeholder<'_>| {
        let is_key = found.kind == PlaceholderKind::State;
        let place = places.get(found.name).filter(|_| is_key);
        let suggestions = place.and_then(|place| near.get(*place)).cloned();
        MissingVariable {
            name: if is_key { found.name.to_owned() } else { artifact_name(found.name) },
            offset: found.start,
            suggestions: suggestions.unwrap_or_default(),
        }
    };
    Error::MissingVariables(missing.iter().map(variable).collect())
}

/// Adds the placeholder to the error of an artifact that could not be loaded. Other errors stay as they are: boxed as a
/// source, they would link `{:?}` of all errors into the wasm, 10 KB.
pub fn artifact_error(found: &Placeholder<'_>, error: Error) -> Error {
    let place = Some(ArtifactPlace { name: artifact_name(found.name), offset: found.start });
    match error {
        Error::NoArtifactService { .. } => Error::NoArtifactService { place },
        Error::Artifact { source, .. } => Error::Artifact { place, source },
        other => other,
    }
}

/// Returns a file's name as a template writes it, so that it differs from every state key.
fn artifact_name(filename: &str) -> String {
    ["artifact.", filename].concat()
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;
    use crate::core::template::Template;

    fn missing(text: &str, keys: &[&str]) -> Error {
        let template = Template::new(text);
        missing_error(&template.placeholders().collect::<Vec<_>>(), keys)
    }

    #[test]
    fn the_message_names_all_missing_values_and_gives_advice() {
        let error = missing("é {user:nmae} {topic} {topic}", &["user:name", "nmae"]);
        assert_eq!(
            error.to_string(),
            "the instruction has placeholders without a value: `{user:nmae}` at 3 (the state has \
             `nmae`, `user:name`), `{topic}` at 15. Store them before the agent runs, or write \
             `{user:nmae?}` where a value may be missing, or `\\{user:nmae}` to print the braces"
        );
        assert_eq!(error.code(), "missing_variable");
    }

    #[test]
    fn a_failed_artifact_is_reported_without_its_cause_in_the_message() {
        let template = Template::new("é{artifact.a.txt?}");
        let found = template.placeholders().next().unwrap();
        let error = artifact_error(&found, Error::NoArtifactService { place: None });
        assert!(error.to_string().contains("`{artifact.a.txt}` at 2, but"), "{error}");
        let error = artifact_error(&found, Error::artifact("token=1"));
        assert_eq!(error.code(), "storage_failed");
        assert!(error.to_string().contains("`{artifact.a.txt}` at 2 of"), "{error}");
        assert!(!error.to_string().contains("token"));
        assert_eq!(error.source().unwrap().to_string(), "token=1");
    }

    #[test]
    fn messages_have_a_bounded_length() {
        let long = missing(&format!("{{{}}}", "a".repeat(1 << 20)), &[]).to_string();
        assert!(long.len() < 1_000);
        let many: Vec<_> = (0..50_000).map(|index| format!("{{a{index}}}")).collect();
        let many = many.concat();
        let error = missing(&many, &["a_1"]);
        assert!(error.to_string().contains("`{a99}`") && error.to_string().len() < 10_000);
        assert!(error.to_string().contains(", and 49900 more"));
        assert!(matches!(error, Error::MissingVariables(all) if all.len() == 50_000));
    }
}
