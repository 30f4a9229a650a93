"""An agent that does what the user's message says: a JSON list of steps."""

import asyncio
import base64
import json
import time

from google.adk.agents import BaseAgent
from google.adk.events import Event, EventActions
from google.genai import types


def part_of(name, data):
  if not name.endswith('.png'):
    return types.Part(text=data)
  return types.Part.from_bytes(data=base64.urlsafe_b64decode(data), mime_type='image/png')


class Script(BaseAgent):

  async def _run_async_impl(self, ctx):
    for step in json.loads(ctx.user_content.parts[0].text):
      if 'wait' in step:
        await asyncio.sleep(step['wait'])
      if 'fail' in step:
        raise RuntimeError(step['fail'])
      if 'say' not in step:
        continue
      saved = {}
      for name, data in step.get('save', {}).items():
        saved[name] = await ctx.artifact_service.save_artifact(
            app_name=ctx.app_name,
            user_id=ctx.user_id,
            session_id=ctx.session.id,
            filename=name,
            artifact=part_of(name, data),
        )
      yield Event(
          id=step.get('id', Event.new_id()),
          invocation_id=ctx.invocation_id,
          author=self.name,
          content=types.Content(role='model', parts=[types.Part(text=step['say'])]),
          partial=step.get('partial'),
          timestamp=time.time() - step.get('behind', 0),
          actions=EventActions(
              state_delta=step.get('state', {}),
              artifact_delta={**step.get('artifacts', {}), **saved},
          ),
      )


root_agent = Script(name='script')
