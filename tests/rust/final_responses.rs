//! Final responses, in cases that `tests/js/values/model/event.test.ts` shares.

use adk_session::Event;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    name: String,
    event: Event,
    is_final: bool,
    text: Option<String>,
}

#[test]
fn final_responses_are_those_of_the_shared_cases() {
    let cases: Vec<Case> =
        serde_json::from_str(include_str!("../vectors/final_response.json")).unwrap();
    assert!(cases.len() >= 15);
    for Case { name, event, is_final, text } in cases {
        assert_eq!(event.is_final_response(), is_final, "{name}");
        assert_eq!(event.final_response_text(), text, "{name}");
    }
}
