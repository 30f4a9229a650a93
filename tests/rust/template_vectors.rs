//! Runs the test vectors that TypeScript runs as well, and tests that vectors cannot express.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::error::Error as _;
use std::sync::Mutex;

use serde::Deserialize;
use serde_json::value::RawValue;

use adk_session::Error;
use adk_session::template::{Artifact, Template, TemplateContext, inject_session_state};

const VECTORS: &str = include_str!("../vectors/templates.json");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    template: String,
    state: BTreeMap<String, Box<RawValue>>,
    artifacts: Option<BTreeMap<String, Part>>,
    expect: Option<String>,
    missing: Option<Vec<Missing>>,
    error: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Part {
    Text(String),
    Json(Box<RawValue>),
}

#[derive(Debug, Deserialize, PartialEq)]
struct Missing {
    name: String,
    offset16: usize,
}

impl TemplateContext for Case {
    fn state_json(&self, key: &str) -> Option<Cow<'_, str>> {
        self.state.get(key).map(|json| Cow::Borrowed(json.get()))
    }

    fn state_keys(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.state.keys().map(|key| Cow::Borrowed(key.as_str()))
    }

    async fn load_artifact(&self, filename: &str) -> Result<Option<Artifact>, Error> {
        let artifacts = self.artifacts.as_ref().ok_or(Error::NoArtifactService { place: None })?;
        Ok(artifacts.get(filename).map(|part| match part {
            Part::Text(text) => Artifact::Text(text.clone()),
            Part::Json(json) => Artifact::Json(json.get().to_owned()),
        }))
    }
}

#[tokio::test]
async fn the_shared_vectors_hold() {
    let cases: Vec<Case> = serde_json::from_str(VECTORS).unwrap();
    assert!(cases.len() >= 80);
    for case in &cases {
        let printed = inject_session_state(&case.template, case).await;
        let error = printed.as_ref().err();
        let missing = match error {
            Some(Error::MissingVariables(missing)) => Some(missing.iter().map(|found| {
                let offset16 = case.template[..found.offset].encode_utf16().count();
                Missing { name: found.name.clone(), offset16 }
            })),
            _ => None,
        };
        assert_eq!(error.map(Error::code), case.error.as_deref(), "{}", case.name);
        assert_eq!(missing.map(Vec::from_iter), case.missing, "{}", case.name);
        assert_eq!(printed.ok(), case.expect, "{}", case.name);
    }
}

/// Counts its loads. Each load fails with the name of its file.
#[derive(Default)]
struct Failing {
    loads: Mutex<Vec<String>>,
    only: Option<&'static str>,
}

impl TemplateContext for Failing {
    fn state_json(&self, _key: &str) -> Option<Cow<'_, str>> {
        None
    }

    fn state_keys(&self) -> impl Iterator<Item = Cow<'_, str>> {
        std::iter::empty()
    }

    async fn load_artifact(&self, filename: &str) -> Result<Option<Artifact>, Error> {
        self.loads.lock().unwrap().push(filename.to_owned());
        if self.only.is_none_or(|only| only == filename) {
            return Err(Error::artifact(filename));
        }
        Ok(None)
    }
}

#[tokio::test]
async fn a_failing_load_is_reported_with_its_cause() {
    let context = Failing::default();
    let error = inject_session_state("{gone} é{artifact.x?}", &context).await.unwrap_err();
    assert_eq!(error.source().unwrap().to_string(), "x");
    let Error::Artifact { place: Some(place), .. } = error else { unreachable!() };
    assert_eq!((place.name.as_str(), place.offset), ("artifact.x", 9));
}

#[tokio::test]
async fn an_artifact_is_loaded_once_and_a_failure_stops_later_loads() {
    let context = Failing { only: Some("bad"), ..Failing::default() };
    let text =
        r"{artifact.a?} \{artifact.no} {artifact.a?} {{artifact.no}} {artifact.bad} {artifact.c}";
    assert_eq!(inject_session_state(text, &context).await.unwrap_err().code(), "storage_failed");
    assert_eq!(*context.loads.lock().unwrap(), ["a", "bad"]);
}

struct Keyless;

impl TemplateContext for Keyless {
    fn state_json(&self, _key: &str) -> Option<Cow<'_, str>> {
        None
    }

    fn state_keys(&self) -> impl Iterator<Item = Cow<'_, str>> {
        std::iter::once_with(|| unreachable!())
    }
}

#[tokio::test]
async fn the_keys_of_the_state_are_read_only_if_a_name_is_missing() {
    assert_eq!(Template::new("{a?}").render(&Keyless).await.unwrap(), "");
}
