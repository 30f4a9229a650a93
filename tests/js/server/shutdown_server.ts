// A server that shuts down as docs/server.md says.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { InMemorySessionService } from '../../../js/index.js';
import { nodeListener, sessionHandler } from '../../../js/server/index.js';

const service = new InMemorySessionService();
const handler = sessionHandler(service, { authorize: () => true });
const listener = nodeListener(handler);
const server = createServer((request, response) => void listener(request, response));
server.listen(0, '127.0.0.1', () => {
  process.send!((server.address() as AddressInfo).port);
  process.disconnect();
});
async function shutDown(): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  await handler.close();
  await closed;
  await service.close({ timeoutMs: 5000 });
}
process.once('SIGTERM', () => void shutDown());
