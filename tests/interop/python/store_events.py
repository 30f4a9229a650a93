"""Stores events with google-adk's DatabaseSessionService in a new SQLite file, the first argument.

Reads lines, each an event's JSON as Python's API takes it, in seconds. Prints a line for each: what then stands in its row.
"""

import asyncio
import json
import logging
import sqlite3
import sys
import warnings

from google.adk.events.event import Event
from google.adk.sessions import DatabaseSessionService

warnings.simplefilter('ignore')
logging.disable()


async def main(path):
  service = DatabaseSessionService(f'sqlite+aiosqlite:///{path}')
  session = await service.create_session(app_name='app', user_id='user', session_id='s')
  ids = []
  for line in sys.stdin:
    event = Event.model_validate(json.loads(line))
    ids.append((await service.append_event(session, event)).id)
  await service.close()
  rows = sqlite3.connect(path).execute('SELECT id, invocation_id, event_data FROM events')
  by_id = {row[0]: row for row in rows}
  for id in ids:
    _, invocation_id, event_data = by_id[id]
    print(json.dumps({'id': id, 'invocationId': invocation_id, 'eventData': event_data}))


asyncio.run(main(sys.argv[1]))
