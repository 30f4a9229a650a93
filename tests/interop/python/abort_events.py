"""Ends runs as google-adk does.

Reads lines, each {"events": [...], "invocationId": id} with times in seconds. Prints for each line the events of
`_build_abort_events`, without ids, times and defaults.
"""

import json
import sys

from google.adk.events._abort_events import _build_abort_events
from google.adk.events.event import Event

for line in sys.stdin:
  given = json.loads(line)
  events = [Event.model_validate(event) for event in given['events']]
  ended = _build_abort_events(
      events, invocation_id=given['invocationId'], root_agent_name='root', branch=None
  )
  dumps = [event.model_dump(mode='json', by_alias=True, exclude_none=True) for event in ended]
  print(json.dumps([{k: v for k, v in dump.items() if k not in ('id', 'timestamp', 'actions', 'nodeInfo')} for dump in dumps]))
