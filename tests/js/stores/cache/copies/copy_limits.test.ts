import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { SessionError } from '../../../../../js/index.js';
import {
  type CachedSessionService,
  type CacheStoreName,
  MemoryLocalStore,
} from '../../../../../js/service/cache/index.js';
import { event, hasCode, idsOf, KEY, openCache, Server, until, USER } from '../fixture.js';
import { copiesIn, entriesOf, HeldStore } from '../held_store.js';

/** An event of about so many bytes. */
function large(id: string, bytes: number) {
  return { ...event(id), content: { role: 'user', parts: [{ text: 'x'.repeat(bytes) }] } };
}

/** Makes copies in a local storage, with an unsent event in the first. The cache that makes them has no limits. */
async function makeCopies(server: Server, clock: () => number, ids: string[], bytes: number) {
  const { cache, local } = openCache(server, { clock });
  for (const sessionId of ids) {
    const session = await cache.createSession({ ...KEY, sessionId });
    await cache.appendEvent({ session, event: large(`of ${sessionId}`, bytes) });
  }
  await cache.sync();
  server.isOffline = true;
  const session = await cache.getSession({ ...KEY, sessionId: ids[0]! });
  await cache.appendEvent({ session: session!, event: large('unsent', 1000) });
  assert.deepEqual(await copiesIn(local), ids);
  await cache.close();
  return local;
}

it('a copy that was used least recently goes first, never one with unsent changes', async () => {
  const server = new Server();
  let now = 1_700_000_000_000;
  const clock = () => (now += 1000);
  const local = await makeCopies(server, clock, ['a', 'b', 'c'], 10);
  const { cache } = openCache(server, { maxSessions: 2, clock, local });
  await cache.getSession({ ...KEY, sessionId: 'a' });
  await until(async () => (await copiesIn(local)).length === 2);
  assert.deepEqual(await copiesIn(local), ['a', 'c']);
  server.isOffline = false;
  assert.equal((await cache.getSession({ ...KEY, sessionId: 'b' }))?.id, 'b');
  await cache.close();
});

it('maxBytes deletes the copies that were used least recently, never one with unsent changes', async () => {
  const server = new Server();
  let now = 1_700_000_000_000;
  const clock = () => (now += 1000);
  const local = await makeCopies(server, clock, ['a', 'b', 'c', 'd'], 400);
  const { cache } = openCache(server, { maxBytes: 2500, clock, local });
  await cache.getSession({ ...KEY, sessionId: 'a' });
  await until(async () => (await copiesIn(local)).length === 2);
  assert.deepEqual(await copiesIn(local), ['a', 'd']);
  server.isOffline = false;
  await cache.sync();
  const { sessions } = await server.service.listSessions({ appName: 'shop' });
  assert.equal(sessions.length, 4);
  await cache.close();
});

it('the copy that was used last stays, however large it is', async () => {
  const server = new Server();
  let now = 1_700_000_000_000;
  const { cache, local } = openCache(server, { maxBytes: 1000, clock: () => (now += 1000) });
  for (const sessionId of ['small', 'large']) {
    const session = await cache.createSession({ ...KEY, sessionId });
    await cache.appendEvent({ session, event: large('e1', sessionId === 'large' ? 5000 : 10) });
  }
  await cache.sync();
  await cache.getSession({ ...KEY, sessionId: 'large' });
  await until(async () => (await copiesIn(local)).length === 1);
  assert.deepEqual(await copiesIn(local), ['large']);
  await cache.close();
});

it('maxAge deletes the copies that were not used for so long', async () => {
  const server = new Server();
  let now = 1_700_000_000_000;
  const { cache, local } = openCache(server, { maxAge: 60_000, clock: () => now });
  for (const sessionId of ['a', 'b']) await cache.createSession({ ...KEY, sessionId });
  await cache.sync();
  now += 60_001;
  await cache.getSession({ ...KEY, sessionId: 'b' });
  await until(async () => (await copiesIn(local)).length === 1);
  assert.deepEqual(await copiesIn(local), ['b']);
  await cache.close();
});

it('a use counts after a restart, also if the session has not changed', async () => {
  const server = new Server();
  let now = 1_700_000_000_000;
  const clock = () => (now += 1000);
  const local = new MemoryLocalStore();
  const { cache: first } = openCache(server, { local, clock });
  for (const sessionId of ['a', 'b', 'c']) await first.createSession({ ...KEY, sessionId });
  await first.sync();
  now += 3_600_000;
  await first.getSession({ ...KEY, sessionId: 'a' });
  await until(async () => (await usedAt(local)) > now - 3_600_000);
  await first.close();
  const { cache: second } = openCache(server, { local, clock, maxSessions: 2 });
  await second.getSession({ ...KEY, sessionId: 'c' });
  await until(async () => (await copiesIn(local)).length === 2);
  assert.deepEqual(await copiesIn(local), ['a', 'c']);
  await second.close();
});

/** When the copy `a` was last used, as it is stored. */
async function usedAt(local: MemoryLocalStore): Promise<number> {
  const entries = await entriesOf(local, 'sessions');
  const { value } = entries.find(({ key }) => key.at(-1) === 'a')!;
  return (value as { usedAt: number }).usedAt;
}

describe('A full local storage', () => {
  const writes: [string, (cache: CachedSessionService) => Promise<unknown>][] = [
    ['createSession', (cache) => cache.createSession(KEY)],
    ['getSession of a new session', (cache) => cache.getSession({ ...KEY, sessionId: 'theirs' })],
    ['listSessions of new sessions', (cache) => cache.listSessions(USER)],
    ['updateSession', (cache) => cache.updateSession({ ...KEY, sessionId: 'b' }, { title: 'Tea' })],
    ['updateState', (cache) => cache.updateState({ ...USER, stateDelta: { 'user:name': 'Ada' } })],
    [
      'appendEvent',
      async (cache) => {
        const session = await cache.getSession({ ...KEY, sessionId: 'b' });
        await cache.appendEvent({ session: session!, event: event('e1') });
      },
    ],
  ];
  for (const [name, write] of writes) {
    it(`loses the copies used least recently, and ${name} succeeds`, async () => {
      const { cache, local, fill } = await openFull();
      fill('events', 'outbox', 'states', 'sessions');
      await write(cache);
      const copies = await copiesIn(local.memory);
      // A list brings it back.
      assert.equal(copies.includes('a'), name.startsWith('list'), copies.join());
      await cache.close();
    });
  }

  for (const store of ['outbox', 'events'] as const) {
    it(`loses the copies used least recently, and sends what waits without room in ${store}`, async () => {
      const { server, cache, local, fill } = await openFull();
      server.isOffline = true;
      await cache.createSession({ ...KEY, events: [event('e1')] });
      await until(() => !cache.status.isOnline && !cache.status.isSending);
      fill(store);
      server.isOffline = false;
      await cache.sync();
      assert.deepEqual(idsOf(await server.service.getSession(KEY)), ['e1']);
      const copies = await copiesIn(local.memory);
      assert.ok(!copies.includes('a') && copies.includes('s1'), copies.join());
      await cache.close();
    });
  }

  it('a write does not delete the copy that it changes', async () => {
    const server = new Server();
    const local = new HeldStore();
    const { cache } = openCache(server, { local });
    const session = await cache.createSession(KEY);
    await cache.sync();
    local.beforePut = (store) => {
      if (store === 'outbox') throw new SessionError('quota_exceeded', 'There is no room.');
    };
    const append = () => cache.appendEvent({ session, event: event('e1') });
    await assert.rejects(append, hasCode('quota_exceeded'));
    local.beforePut = () => undefined;
    await append();
    assert.deepEqual(idsOf(await cache.getSession(KEY)), ['e1']);
    await cache.close();
  });

  /** Opens a cache with four copies. `fill` lets the first write to such a store fail. */
  async function openFull() {
    const server = new Server();
    const local = new HeldStore();
    let now = 1_700_000_000_000;
    const { cache } = openCache(server, { local, clock: () => (now += 1000) });
    for (const sessionId of ['a', 'b', 'c', 'd']) await cache.createSession({ ...KEY, sessionId });
    await cache.sync();
    await server.service.createSession({ ...KEY, sessionId: 'theirs' });
    const fill = (...stores: CacheStoreName[]): void => {
      let hasFailed = false;
      local.beforePut = (store) => {
        if (hasFailed || !stores.includes(store)) return;
        hasFailed = true;
        throw new SessionError('quota_exceeded', 'There is no room.');
      };
    };
    return { server, cache, local, fill };
  }
});
