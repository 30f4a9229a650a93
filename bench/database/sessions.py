"""Times google-adk's DatabaseSessionService on the database whose URL is the first argument.

Reads lines, each with one request:
  {"append": events, "session": id of a new session}
  {"continue": key of a stored session, "events": events}
  {"at_once": events of each session, "app": name}
  {"read": key, "count": number of events}
Prints for each line a list with the milliseconds of its calls.
"""

import asyncio
import json
import logging
import sys
import time
import warnings

from google.adk.events.event import Event
from google.adk.sessions import DatabaseSessionService
from google.adk.sessions.base_session_service import GetSessionConfig

warnings.simplefilter('ignore')
logging.disable()


async def time_of(call):
  start = time.perf_counter()
  result = await call
  return (time.perf_counter() - start) * 1000, result


async def new_session(service, app, id):
  key = {'app_name': app, 'user_id': 'user', 'session_id': id}
  await service.create_session(**key)
  return await service.get_session(**key)


async def append(service, session, events):
  times = []
  for given in events:
    event = Event.model_validate(given)
    event.timestamp = time.time()
    taken, _ = await time_of(service.append_event(session, event))
    times.append(taken)
  return times


async def append_at_once(service, app, histories):
  sessions = [await new_session(service, app, str(n)) for n in range(len(histories))]
  appends = [append(service, *each) for each in zip(sessions, histories)]
  taken, _ = await time_of(asyncio.gather(*appends))
  return [taken]


async def read(service, key, count):
  taken, session = await time_of(service.get_session(**key))
  assert len(session.events) == count, len(session.events)
  return [taken]


async def main(url):
  service = DatabaseSessionService(url)
  for line in sys.stdin:
    request = json.loads(line)
    if 'append' in request:
      session = await new_session(service, 'python', request['session'])
      times = await append(service, session, request['append'])
    elif 'continue' in request:
      config = GetSessionConfig(num_recent_events=0)
      session = await service.get_session(**request['continue'], config=config)
      times = await append(service, session, request['events'])
    elif 'at_once' in request:
      times = await append_at_once(service, request['app'], request['at_once'])
    else:
      times = await read(service, request['read'], request['count'])
    print(json.dumps(times), flush=True)
  await service.close()


asyncio.run(main(sys.argv[1]))
