import assert from 'node:assert/strict';
import { once } from 'node:events';
import { it } from 'node:test';

import { startServer } from './processes/servers/server_process.js';

/** Less than the 5 seconds for which Node keeps an idle connection. */
const LIMIT_MS = 2000;

it('A server with two open feeds stops within 2 seconds of SIGTERM', async () => {
  await using server = await startServer(import.meta.resolve('./shutdown_server.js'));
  const { origin, child } = server;
  const feeds = await Promise.all(
    ['ada', 'eve'].map(async (userId) => {
      const feed = await fetch(`${origin}/apps/shop/changes?userId=${userId}`);
      assert.equal(feed.status, 200);
      return feed;
    }),
  );
  const ended = feeds.map((feed) => feed.text());
  child.kill('SIGTERM');
  const signal = AbortSignal.timeout(LIMIT_MS);
  const [code] = (await once(child, 'exit', { signal })) as [number | null];
  assert.equal(code, 0);
  await Promise.all(ended);
});
