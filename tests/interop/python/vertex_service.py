"""google-adk's VertexAiSessionService, for a server of this machine in the cloud's place."""

import os

import agentplatform
from google.adk.sessions import VertexAiSessionService
from google.oauth2.credentials import Credentials

PROJECT, LOCATION, ENGINE = 'my-project', 'us-central1', '123'


class LocalService(VertexAiSessionService):
  """As google-adk has it but for where its requests go, and with a token that no one has to be asked for."""

  def __init__(self, url, key):
    self._url = url
    if key:
      os.environ['GOOGLE_GENAI_USE_ENTERPRISE'] = 'true'
      super().__init__(agent_engine_id=ENGINE, express_mode_api_key=key)
    else:
      super().__init__(PROJECT, LOCATION, ENGINE)

  def _build_api_client(self):
    options = {'base_url': self._url}
    if self._express_mode_api_key:
      return agentplatform.Client(api_key=self._express_mode_api_key, http_options=options).aio
    credentials = Credentials(token='a-token')
    return agentplatform.Client(
        project=PROJECT, location=LOCATION, credentials=credentials, http_options=options
    ).aio

  async def close(self):
    pass


def vertex_service(url):
  """A key before the @ is one for express mode."""
  scheme, _, rest = url.partition('://')
  key, _, host = rest.rpartition('@')
  return LocalService(f'{scheme}://{host}', key)
