"""Conversations of google-adk's Runner on a database, with a model that shows what it is asked.

Reads lines, each a call as JSON, and prints its result: ["open", URL], ["say", text, compacts] → the texts of the
request that reached the model, and the invocation; ["rewind", invocation id]. With `compacts` the Runner summarises the
history after the turn.
"""

import asyncio
import json
import logging
import sys
import warnings

from google.adk import Runner
from google.adk.agents import LlmAgent
from google.adk.apps.app import App
from google.adk.apps.app import EventsCompactionConfig
from google.adk.apps.llm_event_summarizer import LlmEventSummarizer
from google.adk.models import BaseLlm, LlmResponse
from google.adk.sessions import DatabaseSessionService
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.genai import types

warnings.simplefilter('ignore')
logging.disable()

KEY = {'user_id': 'u', 'session_id': 's'}


class Recorder(BaseLlm):
  """Answers with the last text that it was told, and keeps the texts of its last request."""

  texts: list = []

  async def generate_content_async(self, llm_request, stream=False):
    self.texts = [part.text for content in llm_request.contents for part in content.parts if part.text]
    yield LlmResponse(content=types.Content(role='model', parts=[types.Part(text=f'answer to {self.texts[-1]}')]))


class Summarizer(BaseLlm):

  async def generate_content_async(self, llm_request, stream=False):
    yield LlmResponse(content=types.Content(role='model', parts=[types.Part(text='SUM')]))


def runner_of(service, model, compacts):
  config = None
  if compacts:
    summarizer = LlmEventSummarizer(llm=Summarizer(model='summarizer'))
    config = EventsCompactionConfig(summarizer=summarizer, compaction_interval=1, overlap_size=9)
  agent = LlmAgent(name='root', model=model, instruction='Talk.', output_key='last')
  return Runner(app=App(name='app', root_agent=agent, events_compaction_config=config), session_service=service)


async def say(service, text, compacts):
  model = Recorder(model='recorder')
  invocation = None
  message = types.Content(role='user', parts=[types.Part(text=text)])
  async for event in runner_of(service, model, compacts).run_async(**KEY, new_message=message):
    invocation = event.invocation_id
  return {'texts': model.texts, 'invocationId': invocation}


async def main():
  service = None
  for line in sys.stdin:
    call, *given = json.loads(line)
    answer = None
    if call == 'open':
      if service:
        await service.close()
      [url] = given
      service = SqliteSessionService(url) if url.startswith('sqlite:') else DatabaseSessionService(url)
      await service.create_session(app_name='app', **KEY, state={'initial': 1})
    elif call == 'say':
      answer = await say(service, *given)
    elif call == 'rewind':
      runner = runner_of(service, Recorder(model='recorder'), False)
      await runner.rewind_async(**KEY, rewind_before_invocation_id=given[0])
    print(json.dumps(answer), flush=True)
  if service:
    await service.close()


asyncio.run(main())
