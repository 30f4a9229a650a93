//! Which events google-adk for Python shows to one agent: `_should_include_event_in_context` and its
//! parts. TypeScript has the same filter in `js/core/history/agent_filter.ts`; `tests/vectors/history.json` compares both.

use std::collections::HashSet;

use serde_json::Value;

use crate::core::event::Event;
use crate::history::marks::compaction_of;
use crate::history::members::{is_filled, node_path, text};

/// The agent that reads a history.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HistoryReader {
    /// The agent's name.
    pub agent_name: String,
    /// The branch that the agent runs on, like `root.child`. `None`: events of all branches count.
    pub branch: Option<String>,
    /// The isolation scope of the agent's task: only events of that scope count. `None`: only events
    /// without one.
    pub isolation_scope: Option<String>,
}

/// Function calls of the framework itself, which no model sees.
const INTERNAL_CALLS: [&str; 3] =
    ["adk_framework", "adk_request_credential", "adk_request_confirmation"];

/// Says which events an agent reads. Rewinds and compactions are not considered.
pub(super) struct AgentFilter<'a> {
    reader: &'a HistoryReader,
    path: Vec<&'a str>,
    call_ids: HashSet<&'a str>,
}

impl<'a> AgentFilter<'a> {
    pub(super) fn new(events: &[&'a Event], reader: &'a HistoryReader) -> Self {
        let parts = events.iter().flat_map(|event| event.parts());
        let call_ids = parts.filter_map(|part| text(part.get("functionCall")?.get("id")));
        let path = segments(reader.branch.as_deref());
        Self { reader, path, call_ids: call_ids.collect() }
    }

    pub(super) fn reads(&self, event: &Event) -> bool {
        let scope = event.other.get("isolationScope").filter(|scope| !scope.is_null());
        if scope.map(Value::as_str) != self.reader.isolation_scope.as_deref().map(Some) {
            return false;
        }
        let parts = event.parts();
        let is_node_input = event.author == "user"
            && node_path(event).is_some()
            && !parts.iter().any(|part| is_given(part, "functionResponse"));
        if is_node_input || is_empty(event) || parts.iter().any(is_internal) {
            return false;
        }
        let path = segments(event.branch.as_deref());
        if !self.path.is_empty() && !self.path.starts_with(&path) {
            return false;
        }
        let below = path.strip_prefix(self.path.as_slice()).unwrap_or_default();
        !below.iter().any(|segment| self.is_tool_run(segment))
    }

    /// Whether a segment is the branch of a tool's run, `TOOL@CALL_ID`. A tool publishes its progress there.
    /// The model only gets its response.
    fn is_tool_run(&self, segment: &str) -> bool {
        segment.rsplit_once('@').is_some_and(|(tool, call_id)| {
            tool != self.reader.agent_name && self.call_ids.contains(call_id)
        })
    }
}

fn segments(branch: Option<&str>) -> Vec<&str> {
    branch
        .filter(|branch| !branch.is_empty())
        .map_or_else(Vec::new, |branch| branch.split('.').collect())
}

/// Whether a member of a part is there and says something.
fn is_given(part: &Value, name: &str) -> bool {
    let value = part.get(name);
    is_filled(value) && value.is_some_and(|value| *value != false && *value != 0)
}

fn is_empty(event: &Event) -> bool {
    let is_transcription = |name: &&str| is_filled(event.other.get(*name));
    if compaction_of(event).is_some()
        || ["inputTranscription", "outputTranscription"].iter().any(is_transcription)
    {
        return false;
    }
    let role = event.content.as_ref().and_then(|content| content.get("role"));
    !is_filled(role) || event.parts().iter().all(is_invisible)
}

fn is_invisible(part: &Value) -> bool {
    const ALWAYS: [&str; 5] =
        ["functionCall", "functionResponse", "thoughtSignature", "toolCall", "toolResponse"];
    const BESIDES_THOUGHTS: [&str; 5] =
        ["text", "inlineData", "fileData", "executableCode", "codeExecutionResult"];
    let has = |name: &&str| is_given(part, name);
    let is_thought = part.get("thought").is_some_and(|thought| *thought == true);
    !ALWAYS.iter().any(has) && (is_thought || !BESIDES_THOUGHTS.iter().any(has))
}

fn is_internal(part: &Value) -> bool {
    ["functionCall", "functionResponse"].iter().any(|kind| {
        let name = text(part.get(*kind).and_then(|call| call.get("name")));
        name.is_some_and(|name| INTERNAL_CALLS.contains(&name))
    })
}
