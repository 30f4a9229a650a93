// The VertexAiSessionService of @google/adk, for a server of this machine in the cloud's place.

import { createRequire } from 'node:module';

import { Sessions } from '@google-cloud/vertexai/build/src/genai/sessions.js';
import { createEvent, VertexAiSessionService } from '@google/adk';

import { ENGINE, LOCATION, PROJECT_ID } from '../../vertex_server/server.js';

/** The client of Google's library: its own copy, possibly of another version. */
interface ClientLibrary {
  readonly ApiClient: new (options: object) => ConstructorParameters<typeof Sessions>[0];
}

const { resolve } = createRequire(import.meta.url);
const requireBelow = createRequire(resolve('@google-cloud/vertexai/build/src/genai/sessions.js'));
const { ApiClient } = requireBelow('@google/genai/vertex_internal') as ClientLibrary;

/** The credentials that it would read from this machine. */
const CREDENTIALS = {
  async addAuthHeaders(headers: Headers): Promise<void> {
    headers.append('Authorization', 'Bearer a-token');
  },
};

export function adkVertexService(url: string): VertexAiSessionService {
  const client = new ApiClient({
    auth: CREDENTIALS,
    project: PROJECT_ID,
    location: LOCATION,
    vertexai: true,
    httpOptions: { baseUrl: url },
  });
  return new VertexAiSessionService({
    projectId: PROJECT_ID,
    location: LOCATION,
    agentEngineId: ENGINE,
    sessions: new Sessions(client),
  });
}

/** An event with a text for the service of @google/adk. */
export function adkSay(text: string, stateDelta: Record<string, unknown>) {
  const event = createEvent({
    author: 'agent',
    invocationId: 'i',
    content: { role: 'model', parts: [{ text }] },
  });
  event.actions.stateDelta = stateDelta;
  return event;
}
