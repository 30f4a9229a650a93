// One agent engine on this machine, and who uses it: we, google-adk for Python and @google/adk.

import type { VertexAiSessionService as AdkVertexService } from '@google/adk';

import { type VertexAiOptions, VertexAiSessionService } from '../../../js/service/vertex/index.js';
import {
  ENGINE,
  LOCATION,
  PROJECT_ID,
  startVertexServer,
  type VertexServer,
  type VertexServerOptions,
} from '../../vertex_server/server.js';
import { adkVertexService } from './adk_vertex.js';
import type { PythonSessions } from '../python.js';

export interface AgentEngine {
  readonly server: VertexServer;
  readonly service: VertexAiSessionService;
  readonly adk: AdkVertexService;
  /** Opens another service of the package, with its own options. */
  newService(options?: VertexAiOptions): VertexAiSessionService;
  end(): Promise<void>;
}

/** @param python from now on has its sessions there */
export async function startAgentEngine(
  python: PythonSessions,
  options: VertexServerOptions = {},
): Promise<AgentEngine> {
  const server = await startVertexServer(options);
  await python.open(server.url);
  const services: VertexAiSessionService[] = [];
  const newService = (more: VertexAiOptions = {}) => {
    const service = new VertexAiSessionService({
      projectId: PROJECT_ID,
      location: LOCATION,
      agentEngineId: ENGINE,
      accessToken: 'a-token',
      baseUrl: server.url,
      ...more,
    });
    services.push(service);
    return service;
  };
  return {
    server,
    service: newService(),
    adk: adkVertexService(server.url),
    newService: newService,
    async end() {
      await Promise.all(services.map((service) => service.close()));
      await server.end();
    },
  };
}
