// Changes of one state that wait are sent together.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import type { CachedSessionService } from '../../../../../js/service/cache/index.js';
import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { event, KEY, openCache, Server, USER } from '../fixture.js';

/** Stores changes of distinct keys of a user's state. */
async function update(cache: CachedSessionService, ...keys: string[]): Promise<void> {
  for (const key of keys)
    await cache.updateState({ ...USER, stateDelta: { [`user:${key}`]: key } });
}

/** Returns the requests since the last call that change something. */
function takeWrites({ requests }: Server): string[] {
  return requests.splice(0).filter((request) => !request.startsWith('GET'));
}

it('251 changes of a state that wait are sent in four requests: what failed, and at most 100 in each', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  server.isOffline = true;
  const keys = Array.from({ length: 251 }, (_, index) => `k${index}`);
  await update(cache, ...keys);
  await cache.sync().catch(() => undefined);
  takeWrites(server);
  server.isOffline = false;
  await cache.sync();
  assert.equal(takeWrites(server).length, 4);
  const expected = Object.fromEntries(keys.map((key) => [key, key]));
  assert.deepEqual(await server.service.getUserState(USER), expected);
  assert.deepEqual(await cache.getUserState(USER), expected);
  assert.deepEqual(await cache.outbox.list(), []);
  await cache.close();
});

it('of changes that were sent together, only the one that the remote refuses is set aside', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  server.isOffline = true;
  await update(cache, 'first', 'second', 'bad', 'behind');
  server.isOffline = false;
  server.intercept = async (request) => {
    if (request.method === 'GET' || !(await request.text()).includes('bad')) return undefined;
    return Response.json({ detail: 'No.' }, { status: 403 });
  };
  await cache.sync();
  const sent = { first: 'first', second: 'second', behind: 'behind' };
  assert.deepEqual(await server.service.getUserState(USER), sent);
  server.intercept = undefined;
  await cache.outbox.retry();
  await cache.sync();
  assert.deepEqual(Object.keys(await server.service.getUserState(USER)).sort(), [
    'bad',
    'behind',
    'first',
    'second',
  ]);
  await cache.close();
});

it('changes that were sent together without an answer are applied once', async () => {
  const server = new Server(new DatabaseSessionService('sqlite::memory:'));
  const { cache } = openCache(server);
  server.isOffline = true;
  await update(cache, 'failed', 'one', 'two');
  await cache.sync().catch(() => undefined);
  server.isOffline = false;
  let attempts = 0;
  server.intercept = async (request) => {
    if (request.method === 'GET' || !(await request.text()).includes('one')) return undefined;
    attempts += 1;
    if (attempts === 1) server.lostResponses = 1;
    else await server.service.updateState({ ...USER, stateDelta: { 'user:one': 'of another' } });
    return undefined;
  };
  await cache.sync();
  assert.equal(attempts, 2);
  assert.deepEqual(await server.service.getUserState(USER), {
    failed: 'failed',
    one: 'of another',
    two: 'two',
  });
  await cache.close();
  await server.service.close();
});

it('a change of a key waits for an event of a session that has set the key before', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  const session = await cache.createSession(KEY);
  await cache.sync();
  server.isOffline = true;
  await update(cache, 'plain');
  await cache.appendEvent({ session, event: event('e1', { 'user:name': 'first' }) });
  await update(cache, 'name', 'other');
  server.isOffline = false;
  await cache.sync();
  assert.equal((await server.service.getUserState(USER))?.name, 'name');
  await cache.close();
});

it('of many unsent values of a key only the last is sent', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  server.isOffline = true;
  await update(cache, 'failed');
  await cache.sync().catch(() => undefined);
  for (let volume = 0; volume < 50; volume += 1) {
    await cache.updateState({ ...USER, stateDelta: { 'user:volume': volume } });
  }
  const bodies: string[] = [];
  server.intercept = async (request) => {
    if (request.method === 'PATCH') bodies.push(await request.text());
    return undefined;
  };
  server.isOffline = false;
  await cache.sync();
  assert.deepEqual(
    bodies.filter((body) => body.includes('volume')),
    [JSON.stringify({ stateDelta: { 'user:volume': 49 } })],
  );
  assert.deepEqual(await server.service.getUserState(USER), { failed: 'failed', volume: 49 });
  await cache.close();
});

it('unsent titles and labels are sent in their order', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  await cache.createSession(KEY);
  await cache.sync();
  server.isOffline = true;
  const labels = { kind: 'tea' };
  await cache.updateSession(KEY, { title: 'One', labels });
  await cache.updateSession(KEY, { title: 'Two' });
  assert.equal((await cache.getSession(KEY))?.title, 'Two');
  server.isOffline = false;
  await cache.sync();
  const session = await server.service.getSession(KEY);
  assert.deepEqual([session?.title, session?.labels], ['Two', labels]);
  await cache.close();
});
