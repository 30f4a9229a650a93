// A service over the loopback server.

import {
  VertexAiSessionService,
  type VertexAiOptions,
} from '../../../../js/service/vertex/index.js';
import { ENGINE, LOCATION, PROJECT_ID, type VertexServer } from '../../../vertex_server/server.js';

export const KEY = { appName: 'shop', userId: 'ada', sessionId: 's1' };

export function serviceOn(
  { url }: VertexServer,
  options: VertexAiOptions = {},
): VertexAiSessionService {
  return new VertexAiSessionService({
    projectId: PROJECT_ID,
    location: LOCATION,
    agentEngineId: ENGINE,
    accessToken: 'a-token',
    baseUrl: url,
    ...options,
  });
}

/** Sends a request of another client. @param path the path after `reasoningEngines/` */
export async function post({ url }: VertexServer, path: string, body: object): Promise<void> {
  const response = await fetch(`${url}/v1beta1/reasoningEngines/${path}`, {
    method: 'POST',
    headers: { 'x-goog-api-key': 'a-key' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
}
