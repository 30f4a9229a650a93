"""Shows what google-adk keeps of histories.

Reads lines, each {"events": [...], "contexts": [{"agentName", "branch", "isolationScope"}]} with times in seconds. Prints
for each line {"transcript": ids, "summarised": ids, "model": ids, "contexts": [{"ids", "texts"}]}.

"transcript" is `_apply_rewinds` without markers. "contexts" are the events that `_get_contents` keeps for an agent, and
the texts that the model gets of them. "model" applies Python's compaction once for all agents: only compactions
without branch and scope count, and only events with content and without scope are hidden. Calls without a response and
responses without a call are dropped; a response belongs to the last call of its id before it. What an agent said between
two responses to its call stays, since Python leaves it out for that agent alone. A summary's id is that of its
compaction behind "adk-view:".
"""

import json
import logging
import sys
import warnings

from google.adk.events._rewind_events import _apply_rewinds
from google.adk.events.event import Event
from google.adk.flows.llm_flows.context import _contents
from google.adk.flows.llm_flows.context._compaction import _process_compaction_events
from google.adk.flows.llm_flows.context._compaction import _recover_compacted_function_calls
from google.adk.flows.llm_flows.tools._rearranger import drop_orphaned_function_calls
from google.adk.flows.llm_flows.tools._rearranger import drop_orphaned_function_responses

warnings.simplefilter('ignore')
logging.disable()


def id_of(event, events):
  if not event.actions.compaction:
    return event.id
  return 'adk-view:' + next(e.id for e in events if e.actions is event.actions)


def shown_part(part):
  if part.function_call:
    return f'call {part.function_call.name} {part.function_call.id}'
  if part.function_response:
    return f'response {part.function_response.name} {part.function_response.id}'
  return part.text


def contents(events, agent_name, branch=None, isolation_scope=None):
  kept = []
  is_other = _contents._is_other_agent_reply

  def recording(name, event):
    # _get_contents asks this once of each event that is left after rewinds, filters and compaction.
    kept.append(id_of(event, events))
    return is_other(name, event)

  _contents._is_other_agent_reply = recording
  try:
    made = _contents._get_contents(branch, events, agent_name, isolation_scope=isolation_scope, preserve_function_call_ids=True)
    texts = [f'{content.role}: ' + ' | '.join(shown_part(part) for part in content.parts) for content in made]
  except ValueError:
    texts = None
  finally:
    _contents._is_other_agent_reply = is_other
  return {'ids': kept, 'texts': texts}


def counts(event):
  """Whether a compaction counts for all agents, or an event can be hidden by one."""
  if event.isolation_scope:
    return False
  return not event.branch if event.actions.compaction else bool(event.content)


def is_question(event):
  return any(call.name.startswith('adk_request_') for call in event.get_function_calls())


def with_own_ids(events):
  """Copies of events in which no id is used again: Python gives one response to all calls of its id."""
  copies = [event.model_copy(deep=True) for event in events]
  counts_of = {}
  own = lambda name: f'{name}#{counts_of.get(name, 0)}'
  for event in copies:
    for response in event.get_function_responses():
      response.id = response.id and own(response.id)
    for call in event.get_function_calls():
      if not call.id:
        continue
      counts_of[call.id] = counts_of.get(call.id, 0) + 1
      is_long_running = call.id in (event.long_running_tool_ids or ())
      call.id = own(call.id)
      if is_long_running:
        event.long_running_tool_ids.add(call.id)
  return copies


def answer(events, contexts):
  live = _apply_rewinds(events)
  transcript = [event for event in live if not event.actions.compaction]
  counted = [event for event in live if counts(event)]
  kept = _process_compaction_events(counted)
  hidden = {event.id for event in counted} - {event.id for event in kept}
  others = {id(event) for event in transcript if not counts(event)}
  # Events that cannot be hidden keep their places in the order of time.
  at = {id(event): (event.timestamp, i) for i, event in enumerate(live)}
  at |= {id(made): (made.timestamp, next(i for i, e in enumerate(live) if e.actions is made.actions)) for made in kept if made.actions.compaction}
  whole = sorted(kept + [event for event in transcript if id(event) in others], key=lambda event: at[id(event)])
  model = _recover_compacted_function_calls(whole, live) if any(event.actions.compaction for event in counted) else transcript
  recovered = {event.id for event in model}
  owned = with_own_ids(model)
  paired = {event.id for event in drop_orphaned_function_calls(drop_orphaned_function_responses(owned))}
  # Python drops the framework's questions before it looks for calls without a response.
  model = [event for event in model if event.id in paired or is_question(event)]
  return {
      'transcript': [event.id for event in transcript],
      'summarised': [event.id for event in transcript if event.id in hidden and event.id not in recovered],
      'model': [id_of(event, events) for event in model],
      'contexts': [contents(events, *context) for context in contexts],
  }


for line in sys.stdin:
  given = json.loads(line)
  events = [Event.model_validate(event) for event in given['events']]
  contexts = [(c['agentName'], c.get('branch'), c.get('isolationScope')) for c in given['contexts']]
  print(json.dumps(answer(events, contexts)))
