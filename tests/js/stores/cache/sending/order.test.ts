// The order in which values of one shared key are sent: that of their writes, also by a tab that did not write them.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import type { CachedSessionService } from '../../../../../js/service/cache/index.js';
import { event, idsOf, KEY, openCache, Server, until, USER } from '../fixture.js';

type Write = (cache: CachedSessionService) => Promise<unknown>;

const S2 = { ...KEY, sessionId: 's2' };

/** Appends an event that sets the user's name. */
function appends(key: typeof KEY, name: string): Write {
  return async (cache) => {
    const session = (await cache.getSession(key))!;
    await cache.appendEvent({ session, event: event(`sets ${name}`, { 'user:name': name }) });
  };
}

const updates: Write = (cache) =>
  cache.updateState({ ...USER, stateDelta: { 'user:name': 'last' } });

const appendsWithoutName: Write = async (cache) => {
  const session = (await cache.getSession(KEY))!;
  await cache.appendEvent({ session, event: event('plain') });
};

/** Creates both sessions, and loses the connection. */
async function openOffline(server: Server) {
  const opened = openCache(server);
  await opened.cache.createSession(KEY);
  await opened.cache.createSession(S2);
  await opened.cache.sync();
  server.isOffline = true;
  return opened;
}

async function requireName(server: Server, cache: CachedSessionService): Promise<void> {
  for (const service of [server.service, cache]) {
    assert.deepEqual(await service.getUserState(USER), { name: 'last' });
  }
  await cache.close();
}

const orders: readonly (readonly [title: string, ...writes: Write[]])[] = [
  ['an update after an event', appends(KEY, 'first'), updates],
  ['an event after an update', updates, appends(KEY, 'last')],
  [
    'an event of the first session after one of the second',
    appends(S2, 'one'),
    appends(KEY, 'last'),
  ],
  [
    'an event of the second session after one of the first',
    appends(KEY, 'one'),
    appends(S2, 'last'),
  ],
  [
    'an event before another one without the key',
    appends(KEY, 'one'),
    appends(S2, 'last'),
    appendsWithoutName,
  ],
];

for (const [title, ...writes] of orders) {
  it(`${title} is sent in this order after a reload`, async () => {
    const server = new Server();
    const { cache, local } = await openOffline(server);
    for (const write of writes) await write(cache);
    await cache.close();
    server.isOffline = false;
    const next = openCache(server, { local }).cache;
    await next.sync();
    await requireName(server, next);
  });

  it(`${title} is sent in this order by the same tab`, async () => {
    const server = new Server();
    const { cache } = await openOffline(server);
    for (const write of writes) await write(cache);
    await until(() => !cache.status.isSending);
    server.isOffline = false;
    await cache.sync();
    await requireName(server, cache);
  });
}

it('a tab sends what another tab has written to one key in its order', async () => {
  const server = new Server();
  const { cache, local } = await openOffline(server);
  const other = openCache(server, { local }).cache;
  await appends(KEY, 'one')(cache);
  await until(() => other.status.pending.length === 1);
  await appends(S2, 'two')(other);
  await until(() => cache.status.pending.length === 2);
  await appends(KEY, 'last')(cache);
  await cache.close();
  server.isOffline = false;
  await other.sync();
  await requireName(server, other);
});

it('an event of another device does not bring back a value that was replaced since', async () => {
  const server = new Server();
  const { cache } = await openOffline(server);
  await appends(KEY, 'first')(cache);
  await updates(cache);
  const session = (await server.service.getSession(KEY))!;
  await server.service.appendEvent({ session, event: event('theirs') });
  server.isOffline = false;
  server.intercept = ({ method }) =>
    method === 'GET' ? Promise.resolve(undefined) : Promise.reject(new TypeError('fetch failed'));
  const copy = (await cache.getSession({ ...KEY, config: { reads: 'network-first' } }))!;
  assert.deepEqual(idsOf(copy), ['theirs', 'sets first']);
  assert.equal(copy.state['user:name'], 'last');
  server.intercept = undefined;
  await cache.sync();
  await requireName(server, cache);
});
