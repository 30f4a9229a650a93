"""Calls google-adk's DatabaseSessionService, its SqliteSessionService or its VertexAiSessionService.

Reads lines, each a call as JSON, and prints its result, or {"error": the name of its exception}. "open" takes the
URL of the database, or of the server, that the calls after it are for, which says the service as well, as with the
adk command. A session that was created or got stays loaded, as with an agent at work, and is appended to as it was then.
"""

import asyncio
import datetime
import json
import logging
import sys
import warnings

from google.adk.events.event import Event
from google.adk.sessions import DatabaseSessionService
from google.adk.sessions.base_session_service import GetSessionConfig
from google.adk.sessions.sqlite_session_service import SqliteSessionService

warnings.simplefilter('ignore')
logging.disable()


def shown(session):
  if session is None:
    return None
  dumped = session.model_dump(mode='json', by_alias=True, exclude_none=True)
  # What google-adk itself tells by whether the session was changed: SqliteSessionService by the time as it is.
  updated = datetime.datetime.fromtimestamp(session.last_update_time, datetime.timezone.utc)
  marker = updated.replace(tzinfo=None).isoformat(timespec='microseconds')
  return {**dumped, 'marker': session._storage_update_marker or marker}


def service_for(url):
  if url.startswith('http:'):
    # Loaded where it is used: it takes as long as all the rest.
    from vertex_service import vertex_service

    return vertex_service(url)
  return SqliteSessionService(url) if url.startswith('sqlite:') else DatabaseSessionService(url)


async def run(service, app_name, user_id, session_id, text):
  """One turn of the agent that `adk api_server` is given, too."""
  from agents.shop import agent
  from google.adk import Runner
  from google.genai import types

  runner = Runner(app_name=app_name, agent=agent.root_agent, session_service=service)
  message = types.Content(role='user', parts=[types.Part(text=text)])
  turn = runner.run_async(user_id=user_id, session_id=session_id, new_message=message)
  async for _ in turn:
    pass


async def main():
  service = loaded = None
  for line in sys.stdin:
    call, given = json.loads(line)
    try:
      if call == 'open':
        if service:
          await service.close()
        service, loaded = service_for(given), None
      elif call == 'create':
        # As text it may hold numbers that only Python has.
        if isinstance(given.get('state'), str):
          given['state'] = json.loads(given['state'])
        loaded = await service.create_session(**given)
      elif call == 'get':
        if isinstance(given.get('config'), dict):
          given['config'] = GetSessionConfig(**given['config'])
        loaded = await service.get_session(**given)
      elif call == 'list':
        listed = await service.list_sessions(**given)
        print(json.dumps([shown(session) for session in listed.sessions]), flush=True)
        continue
      elif call == 'run':
        text = given.pop('text')
        await run(service, text=text, **given)
        loaded = await service.get_session(**given)
      elif call == 'delete':
        await service.delete_session(**given)
        loaded = None
      elif call == 'append':
        await service.append_event(loaded, Event.model_validate(given))
      elif call == 'append all':
        # One after the other, without waiting for whoever asks.
        for event in given:
          await service.append_event(loaded, Event.model_validate(event))
      answer = shown(loaded)
    except Exception as error:  # the test says which are expected
      answer = {'error': type(error).__name__, 'message': str(error)}
    print(json.dumps(answer), flush=True)
  if service:
    await service.close()


asyncio.run(main())
