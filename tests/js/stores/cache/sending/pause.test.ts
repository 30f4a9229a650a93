// The pause after a failure.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, it, mock } from 'node:test';

import { event, idsOf, KEY, openCache, Server } from '../fixture.js';

beforeEach(() => mock.timers.enable({ apis: ['Date', 'setTimeout'], now: 1_700_000_000_000 }));
afterEach(() => mock.timers.reset());

/** Lets everything run that waits for no timer. */
async function settle(): Promise<void> {
  for (let rounds = 0; rounds < 50; rounds += 1) await new Promise((done) => setImmediate(done));
}

it('after a failure, writes in quick succession make one attempt together, after 0.1 seconds', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  const session = await cache.createSession(KEY);
  await cache.sync();
  let attempts = 0;
  server.intercept = () => {
    attempts += 1;
    throw new TypeError('no connection');
  };
  await cache.appendEvent({ session, event: event('e0') });
  await settle();
  const first = attempts;
  assert.ok(first > 0);
  for (let turn = 1; turn <= 20; turn += 1) {
    await cache.appendEvent({ session, event: event(`e${turn}`) });
    await settle();
  }
  assert.equal(attempts, first);
  mock.timers.tick(100);
  await settle();
  assert.equal(attempts, 2 * first);
  // The pause after a second failure is longer, but not for the next write.
  await cache.appendEvent({ session, event: event('e21') });
  server.intercept = undefined;
  mock.timers.tick(100);
  await settle();
  const ids = Array.from({ length: 22 }, (_, turn) => `e${turn}`);
  assert.deepEqual(idsOf(await server.service.getSession(KEY)), ids);
  const closing = cache.close();
  mock.timers.tick(10_000);
  await closing;
});
