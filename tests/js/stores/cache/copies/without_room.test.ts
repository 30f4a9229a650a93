// Sending with a local storage that unsent messages have filled.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { isSessionError, SessionError } from '../../../../../js/index.js';
import type {
  CachedSessionService,
  LocalStore,
  LocalTransaction,
} from '../../../../../js/service/cache/index.js';
import { CACHE_STORES } from '../../../../../js/stores/cache/local_store/local_store.js';
import { event, idsOf, KEY, openCache, Server, until, untilSent } from '../fixture.js';
import { entriesOf, HeldStore } from '../held_store.js';

const ROOM = 100_000;
const LARGE = 6_000;
/** What the browser needs for small records. */
const REST = 3_000;

const sizeOf = (value: unknown): number => JSON.stringify(value).length;

/** A storage with a limited room, in which a transaction needs room for all that it writes before it frees any. */
class SmallStore extends HeldStore {
  room = ROOM;

  override async transaction<T>(
    mode: 'readonly' | 'readwrite',
    work: (transaction: LocalTransaction) => Promise<T>,
  ): Promise<T> {
    let used = mode === 'readonly' ? 0 : await usedIn(this.memory);
    return super.transaction(mode, (transaction) =>
      work({
        ...transaction,
        put: async (store, key, value) => {
          used += sizeOf(value);
          const small = sizeOf(value) < REST / 3 ? REST : 0;
          if (used > this.room + small)
            throw new SessionError('quota_exceeded', 'There is no room.');
          await transaction.put(store, key, value);
        },
      }),
    );
  }
}

async function usedIn(local: LocalStore): Promise<number> {
  const entries = await Promise.all(CACHE_STORES.map((store) => entriesOf(local, store)));
  return entries.flat().reduce((sum, { value }) => sum + sizeOf(value), 0);
}

const large = (id: string) => ({
  ...event(id),
  content: { role: 'user', parts: [{ text: 'x'.repeat(LARGE) }] },
});

/** Appends until there is no room left. @returns the ids that were acknowledged */
async function fill(cache: CachedSessionService, sessionId: string): Promise<string[]> {
  const session = await cache.getOrCreateSession({ ...KEY, sessionId });
  const stored: string[] = [];
  for (;;) {
    const id = `${sessionId}-${stored.length}`;
    try {
      await cache.appendEvent({ session, event: large(id) });
    } catch (error) {
      if (!isSessionError(error, 'quota_exceeded')) throw error;
      return stored;
    }
    stored.push(id);
  }
}

for (const [what, isThere] of [
  ['a session of the remote', true],
  ['a session that was created offline', false],
] as const) {
  it(`messages that fill the storage are sent, of ${what}`, async () => {
    const server = new Server();
    const local = new SmallStore();
    const { cache } = openCache(server, { local });
    if (isThere) {
      await cache.createSession(KEY);
      await cache.sync();
    }
    server.isOffline = true;
    const stored = await fill(cache, KEY.sessionId);
    assert.ok(stored.length > 10, `${stored.length} had room`);
    server.isOffline = false;
    await cache.sync();
    assert.deepEqual(idsOf(await server.service.getSession(KEY)), stored);
    await until(() => untilSent(cache));
    assert.deepEqual(idsOf(await cache.getSession(KEY)), stored);
    await cache.close();
  });
}

it('messages that fill the storage are sent after a reload', async () => {
  const server = new Server();
  const local = new SmallStore();
  const { cache } = openCache(server, { local });
  server.isOffline = true;
  const stored = await fill(cache, KEY.sessionId);
  await cache.close();
  server.isOffline = false;
  const { cache: later } = openCache(server, { local });
  await later.sync();
  assert.deepEqual(idsOf(await server.service.getSession(KEY)), stored);
  await later.close();
});

it('an answer without room for events leaves nothing in the outbox, and the session is fetched with its state', async () => {
  const server = new Server();
  const local = new HeldStore();
  const { cache } = openCache(server, { local });
  server.isOffline = true;
  const session = await cache.createSession({
    ...KEY,
    events: [event('e0', { a: 0, 'user:b': 0 })],
  });
  await cache.appendEvents({ session, events: [event('e1', { a: 1, 'user:b': 1 }), event('e2')] });
  local.beforePut = (store) => {
    if (store === 'events') throw new SessionError('quota_exceeded', 'There is no room.');
  };
  server.isOffline = false;
  await cache.sync();
  assert.deepEqual(await entriesOf(local, 'outbox'), []);
  const { events, state } = (await cache.getSession(KEY))!;
  assert.deepEqual(idsOf({ events }), ['e0', 'e1', 'e2']);
  assert.deepEqual(state, { a: 1, 'user:b': 1 });
  local.beforePut = () => undefined;
  await cache.getSession({ ...KEY, config: { reads: 'network-first' } });
  server.isOffline = true;
  assert.deepEqual(
    idsOf(await cache.getSession(KEY)),
    ['e0', 'e1', 'e2'],
    'the copy is whole again',
  );
  await cache.close();
});

it('changes without room leave the copy stale, and are read', async () => {
  const server = new Server();
  const local = new HeldStore();
  const { cache } = openCache(server, { local });
  await cache.createSession(KEY);
  await cache.sync();
  const session = (await server.service.getSession(KEY))!;
  await server.service.appendEvent({ session, event: event('theirs') });
  local.beforePut = (store) => {
    if (store === 'events') throw new SessionError('quota_exceeded', 'There is no room.');
  };
  const read = await cache.getSession({ ...KEY, config: { reads: 'network-first' } });
  assert.deepEqual(idsOf(read), ['theirs']);
  await cache.close();
});

it('changes are not asked for again and again if there is no room even to note that the copy is stale', async () => {
  const server = new Server();
  const local = new HeldStore();
  const { cache } = openCache(server, { local });
  await cache.createSession(KEY);
  await cache.sync();
  const session = (await server.service.getSession(KEY))!;
  await server.service.appendEvent({ session, event: event('theirs') });
  let asked = 0;
  server.intercept = ({ method, url }) => {
    const isChanges = method === 'GET' && url.includes('/s1/changes');
    if (isChanges) asked += 1;
    return Promise.resolve(asked > 5 ? Response.json({}, { status: 500 }) : undefined);
  };
  local.beforePut = () => {
    throw new SessionError('quota_exceeded', 'There is no room.');
  };
  const read = await cache.getSession({ ...KEY, config: { reads: 'network-first' } });
  assert.deepEqual(idsOf(read), [], 'the copy is what is left to read');
  // For the read, and because the feed has opened.
  assert.ok(asked <= 2, `asked ${asked} times`);
  assert.equal(cache.status.lastError?.code, 'quota_exceeded');
  local.beforePut = () => undefined;
  await cache.close();
});
