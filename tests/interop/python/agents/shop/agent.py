"""An agent for `adk api_server` that needs no model: it says what it was told, and writes all scopes."""

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.genai import types


class Echo(BaseLlm):
  """Answers with its instruction, and how many contents it was given."""

  async def generate_content_async(self, llm_request, stream=False):
    told = str(llm_request.config.system_instruction).split('\n')[0]
    text = f'{told} ({len(llm_request.contents)})'
    yield LlmResponse(content=types.Content(role='model', parts=[types.Part(text=text)]))


def count(callback_context):
  state = callback_context.state
  for key in ('turns', 'user:turns', 'app:turns'):
    state[key] = state.get(key, 0) + 1
  state['temp:started'] = True


root_agent = LlmAgent(
    name='shop',
    model=Echo(model='echo'),
    instruction='Serve {user:name} {topic} for {app:currency}.',
    output_key='answer',
    before_agent_callback=count,
)
