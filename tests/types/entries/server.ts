import type { IncomingMessage, ServerResponse } from 'node:http';

import * as adk from '../../../js/service/adk/index.js';
import { InMemorySessionService, type SessionService } from '../../../js/index.js';
import {
  type Authorize,
  type NodeRequest,
  type NodeResponse,
  nodeListener,
  type Permission,
  type Rights,
  type SessionAction,
  sessionHandler,
} from '../../../js/server/index.js';
import { compiled, describe, is, it } from '../expect.js';

const authorize: Authorize = (request, { userId }) => userId === request.headers.get('x-user');

describe('The types of the session handler', () => {
  it('are those of a function from a request to a response', async () => {
    const service: SessionService = new InMemorySessionService();
    const handler = sessionHandler(service, { authorize });
    {
      const response: Response = await handler(new Request('http://localhost/'));
      is<number>()(response.status);
      sessionHandler(service, { authorize, allowedOrigins: ['https://shop.example'] });
      // @ts-expect-error somebody has to decide
      sessionHandler(service, {});
      // @ts-expect-error no such option
      sessionHandler(service, { authorize, maxBytes: 5 });
      sessionHandler(new adk.InMemorySessionService(), { authorize });
      // @ts-expect-error a request has more than a path
      await handler('/apps');
    }
  });

  it('tell what a request wants to do', async () => {
    {
      const careful: Authorize = async (_, access) => {
        is<SessionAction>()(access.action);
        is<string>()(access.appName);
        is<string | undefined>()(access.sessionId);
        // @ts-expect-error no such action
        if (access.action === 'drop') return false;
        return Promise.resolve('unauthenticated');
      };
      const order: Permission = 'forget';
      // @ts-expect-error a text that is no permission
      const wrong: Permission = 'forbidden';
      const rights: Rights = { mayWriteAgentEvents: true, maySeeCredentials: undefined };
      // @ts-expect-error a right is a boolean
      const text: Permission = { mayWriteAppState: 'no' };
      // @ts-expect-error a user has no rights
      const user: Permission = { id: 'ada' };
      return [careful, order, wrong, rights, text, user];
    }
  });

  it("fit Node's requests and responses", async () => {
    compiled((request: IncomingMessage, response: ServerResponse) => {
      const listener = nodeListener(sessionHandler(new InMemorySessionService(), { authorize }));
      is<(request: NodeRequest, response: NodeResponse) => Promise<void>>()(listener);
      const own: NodeResponse = {
        writeHead: (status) => is<number>()(status),
        write: () => true,
        end: () => undefined,
        once: (event) => is<'close' | 'drain'>()(event),
      };
      const cut: NodeResponse = { ...own, destroy: () => response.destroy() };
      // @ts-expect-error a service is no handler
      nodeListener(new InMemorySessionService());
      return [listener(request, response), own, cut];
    });
  });
});
