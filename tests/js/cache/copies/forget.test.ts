import assert from 'node:assert/strict';
import { it } from 'node:test';

import type { CachedSessionService } from '../../../../js/cache/index.js';
import { Feed } from '../../../../js/watch/feed.js';
import { event, hasCode, KEY, openCache, Server, until, USER } from '../fixture.js';
import { COPIES, Gate, HeldLocal, type LocalRequest, OWN, RECORDS } from './held_local.js';

const CACHE_ONLY = { reads: 'cache-only' } as const;

/** Asserts that the local storage has nothing of the owner. */
async function requireEmpty(local: HeldLocal): Promise<void> {
  const bare = local.tab();
  for (const appName of [COPIES, RECORDS]) {
    assert.deepEqual((await bare.listSessions({ appName })).sessions, []);
    assert.deepEqual(await bare.getUserState({ appName, userId: 'ada' }), {});
    assert.deepEqual(await bare.getAppState({ appName }), {});
  }
}

/** Forgets while a request is held, and opens the gate when everything that was there before is erased. */
async function forgetMeanwhile(cache: CachedSessionService, local: HeldLocal, gate: Gate) {
  const isErased = ({ verb, appName, userId }: LocalRequest): boolean =>
    verb === 'delete' && appName === OWN && userId === 'owners';
  const forgotten = cache.forget();
  await until(() => local.requests.some(isErased));
  gate.open();
  await forgotten;
}

async function openHeld(server: Server) {
  const local = await HeldLocal.open();
  const { cache } = openCache(server, { local: local.tab() });
  // The owner is known, so that nothing is noted again before it is stored.
  await cache.updateState({ ...USER, stateDelta: { 'user:seen': true } });
  await cache.sync();
  return { local, cache };
}

it('forget erases a copy that a fetch was storing', async () => {
  const server = new Server();
  await server.service.createSession(KEY);
  const { local, cache } = await openHeld(server);
  const gate = local.holdFirst(({ verb }) => verb === 'create');
  const read = cache.getSession(KEY).catch((error: unknown) => error);
  await until(() => gate.isReached);
  await forgetMeanwhile(cache, local, gate);
  await read;
  assert.equal(await cache.getSession({ ...KEY, config: CACHE_ONLY }), undefined);
  await requireEmpty(local);
  await cache.close();
});

it('forget refuses a creation that is under way', async () => {
  const server = new Server();
  const { local, cache } = await openHeld(server);
  server.isOffline = true;
  const gate = local.holdFirst(({ verb }) => verb === 'create');
  const created = assert.rejects(
    cache.createSession({ ...KEY, state: { 'user:name': 'Ada' } }),
    hasCode('aborted'),
  );
  await until(() => gate.isReached);
  await forgetMeanwhile(cache, local, gate);
  await created;
  assert.equal(await cache.getSession({ ...KEY, config: CACHE_ONLY }), undefined);
  await requireEmpty(local);
  await cache.close();
});

it('forget erases a state that is being written', async () => {
  const server = new Server();
  const { local, cache } = await openHeld(server);
  server.isOffline = true;
  const gate = local.holdFirst(({ verb, appName }) => verb === 'update' && appName === COPIES);
  const updated = cache.updateState({ ...USER, stateDelta: { 'user:name': 'Ada' } });
  await until(() => gate.isReached);
  await forgetMeanwhile(cache, local, gate);
  await updated.catch(() => undefined);
  await requireEmpty(local);
  assert.deepEqual(cache.status.pending, []);
  await cache.close();
});

it('forget ends a sync, which makes no copy again', async () => {
  const server = new Server();
  const { local, cache } = await openHeld(server);
  // More than are fetched at once.
  const keys = Array.from({ length: 30 }, (_, count) => ({ ...USER, sessionId: `s${count}` }));
  for (const key of keys) await server.service.createSession(key);
  for (const key of keys) await cache.getSession(key);
  const gate = new Gate();
  server.intercept = ({ url }) =>
    url.includes('/sessions/s') ? gate.pass().then(() => undefined) : Promise.resolve(undefined);
  const synced = assert.rejects(cache.sync(), hasCode('aborted'));
  await until(() => gate.isReached);
  await cache.forget();
  gate.open();
  await synced;
  await requireEmpty(local);
  await cache.close();
});

it('forget does not wait for a remote that never answers', async () => {
  const server = new Server();
  const { local, cache } = await openHeld(server);
  const gate = new Gate();
  server.intercept = () => gate.pass().then(() => undefined);
  const read = assert.rejects(cache.getSession(KEY), hasCode('aborted'));
  await cache.createSession({ ...KEY, sessionId: 'mine' });
  await until(() => cache.status.isSending);
  await cache.forget();
  await read;
  gate.open();
  await requireEmpty(local);
  await cache.close();
});

it('forget shows no failure of what it has ended', async () => {
  const server = new Server();
  const { cache } = await openHeld(server);
  const session = await cache.createSession(KEY);
  await cache.sync();
  const gate = new Gate();
  server.intercept = () => gate.pass().then(() => undefined);
  await cache.getSession(KEY);
  await cache.appendEvent({ session, event: event('e1') });
  await until(() => gate.isReached && cache.status.isSending);
  await cache.forget();
  gate.open();
  await until(() => !cache.status.isSending);
  await new Promise(setImmediate);
  assert.equal(cache.status.lastError, undefined);
  await cache.close();
});

it('forget erases a copy that another tab was storing', async () => {
  const server = new Server();
  await server.service.createSession(KEY);
  const { local, cache } = await openHeld(server);
  const feed = new Feed();
  const [first, second] = [local.tab(feed), local.tab(feed)];
  const { cache: forgetting } = openCache(server, { local: first });
  const { cache: reading } = openCache(server, { local: second });
  await reading.getUserState(USER);
  const gate = local.holdFirst(({ verb }) => verb === 'create');
  const read = assert.rejects(reading.getSession(KEY), hasCode('aborted'));
  await until(() => gate.isReached);
  await forgetting.forget();
  gate.open();
  await read;
  const bare = local.tab();
  assert.deepEqual((await bare.listSessions({ appName: COPIES })).sessions, []);
  await Promise.all([cache, forgetting, reading].map((service) => service.close()));
});

it('a tab that has missed the message of forget gives up what waited, when it returns', async () => {
  const server = new Server();
  const local = await HeldLocal.open();
  const feed = new Feed();
  const { cache: frozen } = openCache(server, { local: local.tab(feed) });
  const { cache: other } = openCache(server, { local: local.tab() });
  const gate = new Gate();
  server.intercept = () => gate.pass().then(() => undefined);
  await frozen.createSession(KEY);
  await until(() => frozen.status.isSending);
  await other.forget();
  assert.equal(frozen.status.pending.length, 1);
  feed.deliver([{ type: 'resync' }]);
  await until(() => frozen.status.pending.length === 0);
  gate.open();
  await Promise.all([frozen.close(), other.close()]);
});

it('a tab that has missed messages keeps what waits', async () => {
  const server = new Server();
  server.isOffline = true;
  const local = await HeldLocal.open();
  const feed = new Feed();
  const { cache } = openCache(server, { local: local.tab(feed) });
  await cache.createSession(KEY);
  const isRead = ({ verb, userId }: LocalRequest): boolean =>
    verb === 'sharedState' && userId === 'owners';
  local.requests.length = 0;
  feed.deliver([{ type: 'resync' }]);
  await until(() => local.requests.filter(isRead).length >= 2);
  assert.equal(cache.status.pending.length, 1);
  server.isOffline = false;
  await cache.sync();
  assert.equal((await server.service.getSession(KEY))?.id, 's1');
  await cache.close();
});

it('close waits until what the remote has ordered to forget is erased', async () => {
  const server = new Server();
  const { local, cache } = await openHeld(server);
  local.before = async ({ verb }) => {
    if (verb === 'delete') await new Promise((resolve) => setTimeout(resolve, 5));
  };
  server.intercept = () => Promise.resolve(Response.json({ code: 'forget' }, { status: 410 }));
  await assert.rejects(cache.sync());
  await cache.close();
  await requireEmpty(local);
});
