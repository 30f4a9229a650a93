"""Times google-adk's DatabaseSessionService on the database whose URL is the first argument.

Reads lines, each {"append": [events]} or {"read": key}, and prints for each the milliseconds that its calls took,
one after the other, as a list. Events go to one session, which is got anew for each line.
"""

import asyncio
import gc
import json
import logging
import sys
import time
import warnings

from google.adk.events.event import Event
from google.adk.sessions import DatabaseSessionService

warnings.simplefilter('ignore')
logging.disable()

KEY = {'app_name': 'python', 'user_id': 'user', 'session_id': 'appended'}


async def time_of(call):
  start = time.perf_counter()
  result = await call
  return (time.perf_counter() - start) * 1000, result


async def append(service, events):
  session = await service.get_session(**KEY)
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
  await service.create_session(**KEY)
  for line in sys.stdin:
    request = json.loads(line)
    gc.collect()
    if 'append' in request:
      answer = await append(service, request['append'])
    else:
      answer = await read(service, request['read'], request['count'])
    print(json.dumps(answer), flush=True)
  await service.close()


asyncio.run(main(sys.argv[1]))
