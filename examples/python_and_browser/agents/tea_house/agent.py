"""The host of a tea house. Without a key of a model, a scripted one answers."""

import asyncio
import os

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.tools import FunctionTool
from google.genai import types


class Scripted(BaseLlm):
  """Answers with its instruction, in pieces if it is asked for a stream. Calls the tool if it reads "order"."""

  async def generate_content_async(self, llm_request, stream=False):
    last = llm_request.contents[-1].parts[-1]
    if 'order' in (last.text or '').lower():
      yield self._response(types.Part(function_call=types.FunctionCall(name='order', args={})))
      return
    text = str(llm_request.config.system_instruction).split('\n')[0]
    if last.function_response:
      text = f"The kitchen says: {last.function_response.response.get('result', 'no order')}."
    if stream:
      for word in text.split(' '):
        await asyncio.sleep(0.05)
        yield self._response(types.Part(text=word + ' '), partial=True)
    yield self._response(types.Part(text=text))

  def _response(self, part, partial=None):
    return LlmResponse(content=types.Content(role='model', parts=[part]), partial=partial)


def order() -> str:
  """Orders a pot of tea."""
  return 'a pot of tea'


def pour(callback_context):
  """Counts the cups of this guest, over all sessions."""
  state = callback_context.state
  state['user:cups'] = state.get('user:cups', 0) + 1


root_agent = LlmAgent(
    name='tea_house',
    model='gemini-2.5-flash' if os.environ.get('GOOGLE_API_KEY') else Scripted(model='scripted'),
    instruction='Offer cup number {user:cups} of tea.',
    tools=[FunctionTool(order, require_confirmation=True)],
    before_agent_callback=pour,
)
