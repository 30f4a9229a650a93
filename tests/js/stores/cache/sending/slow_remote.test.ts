// A remote that answers later than the leadership lasts.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, it, mock } from 'node:test';

import { MemoryLocalStore } from '../../../../../js/service/cache/index.js';
import { passTimeUntil } from '../../../mocked_time.js';
import { event, idsOf, KEY, openCache, Server } from '../fixture.js';

beforeEach(() => mock.timers.enable({ apis: ['Date', 'setTimeout'], now: 1_700_000_000_000 }));
afterEach(() => mock.timers.reset());

it('two tabs send an event once to a remote that takes ten seconds to answer', async () => {
  const server = new Server();
  const local = new MemoryLocalStore();
  const { cache: first } = openCache(server, { local });
  const { cache: second } = openCache(server, { local });
  const session = await first.createSession(KEY);
  await passTimeUntil(first.sync());
  server.requests.length = 0;
  server.intercept = async ({ method }) => {
    if (method === 'POST') await new Promise((resolve) => setTimeout(resolve, 10_000));
    return undefined;
  };
  await first.appendEvent({ session, event: event('e1') });
  await passTimeUntil(Promise.all([first.sync(KEY), second.sync(KEY)]));
  const appends = server.requests.filter((request) => request.startsWith('POST'));
  assert.equal(appends.length, 1);
  assert.deepEqual(idsOf(await server.service.getSession(KEY)), ['e1']);
  await passTimeUntil(Promise.all([first.close(), second.close()]));
});

it('sync asks for the states of the user and the app while the remote takes long to answer a change', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  const session = await cache.createSession(KEY);
  await passTimeUntil(cache.sync());
  let appends = 0;
  let states = 0;
  server.intercept = async ({ method, url }) => {
    if (url.endsWith('/state')) states += 1;
    if (method !== 'POST') return undefined;
    appends += 1;
    await new Promise((resolve) => setTimeout(resolve, 10_000));
    assert.equal(states, 2);
    return undefined;
  };
  await cache.appendEvent({ session, event: event('e1') });
  await passTimeUntil(cache.sync());
  assert.equal(appends, 1);
  assert.equal(states, 2);
  await passTimeUntil(cache.close());
});
