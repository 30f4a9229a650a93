"""Times google-adk's DatabaseSessionService on the database whose URL is the first argument.

Reads lines: {"append": events, "session": id of a new session} or {"read": key, "count": number of events}. Prints
for each line a list with the milliseconds of its calls.
"""

import asyncio
import json
import logging
import sys
import time
import warnings

from google.adk.events.event import Event
from google.adk.sessions import DatabaseSessionService

warnings.simplefilter('ignore')
logging.disable()


async def time_of(call):
  start = time.perf_counter()
  result = await call
  return (time.perf_counter() - start) * 1000, result


async def append(service, events, id):
  key = {'app_name': 'python', 'user_id': 'user', 'session_id': id}
  await service.create_session(**key)
  session = await service.get_session(**key)
  times = []
  for given in events:
    event = Event.model_validate(given)
    event.timestamp = time.time()
    taken, _ = await time_of(service.append_event(session, event))
    times.append(taken)
  return times


async def read(service, key, count):
  taken, session = await time_of(service.get_session(**key))
  assert len(session.events) == count, len(session.events)
  return [taken]


async def main(url):
  service = DatabaseSessionService(url)
  for line in sys.stdin:
    request = json.loads(line)
    if 'append' in request:
      times = await append(service, request['append'], request['session'])
    else:
      times = await read(service, request['read'], request['count'])
    print(json.dumps(times), flush=True)
  await service.close()


asyncio.run(main(sys.argv[1]))
