"""Reads lines, each a template. Prints what google-adk makes of it, or the name of its exception.

Takes the state and the artifacts as JSON arguments.
"""

import asyncio
import json
import logging
import sys
from types import SimpleNamespace

from google.adk.utils.instructions_utils import inject_session_state
from google.genai.types import Part

logging.disable()
state, artifacts = (json.loads(argument) for argument in sys.argv[1:])


class Artifacts:

  async def load_artifact(self, *, filename, **_):
    artifact = artifacts.get(filename)
    return None if artifact is None else Part.model_validate(artifact)


session = SimpleNamespace(id='s', app_name='app', user_id='u', state=state)
invocation = SimpleNamespace(session=session, artifact_service=Artifacts())
context = SimpleNamespace(_invocation_context=invocation, agent_name='agent')


async def main():
  for line in sys.stdin:
    try:
      answer = await inject_session_state(json.loads(line), context)
    except Exception as error:  # its name is compared
      answer = {'message': type(error).__name__}
    print(json.dumps(answer))


asyncio.run(main())
