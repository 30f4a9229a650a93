"""Reads lines, each a row's [id, invocation_id, event_data], as both of google-adk's services on SQL do.

Prints a line for each: {"event": what Python would write of it} or {"error": why it cannot be read}.
"""

import datetime
import json
import logging
import sys
import warnings

from google.adk.events.event import Event
from google.adk.sessions.schemas.v1 import StorageEvent

warnings.simplefilter('ignore')
logging.disable()


def read(row):
  id, invocation_id, event_data = row
  event = StorageEvent(
      id=id,
      invocation_id=invocation_id,
      timestamp=datetime.datetime(2000, 1, 1),
      event_data=json.loads(event_data),
  ).to_event()
  # The other service knows the text alone, and has a parser of its own.
  alone = Event.model_validate_json(event_data)
  assert alone.id == id and alone.invocation_id == invocation_id, (alone.id, alone.invocation_id)
  # Where a database keeps times, a year ends at 9999.
  datetime.datetime.fromtimestamp(event.timestamp, datetime.timezone.utc)
  return event.model_dump(exclude_none=True, mode='json')


for line in sys.stdin:
  try:
    answer = {'event': read(json.loads(line))}
  except Exception as error:  # whatever it is, the session could not be read
    answer = {'error': str(error)}
  print(json.dumps(answer))
