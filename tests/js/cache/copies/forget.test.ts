import assert from 'node:assert/strict';
import { it } from 'node:test';

import { type LocalStore, MemoryLocalStore } from '../../../../js/cache/index.js';
import { CACHE_STORES } from '../../../../js/cache/local/local_store.js';
import { event, hasCode, KEY, openCache, Server, until, USER } from '../fixture.js';
import { entriesOf, Gate, HeldStore } from '../held_store.js';

const CACHE_ONLY = { reads: 'cache-only' } as const;

/** Asserts that the local storage has nothing of the owner. */
async function requireEmpty(local: LocalStore): Promise<void> {
  for (const store of CACHE_STORES) assert.deepEqual(await entriesOf(local, store), []);
}

/** A server whose requests to change something wait. */
function holding(server: Server): Gate {
  const gate = new Gate();
  server.intercept = () => gate.pass().then(() => undefined);
  return gate;
}

it('forget leaves no row, no text and no name', async () => {
  const server = new Server();
  const { cache, local } = openCache(server);
  const session = await cache.createSession({
    ...KEY,
    state: { 'user:name': 'Ada', 'app:motd': 'hi' },
  });
  await cache.appendEvent({ session, event: event('e1') });
  await cache.sync();
  await cache.listSessions(USER);
  server.isOffline = true;
  await cache.appendEvent({ session, event: event('e2') });
  await cache.forget();
  await cache.close();
  await requireEmpty(local);
});

it('forget erases a copy that a fetch was storing, and ends the read', async () => {
  const server = new Server();
  await server.service.createSession(KEY);
  const { cache, local } = openCache(server);
  const gate = holding(server);
  const read = assert.rejects(cache.getSession(KEY), hasCode('aborted'));
  await until(() => gate.isReached);
  await cache.forget();
  gate.open();
  await read;
  assert.equal(await cache.getSession({ ...KEY, config: CACHE_ONLY }), undefined);
  await cache.close();
  await requireEmpty(local);
});

it('forget ends a sync, which makes no copy again', async () => {
  const server = new Server();
  // More than are fetched at once.
  const keys = Array.from({ length: 30 }, (_, count) => ({ ...USER, sessionId: `s${count}` }));
  for (const key of keys) await server.service.createSession(key);
  const { cache, local } = openCache(server);
  for (const key of keys) await cache.getSession(key);
  await cache.sync();
  const gate = new Gate();
  server.intercept = ({ url }) =>
    url.includes('/sessions/s') ? gate.pass().then(() => undefined) : Promise.resolve(undefined);
  const synced = assert.rejects(cache.sync(), hasCode('aborted'));
  await until(() => gate.isReached);
  await cache.forget();
  gate.open();
  await synced;
  await cache.close();
  await requireEmpty(local);
});

it('forget does not wait for a remote that never answers, and shows no failure of what it ended', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  const gate = holding(server);
  const read = assert.rejects(cache.getSession(KEY), hasCode('aborted'));
  await cache.createSession({ ...KEY, sessionId: 'mine' });
  await until(() => cache.status.isSending);
  await cache.forget();
  await read;
  gate.open();
  await until(() => !cache.status.isSending);
  assert.equal(cache.status.lastError, undefined);
  assert.deepEqual(cache.status.pending, []);
  await cache.close();
});

it('a tab that has missed the message of forget sends nothing of what waited', async () => {
  const server = new Server();
  const memory = new MemoryLocalStore();
  // Two storages: no messages between the tabs.
  const { cache: first } = openCache(server, { local: new HeldStore(memory) });
  const { cache: second } = openCache(server, { local: new HeldStore(memory) });
  const session = await first.createSession(KEY);
  await first.sync();
  server.isOffline = true;
  await first.appendEvent({ session, event: event('forgotten') });
  await until(() => !first.status.isOnline && !first.status.isSending);
  await second.forget();
  server.isOffline = false;
  await first.sync();
  assert.deepEqual((await server.service.getSession(KEY))?.events, []);
  await Promise.all([first.close(), second.close()]);
});

it('what is written after forget is sent, also by a tab that has missed the message', async () => {
  const server = new Server();
  const memory = new MemoryLocalStore();
  const { cache: first } = openCache(server, { local: new HeldStore(memory) });
  const { cache: second } = openCache(server, { local: new HeldStore(memory) });
  await first.createSession(KEY);
  await first.sync();
  await second.forget();
  await first.createSession({ ...KEY, sessionId: 's2' });
  await first.sync();
  assert.equal((await server.service.getSession({ ...KEY, sessionId: 's2' }))?.id, 's2');
  await Promise.all([first.close(), second.close()]);
});

it('close waits until what the remote has ordered to forget is erased', async () => {
  const server = new Server();
  const { cache, local } = openCache(server);
  await cache.createSession(KEY);
  await cache.sync();
  server.intercept = () => Promise.resolve(Response.json({ code: 'forget' }, { status: 410 }));
  await assert.rejects(cache.sync());
  await cache.close();
  await requireEmpty(local);
});
