import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const SERVER = fileURLToPath(new URL('shutdown_server.ts', import.meta.url));

/** Less than the 5 seconds for which Node keeps an idle connection. */
const LIMIT_MS = 2000;

it('A server with two open feeds stops within 2 seconds of SIGTERM', async (t) => {
  const server = fork(SERVER, { execArgv: ['--import', 'tsx'] });
  t.after(() => server.kill('SIGKILL'));
  const [port] = (await once(server, 'message')) as [number];
  const feeds = await Promise.all(
    ['ada', 'eve'].map(async (userId) => {
      const feed = await fetch(`http://127.0.0.1:${port}/apps/shop/changes?userId=${userId}`);
      assert.equal(feed.status, 200);
      return feed;
    }),
  );
  const ended = feeds.map((feed) => feed.text());
  server.kill('SIGTERM');
  const signal = AbortSignal.timeout(LIMIT_MS);
  const [code] = (await once(server, 'exit', { signal })) as [number | null];
  assert.equal(code, 0);
  await Promise.all(ended);
});
