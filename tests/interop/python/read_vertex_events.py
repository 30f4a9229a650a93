"""Reads events of Agent Engine as google-adk's VertexAiSessionService does.

Each line is a SessionEvent of the API as JSON; prints {"event": what it is} or {"error": what is wrong with it}.
"""

import json
import logging
import sys
import warnings

from agentplatform._genai import types
from google.adk.sessions.vertex_ai_session_service import _from_api_event

warnings.simplefilter('ignore')
logging.disable()


def read(resource):
  answer = {'sessionEvents': [resource]}
  listed = types.ListRuntimeSessionEventsResponse._from_response(response=answer, kwargs={})
  [event] = listed.session_events
  return _from_api_event(event).model_dump(mode='json', by_alias=True, exclude_none=True)


for line in sys.stdin:
  try:
    shown = {'event': read(json.loads(line))}
  except Exception as error:  # the test says that there are none
    shown = {'error': f'{type(error).__name__}: {error}'}
  print(json.dumps(shown), flush=True)
