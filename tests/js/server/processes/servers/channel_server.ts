// A server with a channel over PostgreSQL, which shuts down as docs/server.md says.
//
//   channel_server.ts URL
//
// The agent answers `slow …` with a partial event, and then waits until it is stopped; anything else with its text.

import type { AddressInfo } from 'node:net';

import { httpServer } from '../../../../http_server.js';
import {
  DatabaseSessionService,
  postgresChannel,
} from '../../../../../js/service/database/index.js';
import { nodeListener, sessionHandler } from '../../../../../js/server/index.js';
import type { RunAgent } from '../../../../../js/ui/live/index.js';
import { says } from '../../../ui/live/runs/agents.js';

const run: RunAgent = async function* ({ message, signal }) {
  const text = message.content?.parts?.[0]?.text ?? '';
  if (text.startsWith('slow')) {
    yield { author: 'guide', partial: true, content: says('Green') };
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    return;
  }
  yield { author: 'guide', content: says(`${text}!`) };
};

const url = process.argv[2]!;
const service = new DatabaseSessionService(url, { channel: postgresChannel(url) });
await service.ping();
const handler = sessionHandler(service, { authorize: () => true, run });
const listener = nodeListener(handler);
const server = httpServer((request, response) => void listener(request, response));
server.listen(0, '127.0.0.1', () => {
  process.send!((server.address() as AddressInfo).port);
  process.disconnect();
});
async function shutDown(): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  await handler.close({ graceMs: 0 });
  await closed;
  await service.close({ timeoutMs: 5000 });
}
process.once('SIGTERM', () => void shutDown());
