// A remote service on a handler, without a network: each request goes straight to the handler.

import { InMemorySessionService, type SessionService } from '../../../../js/index.js';
import {
  RemoteSessionService,
  type RemoteSessionOptions,
} from '../../../../js/service/remote/index.js';
import {
  type Rights,
  type SessionHandler,
  sessionHandler,
  type SessionHandlerOptions,
} from '../../../../js/server/index.js';

const ALL_RIGHTS: Required<Rights> = {
  mayWriteAgentEvents: true,
  mayWriteUserState: true,
  mayWriteAppState: true,
  maySeeCredentials: true,
};

export const KEY = { appName: 'shop', userId: 'ada', sessionId: 's1' };
export const URL_OF_SERVER = 'http://localhost/api';

/** Sends requests to the handler as `fetch` would. */
export function fetchFrom(handler: SessionHandler): typeof fetch {
  return (input, init) => handler(new Request(input, init));
}

/** Serves a service under {@link URL_OF_SERVER}. Everything is allowed. */
export function handlerOn(
  service: SessionService,
  options: Partial<SessionHandlerOptions> = {},
): SessionHandler {
  const authorize = () => ALL_RIGHTS;
  return sessionHandler(service, { authorize, basePath: '/api', ...options });
}

/** Opens a remote service on a handler over memory. */
export function openRemote(options: Partial<RemoteSessionOptions> = {}) {
  const service = new InMemorySessionService({ artifacts: true });
  const handler = handlerOn(service);
  const remote = new RemoteSessionService({
    url: URL_OF_SERVER,
    fetch: fetchFrom(handler),
    ...options,
  });
  return { service, handler, remote };
}
