"""Agents whose model does what the user's message says. tests/interop/runs/scripted_agents.ts has the same in TypeScript."""

import asyncio
import json

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.tools import FunctionTool, LongRunningFunctionTool, ToolContext

# How many replies of each script were given.
given = {}


class Scripted(BaseLlm):

  async def generate_content_async(self, llm_request, stream=False):
    texts = [part.text or '' for content in llm_request.contents for part in content.parts or []]
    script = [text for text in texts if text.startswith('{"replies"')][-1]
    index = given.get(script, 0)
    given[script] = index + 1
    for step in json.loads(script)['replies'][index]:
      if 'wait' in step:
        await asyncio.sleep(step['wait'])
      elif 'fail' in step:
        raise RuntimeError(step['fail'])
      elif stream or not step.get('partial'):
        yield LlmResponse.model_validate(step)


def buy(n: int, tool_context: ToolContext):
  """Buys."""
  tool_context.state[f'bought_{n}'] = True
  return {'bought': n}


def pay(n: int):
  """Pays."""
  return {'paid': n}


def order(n: int):
  """Orders."""
  return {'status': 'pending'}


def lose():
  """Fails."""
  raise RuntimeError('no tea left')


async def wait(n: int):
  """Waits."""
  await asyncio.sleep(n)
  return {'waited': n}


def fail_if_lost(callback_context):
  if callback_context.state.get('lost'):
    raise RuntimeError('lost')


helper = LlmAgent(name='helper', description='Helps.', model=Scripted(model='scripted'))

root_agent = LlmAgent(
    name='guide',
    model=Scripted(model='scripted'),
    tools=[buy, FunctionTool(pay, require_confirmation=True), LongRunningFunctionTool(order), lose, wait],
    sub_agents=[helper],
    before_agent_callback=fail_if_lost,
)
