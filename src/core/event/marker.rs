//! Which new events may be markers. `mayBeMarker` of `js/values/model/event/snapshot.ts` says it of parsed events;
//! `tests/vectors/markers.json` compares the two.

use crate::core::json::{read_text, split_object};

/// What an event's members tell.
#[derive(Default)]
struct Traits {
    is_marker: bool,
    is_by_user: bool,
    is_abort: bool,
    /// Whether it has a call that may wait for an answer.
    has_waiting_call: bool,
    has_response: bool,
}

/// Whether this JSON value is google-adk's error code of an event that ends a cancelled run.
pub(super) fn is_abort_code(value: &str) -> bool {
    value == "\"INVOCATION_ABORTED\""
}

/// Whether the event with this text may be a marker: a rewind or a compaction, or an event that decides
/// what waits for an answer. A text that is no event is none.
///
/// It may also be true for an event that only mentions what it looks for.
pub(super) fn may_be_marker(event: &str) -> bool {
    let mut traits = Traits::default();
    let split = split_object("event", event, &mut |name, value| match name {
        "author" => traits.is_by_user = read_text(value).as_deref() == Some("user"),
        "errorCode" => traits.is_abort = is_abort_code(value),
        "isCompacted" => traits.is_marker = true,
        "longRunningToolIds" => traits.has_waiting_call |= value.contains('"'),
        "content" => {
            traits.has_waiting_call |= value.contains("\"adk_request_");
            traits.has_response = value.contains("\"functionResponse\"");
        }
        "actions" => {
            let _is_object = split_object("event", value, &mut |name, value| match name {
                "rewindBeforeInvocationId" | "compaction" => traits.is_marker = true,
                "agentState" => traits.is_marker |= value.contains("\"nodes\""),
                "endOfAgent" => traits.is_marker |= value == "true",
                _ => {}
            });
        }
        _ => {}
    });
    let Traits { is_marker, is_by_user, is_abort, has_waiting_call, has_response } = traits;
    let closes_calls = (is_by_user || is_abort) && has_response;
    split.is_ok() && (is_marker || closes_calls || has_waiting_call && !is_by_user)
}
