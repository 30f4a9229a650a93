// Deletions of a user or of a state: nothing of the same owner is sent beside them.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import type { SessionService } from '../../../../../js/index.js';
import type { CachedSessionService } from '../../../../../js/service/cache/index.js';
import { event, idsOf, KEY, openCache, Server, until, USER } from '../fixture.js';

const S2 = { ...KEY, sessionId: 's2' };

/** Lets the other requests that are under way arrive. */
const pause = () => new Promise((resolve) => setTimeout(resolve, 30));

/** Answers each deletion after the other requests that are under way. */
function delayDeletions(server: Server): void {
  server.intercept = async ({ method }) => {
    if (method === 'DELETE') await pause();
    return undefined;
  };
}

/** Opens a cache whose user is deleted offline, with a new session behind. */
async function deleteUserOffline(server: Server): Promise<CachedSessionService> {
  const { cache } = openCache(server);
  await cache.createSession(KEY);
  await cache.sync();
  server.isOffline = true;
  await cache.deleteUser(USER);
  const session = await cache.createSession(S2);
  await cache.appendEvent({ session, event: event('e1') });
  server.isOffline = false;
  return cache;
}

async function requireOnlyS2(server: Server, cache: CachedSessionService): Promise<void> {
  for (const service of [server.service, cache]) {
    assert.equal(await service.getSession(KEY), undefined);
    assert.deepEqual(idsOf(await service.getSession(S2)), ['e1']);
  }
  assert.deepEqual(await cache.outbox.list(), []);
  await cache.close();
}

it('a session that is created after its user was deleted is sent after the deletion', async () => {
  const server = new Server();
  const cache = await deleteUserOffline(server);
  delayDeletions(server);
  await cache.sync();
  await requireOnlyS2(server, cache);
});

it('a deletion of a user whose answer is lost deletes no session that was created since', async () => {
  const server = new Server();
  const cache = await deleteUserOffline(server);
  let isLost = false;
  server.intercept = async ({ method }) => {
    if (method !== 'DELETE' || isLost) return undefined;
    isLost = true;
    await server.service.deleteUser(USER);
    await pause();
    throw new TypeError('socket hang up');
  };
  await cache.sync().catch(() => cache.sync());
  assert.ok(isLost);
  await requireOnlyS2(server, cache);
});

it('a deletion of a user that an earlier visit left is sent before what this visit creates', async () => {
  const server = new Server();
  const { cache: first, local } = openCache(server);
  await first.createSession(KEY);
  await first.sync();
  server.isOffline = true;
  await first.deleteUser(USER);
  await first.close();
  server.isOffline = false;
  delayDeletions(server);
  const { cache } = openCache(server, { local });
  const session = await cache.createSession(S2);
  await cache.appendEvent({ session, event: event('e1') });
  await cache.sync();
  await requireOnlyS2(server, cache);
});

it('a session that is created again while it is being sent waits for the deletion of its user', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  server.intercept = async ({ method }) => {
    if (method === 'POST') await opened;
    return undefined;
  };
  await cache.createSession({ ...KEY, state: { n: 1 } });
  await until(() => server.requests.some((request) => request.startsWith('POST')));
  await cache.deleteUser(USER);
  await cache.createSession({ ...KEY, state: { n: 2 } });
  open();
  await cache.sync();
  for (const service of [server.service, cache]) {
    assert.deepEqual((await service.getSession(KEY))?.state, { n: 2 });
  }
  await cache.close();
});

for (const scope of ['user', 'app'] as const) {
  const clear = (cache: CachedSessionService) =>
    scope === 'user' ? cache.deleteUserState(USER) : cache.deleteAppState(USER);
  const read = (service: Pick<CachedSessionService, 'getUserState' | 'getAppState'>) =>
    scope === 'user' ? service.getUserState(USER) : service.getAppState(USER);

  it(`a deletion of the state of the ${scope} waits for the events that are being sent`, async () => {
    const server = new Server();
    const { cache } = openCache(server);
    const session = await cache.createSession(KEY);
    await cache.sync();
    let isHeld = false;
    server.intercept = async ({ method }) => {
      if (method !== 'POST') return undefined;
      isHeld = true;
      await pause();
      return undefined;
    };
    await cache.appendEvent({ session, event: event('e1', { [`${scope}:a`]: 1 }) });
    await until(() => isHeld);
    await clear(cache);
    await cache.sync();
    await cache.sync();
    assert.deepEqual(await read(server.service), {});
    assert.deepEqual(await read(cache), {});
    await cache.close();
  });

  it(`an event that is appended after a deletion of the state of the ${scope} is sent after it`, async () => {
    const server = new Server();
    const { cache } = openCache(server);
    const session = await cache.createSession({ ...KEY, state: { [`${scope}:a`]: 1 } });
    await cache.sync();
    server.isOffline = true;
    await clear(cache);
    await cache.appendEvent({ session, event: event('e1', { [`${scope}:b`]: 2 }) });
    server.isOffline = false;
    delayDeletions(server);
    await cache.sync();
    assert.deepEqual(await read(server.service), { b: 2 });
    assert.deepEqual(await read(cache), { b: 2 });
    await cache.close();
  });
}

it('sessions of other users are sent while a deletion of a user cannot be sent', async () => {
  const server = new Server();
  const cache = await deleteUserOffline(server);
  server.intercept = ({ method }) =>
    Promise.resolve(
      method === 'DELETE' ? Response.json({ detail: 'Conflict' }, { status: 409 }) : undefined,
    );
  const other = { ...KEY, userId: 'bob' };
  await cache.createSession(other);
  await assert.rejects(cache.sync());
  assert.ok(await server.service.getSession(other));
  assert.equal(await server.service.getSession(S2), undefined);
  server.intercept = undefined;
  await cache.sync();
  await requireOnlyS2(server, cache);
});

it('a read brings back nothing that waits to be deleted', async () => {
  const server = new Server();
  const { cache } = openCache(server, { reads: 'network-first' });
  await cache.createSession({ ...KEY, state: { 'user:a': 1, 'app:a': 1 } });
  await cache.sync();
  server.intercept = ({ method }) =>
    Promise.resolve(method === 'DELETE' ? new Response(null, { status: 503 }) : undefined);
  await cache.deleteAppState(USER);
  await cache.deleteUser(USER);
  assert.deepEqual((await cache.listSessions(USER)).sessions, []);
  assert.equal(await cache.getSession(KEY), undefined);
  assert.deepEqual(await cache.getUserState(USER), {});
  assert.deepEqual(await cache.getAppState(USER), {});
  const session = await cache.createSession({ ...KEY, state: { again: 1 } });
  assert.deepEqual((await cache.getSession(KEY))?.state, { again: 1 });
  await cache.appendEvent({ session, event: event('e1') });
  server.intercept = undefined;
  await cache.sync();
  for (const service of [server.service, cache]) {
    const read = await service.getSession(KEY);
    assert.deepEqual([idsOf(read), read?.state], [['e1'], { again: 1 }]);
  }
  await cache.close();
});

it('a deletion of a user keeps what its unsent sessions have written to the state of the app', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  server.isOffline = true;
  await cache.createSession({ ...KEY, state: { 'app:motd': 'hi', 'user:name': 'Ada' } });
  await cache.deleteUser(USER);
  server.isOffline = false;
  await cache.sync();
  assert.deepEqual(await server.service.getAppState(USER), { motd: 'hi' });
  assert.deepEqual(await server.service.getUserState(USER), {});
  await cache.close();
});

for (const scope of ['user', 'app'] as const) {
  const key = `${scope}:name`;
  const read = (service: SessionService) =>
    scope === 'user' ? service.getUserState(USER) : service.getAppState(USER);

  it(`a deletion of the state of the ${scope} also deletes what unsent events have written before`, async () => {
    const server = new Server();
    const { cache, local } = openCache(server);
    const session = await cache.createSession(KEY);
    await cache.sync();
    server.isOffline = true;
    await cache.appendEvent({ session, event: event('e1', { [key]: 'Ada' }) });
    if (scope === 'user') await cache.deleteUserState(USER);
    else await cache.deleteAppState(USER);
    await cache.close();
    server.isOffline = false;
    const next = openCache(server, { local }).cache;
    await next.sync();
    assert.deepEqual(idsOf(await server.service.getSession(KEY)), ['e1']);
    for (const service of [server.service, next]) assert.deepEqual(await read(service), {});
    await next.close();
  });
}

it('a deletion of a session keeps a shared value that is null', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  server.isOffline = true;
  await cache.createSession({ ...KEY, state: { 'user:name': null } });
  await cache.deleteSession(KEY);
  server.isOffline = false;
  await cache.sync();
  assert.deepEqual(await server.service.getUserState(USER), { name: null });
  await cache.close();
});

it('a deletion of a state is sent although a later value waits for the event of a session', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  const session = await cache.createSession(KEY);
  await cache.sync();
  server.isOffline = true;
  await cache.deleteUserState(USER);
  await cache.appendEvent({ session, event: event('e1', { 'user:name': 'first' }) });
  await cache.updateState({ ...USER, stateDelta: { 'user:name': 'last' } });
  await until(() => !cache.status.isSending);
  server.isOffline = false;
  await cache.sync();
  assert.deepEqual(await server.service.getUserState(USER), { name: 'last' });
  await cache.close();
});
