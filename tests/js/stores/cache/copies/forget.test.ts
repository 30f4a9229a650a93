import assert from 'node:assert/strict';
import { it } from 'node:test';

import { type LocalStore, MemoryLocalStore } from '../../../../../js/service/cache/index.js';
import { CACHE_STORES } from '../../../../../js/stores/cache/local_store/local_store.js';
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

it('forget forgets a copy that a fetch was storing, and ends the read', async () => {
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

it('a tab that has missed the message of forget ends its calls, and the next one works with new data', async () => {
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
  await assert.rejects(first.sync(), hasCode('aborted'));
  assert.deepEqual(first.status.pending, []);
  await first.createSession({ ...KEY, sessionId: 's2' });
  await first.sync();
  assert.deepEqual((await server.service.getSession(KEY))?.events, []);
  assert.equal((await server.service.getSession({ ...KEY, sessionId: 's2' }))?.id, 's2');
  await Promise.all([first.close(), second.close()]);
});

it('an append that waits behind another one is not stored after forget', async () => {
  const server = new Server();
  const local = new HeldStore();
  const { cache } = openCache(server, { local });
  const session = await cache.createSession(KEY);
  await cache.sync();
  const gate = new Gate();
  local.before = (mode) => (mode === 'readwrite' ? gate.pass() : undefined);
  const appends = ['e1', 'e2'].map((id) =>
    assert.rejects(cache.appendEvent({ session, event: event(id) }), hasCode('aborted')),
  );
  await until(() => gate.isReached);
  const forgotten = cache.forget();
  gate.open();
  await Promise.all([forgotten, ...appends]);
  await cache.close();
  await requireEmpty(local.memory);
});

it('a getOrCreateSession that waits for the remote creates nothing after forget', async () => {
  const server = new Server();
  const { cache, local } = openCache(server, { readTimeoutMs: 50 });
  const gate = holding(server);
  const made = assert.rejects(cache.getOrCreateSession(KEY), hasCode('aborted'));
  await until(() => gate.isReached);
  await cache.forget();
  gate.open();
  await made;
  await cache.close();
  await requireEmpty(local);
});

it('a read in a timer, and the limits of copies, store nothing after forget in another tab', async () => {
  const server = new Server();
  const memory = new MemoryLocalStore();
  const [one, two] = [new HeldStore(memory), new HeldStore(memory)];
  const { cache: first } = openCache(server, { local: one, maxSessions: 1 });
  const { cache: second } = openCache(server, { local: two });
  for (const sessionId of ['s1', 's2']) await first.createSession({ ...KEY, sessionId });
  await first.sync();
  // The copy is returned at once. What has changed is asked in a timer.
  await first.getSession(KEY);
  await second.forget();
  await new Promise((resolve) => setTimeout(resolve, 1300));
  await requireEmpty(memory);
  await Promise.all([first.close(), second.close()]);
  await requireEmpty(memory);
});

it('the tab that leads stores nothing that the remote tells it after forget in another tab', async () => {
  const server = new Server();
  const memory = new MemoryLocalStore();
  const { cache: first } = openCache(server, { local: new HeldStore(memory) });
  const { cache: second } = openCache(server, { local: new HeldStore(memory) });
  await first.createSession(KEY);
  await first.sync();
  await first.getSession(KEY);
  await until(() => server.feedRequests > 0);
  await second.forget();
  const session = (await server.service.getSession(KEY))!;
  await server.service.appendEvent({ session, event: event('e1') });
  await server.service.createSession({ ...KEY, sessionId: 's2' });
  await new Promise((resolve) => setTimeout(resolve, 1500));
  await requireEmpty(memory);
  await Promise.all([first.close(), second.close()]);
});

it('a tab that follows for another one stores nothing after forget', async () => {
  const server = new Server();
  const { cache: first, local } = openCache(server);
  const { cache: second } = openCache(server, { local });
  await first.createSession(KEY);
  await first.sync();
  await second.getSession(KEY);
  await until(() => server.feedRequests > 0);
  await second.forget();
  await server.service.createSession({ ...KEY, sessionId: 's2' });
  await new Promise((resolve) => setTimeout(resolve, 1500));
  await requireEmpty(local);
  assert.equal(first.status.lastError, undefined);
  await Promise.all([first.close(), second.close()]);
  await requireEmpty(local);
});

it('a call that begins after forget stores what it reads, in all tabs', async () => {
  const server = new Server();
  const { cache: first, local } = openCache(server);
  const { cache: second } = openCache(server, { local });
  await first.createSession(KEY);
  await first.sync();
  assert.equal((await second.getSession(KEY))?.id, 's1');
  await first.forget();
  assert.equal((await first.getSession(KEY))?.id, 's1');
  assert.equal((await second.getSession({ ...KEY, config: CACHE_ONLY }))?.id, 's1');
  await Promise.all([first.close(), second.close()]);
});

it('close waits until what the remote has ordered to forget is forgotten', async () => {
  const server = new Server();
  const { cache, local } = openCache(server);
  await cache.createSession(KEY);
  await cache.sync();
  server.intercept = () => Promise.resolve(Response.json({ code: 'forget' }, { status: 410 }));
  await assert.rejects(cache.sync());
  await cache.close();
  await requireEmpty(local);
});
