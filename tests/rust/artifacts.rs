use std::sync::Mutex;

use serde_json::{Value, json};

use adk_session::Error;
use adk_session::invocation::*;
use adk_session::session::SessionKey;
use adk_session::state::State;
use adk_session::template::inject_session_state;

use super::invocation::{event, fixture};

/// Keeps only the newest version.
#[derive(Default)]
struct Files {
    kept: Mutex<Vec<(String, Value)>>,
}

impl ArtifactService for Files {
    fn load<'a>(
        &'a self,
        _session: &'a SessionKey,
        filename: &'a str,
        _version: Option<i64>,
    ) -> ArtifactFuture<'a, Option<Value>> {
        Box::pin(async move {
            if filename == "broken" {
                return Err("token=1".into());
            }
            let kept = self.kept.lock().unwrap();
            Ok(kept.iter().rev().find(|(name, _)| name == filename).map(|(_, part)| part.clone()))
        })
    }

    fn save<'a>(
        &'a self,
        _session: &'a SessionKey,
        filename: &'a str,
        part: Value,
    ) -> ArtifactFuture<'a, i64> {
        Box::pin(async move {
            let mut kept = self.kept.lock().unwrap();
            kept.push((filename.to_owned(), part));
            Ok(kept.len() as i64 - 1)
        })
    }
}

#[tokio::test]
async fn instructions_see_state_and_artifacts() {
    let (service, session) = fixture(json!({"user:name": "Ada", "topic": null})).await;
    let invocation = Invocation::new(&session).with_artifacts(Files::default());
    let mut context = invocation.context("a");
    context.set("temp:cart".into(), json!([1, "x"]));
    let terms = json!({"text": "Be kind."});
    assert_eq!(context.save_artifact("terms.txt", terms.clone()).await.unwrap(), 0);
    let photo = json!({"inlineData": {"mimeType": "image/png", "data": "AA=="}});
    context.save_artifact("photo.png", photo.clone()).await.unwrap();
    assert_eq!(context.load_artifact("terms.txt", None).await.unwrap(), Some(terms));
    let template = "{user:name}{topic}{temp:cart}{artifact.terms.txt}{artifact.photo.png}{no?}";
    let expected = format!("Ada[1,\"x\"]Be kind.{photo}");
    assert_eq!(inject_session_state(template, &context).await.unwrap(), expected);
    let readonly = context.to_readonly();
    assert_eq!(inject_session_state(template, &readonly).await.unwrap(), expected);
    let event = invocation.append(&service, event(), Some(&mut context), None).await.unwrap();
    assert_eq!(json!(event.actions.artifact_delta), json!({"terms.txt": 0, "photo.png": 1}));

    let Err(Error::MissingVariables(missing)) = inject_session_state("{name}", &context).await
    else {
        panic!("it is missing");
    };
    assert_eq!(missing[0].suggestions, ["user:name"]);
}

#[tokio::test]
async fn a_failed_load_of_an_artifact_is_a_typed_error() {
    let (_, session) = fixture(json!({})).await;
    let invocation = Invocation::new(&session).with_artifacts(Files::default());
    let context = invocation.readonly_context("a");
    let error = context.load_artifact("broken", None).await.unwrap_err();
    assert_eq!(error.code(), "storage_failed");
    assert!(!error.to_string().contains("token"));
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "token=1");
    assert!(matches!(context.list_artifacts().await, Err(Error::Artifact { place: None, .. })));
    let bare = Invocation::new(&session);
    let mut context = bare.context("a");
    let refused = context.save_artifact("a", json!({})).await.unwrap_err();
    assert_eq!(refused.code(), "artifact_service_missing");
    let refused = inject_session_state("{artifact.a?}", &context).await.unwrap_err();
    assert_eq!(refused.code(), "artifact_service_missing");
}
