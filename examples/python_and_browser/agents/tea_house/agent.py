"""The host of a tea house. Without a key of a model, a scripted one answers."""

import asyncio
import os

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.genai import types


class Scripted(BaseLlm):
  """Answers with its instruction, in pieces if it is asked for a stream."""

  async def generate_content_async(self, llm_request, stream=False):
    text = str(llm_request.config.system_instruction).split('\n')[0]
    if stream:
      for word in text.split(' '):
        await asyncio.sleep(0.05)
        yield self._response(word + ' ', partial=True)
    yield self._response(text)

  def _response(self, text, partial=None):
    content = types.Content(role='model', parts=[types.Part(text=text)])
    return LlmResponse(content=content, partial=partial)


def pour(callback_context):
  """Counts the cups of this guest, over all sessions."""
  state = callback_context.state
  state['user:cups'] = state.get('user:cups', 0) + 1


root_agent = LlmAgent(
    name='tea_house',
    model='gemini-2.5-flash' if os.environ.get('GOOGLE_API_KEY') else Scripted(model='scripted'),
    instruction='Offer cup number {user:cups} of tea.',
    before_agent_callback=pour,
)
