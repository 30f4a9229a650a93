"""Two agents in a sequence. Each asks a model that does what the user's message says."""

from google.adk.agents import LlmAgent, SequentialAgent
from scripted.agent import Scripted

root_agent = SequentialAgent(
    name='sequence',
    sub_agents=[LlmAgent(name=name, model=Scripted(model='scripted')) for name in ('first', 'second')],
)
