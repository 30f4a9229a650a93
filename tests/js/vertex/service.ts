// A service over the loopback server.

import { VertexAiSessionService, type VertexAiOptions } from '../../../js/vertex/index.js';
import { ENGINE, LOCATION, PROJECT_ID, type VertexServer } from '../../vertex_server/server.js';

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
