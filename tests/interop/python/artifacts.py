"""Answers calls of google-adk's FileArtifactService over a folder, the first argument.

Reads lines `[method, arguments]`, in Python's names. Prints a line for each: what the method returns, or `{"error": NAME}`.
`ask` lets a Runner over the database `url` answer a message, whose model loads the file `filename`: the parts that the model
got then.
"""

import asyncio
import json
import logging
import sys

from google.adk import Runner
from google.adk.agents import LlmAgent
from google.adk.artifacts import FileArtifactService
from google.adk.models import BaseLlm, LlmResponse
from google.adk.sessions import DatabaseSessionService
from google.adk.tools import load_artifacts
from google.genai import types

logging.disable()


def printable(value):
  if isinstance(value, list):
    return [printable(each) for each in value]
  if hasattr(value, 'model_dump'):
    return value.model_dump(mode='json', by_alias=True, exclude_none=True)
  return value


class Loader(BaseLlm):
  """Loads a file, then answers. Keeps the contents of its last request."""

  filename: str
  contents: list = []

  async def generate_content_async(self, llm_request, stream=False):
    self.contents = llm_request.contents
    has_loaded = any(part.function_response for content in self.contents for part in content.parts)
    call = types.FunctionCall(name='load_artifacts', args={'artifact_names': [self.filename]})
    part = types.Part(text='Seen') if has_loaded else types.Part(function_call=call)
    yield LlmResponse(content=types.Content(role='model', parts=[part]))


async def ask(artifact_service, app_name, user_id, session_id, url, filename):
  model = Loader(model='loader', filename=filename)
  agent = LlmAgent(name='guide', model=model, tools=[load_artifacts])
  async with DatabaseSessionService(url) as session_service:
    services = {'session_service': session_service, 'artifact_service': artifact_service}
    runner = Runner(app_name=app_name, agent=agent, **services)
    message = types.Content(role='user', parts=[types.Part(text='What is on it?')])
    async for _ in runner.run_async(user_id=user_id, session_id=session_id, new_message=message):
      pass
  return [part for content in model.contents for part in content.parts]


async def main(folder):
  service = FileArtifactService(folder)
  for line in sys.stdin:
    method, arguments = json.loads(line)
    if 'artifact' in arguments:
      arguments['artifact'] = types.Part.model_validate(arguments['artifact'])
    try:
      work = ask(service, **arguments) if method == 'ask' else getattr(service, method)(**arguments)
      answer = printable(await work)
    except Exception as error:  # its name is the answer
      answer = {'error': type(error).__name__}
    print(json.dumps(answer), flush=True)


asyncio.run(main(sys.argv[1]))
