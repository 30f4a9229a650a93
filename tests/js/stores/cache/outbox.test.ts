import assert from 'node:assert/strict';
import { it } from 'node:test';

import type { CachedSessionService, CacheKey } from '../../../../js/service/cache/index.js';
import { StateSchemaError } from '../../../../js/index.js';
import {
  createOffline,
  event,
  hasCode,
  idsOf,
  KEY,
  openCache,
  Server,
  until,
  USER,
} from './fixture.js';

/** Refuses appends whose body has this text. */
function refusing(server: Server, text: string): void {
  server.intercept = async (request) => {
    const isRefused = request.method !== 'GET' && (await request.text()).includes(text);
    if (!isRefused) return undefined;
    return Response.json(
      { code: 'schema_violation', detail: 'Not in this shop.' },
      { status: 422 },
    );
  };
}

it('an event that the remote refuses is set aside, and what is behind it is sent', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  refusing(server, 'bad');
  const session = await cache.createSession(KEY);
  const other = await cache.createSession({ ...KEY, sessionId: 's2' });
  await cache.appendEvents({ session, events: [event('e1'), event('bad'), event('e3')] });
  await cache.appendEvent({ session: other, event: event('o1') });
  await cache.sync();
  assert.deepEqual(idsOf(await server.service.getSession(KEY)), ['e1', 'e3']);
  assert.deepEqual(idsOf(await server.service.getSession({ ...KEY, sessionId: 's2' })), ['o1']);
  const [entry, ...others] = await cache.outbox.list();
  assert.deepEqual(others, []);
  assert.deepEqual(entry!.key, KEY);
  assert.deepEqual([idsOf(entry), entry!.blocked], [['bad'], []]);
  const { code, message, status, eventId } = entry!.error!;
  assert.deepEqual(
    [code, message, status, eventId],
    ['schema_violation', 'Not in this shop.', 422, 'bad'],
  );
  assert.equal(cache.status.lastError?.code, 'schema_violation');
  assert.deepEqual(cache.status.pending, [{ key: KEY, events: 1 }]);

  await assert.rejects(cache.outbox.drop(KEY, 'none'), hasCode('not_found'));
  await cache.outbox.drop(KEY, 'bad');
  await cache.sync();
  for (const service of [server.service, cache]) {
    assert.deepEqual(idsOf(await service.getSession(KEY)), ['e1', 'e3']);
  }
  assert.deepEqual(await cache.outbox.list(), []);
  await cache.close();
});

it('a cursor ends when the refused event that it names is dropped', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  refusing(server, 'bad');
  const session = await cache.createSession(KEY);
  await cache.appendEvents({ session, events: [event('e1'), event('bad')] });
  await cache.sync();
  const page = { ...KEY, limit: 1 };
  const { events, before } = await cache.listEvents(page);
  assert.deepEqual(idsOf({ events }), ['bad']);
  assert.deepEqual(idsOf(await cache.listEvents({ ...page, before })), ['e1']);
  await cache.outbox.drop(KEY, 'bad');
  await assert.rejects(cache.listEvents({ ...page, before }), hasCode('invalid_argument'));
  await cache.close();
});

it('a dropped event of an unsent creation no longer changes the state of the user', async () => {
  const server = new Server();
  const { cache } = openCache(server, { reads: 'cache-only' });
  server.isOffline = true;
  await cache.createSession({
    ...KEY,
    events: [event('e1', { 'user:tea': 'green' }), event('e2')],
  });
  assert.equal((await cache.getUserState(USER)).tea, 'green');

  await cache.outbox.drop(KEY, 'e1');
  assert.deepEqual(await cache.getUserState(USER), {});
  assert.deepEqual((await cache.getSession(KEY))?.state, {});
  server.isOffline = false;
  await cache.sync();
  assert.deepEqual(idsOf(await server.service.getSession(KEY)), ['e2']);
  assert.deepEqual(await server.service.getUserState(USER), {});
  await cache.close();
});

it('a refused event can be retried, and dropped and appended again', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  refusing(server, 'bad');
  const session = await cache.createSession(KEY);
  await cache.appendEvent({ session, event: event('e1', { note: 'bad' }) });
  await cache.sync();
  await cache.outbox.retry(KEY);
  await cache.sync();
  assert.equal((await cache.outbox.list())[0]?.error?.eventId, 'e1');
  await cache.outbox.drop(KEY, 'e1');
  await cache.appendEvent({ session, event: event('e1', { note: 'good' }) });
  await cache.sync();
  assert.deepEqual((await server.service.getSession(KEY))?.state, { note: 'good' });
  assert.deepEqual((await cache.getSession(KEY))?.state, { note: 'good' });
  server.intercept = undefined;
  assert.deepEqual(await cache.outbox.list(), []);
  await cache.close();
});

it('an unsent session keeps its initial state when an unsent event is dropped', async () => {
  const server = new Server();
  const { cache, session } = await createOffline(server, false);
  await cache.appendEvents({ session, events: [event('e1', { kept: 2 }), event('e2')] });
  const initialState = async () => (await cache.sessionInfo(KEY)).initialState;
  assert.deepEqual(await initialState(), { kept: 1 });
  await cache.outbox.drop(KEY, 'e1');
  assert.deepEqual(await initialState(), { kept: 1 });
  server.isOffline = false;
  await cache.sync();
  assert.deepEqual((await server.service.sessionInfo(KEY)).initialState, { kept: 1 });
  await cache.close();
});

/** Creates a session whose event has a shared key that is kept back. */
async function createKeptBack(server: Server) {
  const { cache } = openCache(server);
  await server.service.updateState({ ...USER, stateDelta: { 'user:name': 'Ada' } });
  server.isOffline = true;
  const events = [event('e1', { n: 1 }), event('e2', { 'user:name': 'old', 'user:kept': 1 })];
  const session = await cache.createSession({ ...KEY, events, sharedState: 'keep' });
  return { cache, session };
}

/** Sends everything, and checks the user's state. */
async function requireUserState(
  server: Server,
  cache: CachedSessionService,
  expected: Record<string, unknown>,
): Promise<void> {
  server.isOffline = false;
  await cache.sync();
  for (const service of [server.service, cache]) {
    assert.deepEqual(await service.getUserState(USER), expected);
  }
  assert.deepEqual(await cache.outbox.list(), []);
  await cache.close();
}

it('an event that was sent, and whose answer is missing, can be appended in a new version', async () => {
  const server = new Server();
  const { cache, session } = await createOffline(server, true);
  await cache.appendEvent({ session, event: event('e1', { n: 1 }) });
  await until(() => !cache.status.isOnline && !cache.status.isSending);
  await cache.appendEvent({ session, event: event('e1', { n: 2 }) });
  server.isOffline = false;
  await cache.sync();
  assert.deepEqual((await server.service.getSession(KEY))?.state, { kept: 1, n: 2 });
  await cache.close();
});

it("shared keys of a later event are sent if an event of a creation with sharedState 'keep' is dropped", async () => {
  const server = new Server();
  const { cache, session } = await createKeptBack(server);
  await cache.appendEvent({ session, event: event('e3', { 'user:shared': 3 }) });
  await cache.outbox.drop(KEY, 'e1');
  await requireUserState(server, cache, { name: 'Ada', shared: 3 });
  assert.deepEqual(idsOf(await server.service.getSession(KEY)), ['e2', 'e3']);
});

it("a deletion of an unsent session changes no shared key that sharedState 'keep' keeps back", async () => {
  const server = new Server();
  const { cache } = await createKeptBack(server);
  await cache.deleteSession(KEY);
  await requireUserState(server, cache, { name: 'Ada' });
});

it('the refused replacement of an event that the remote has can be dropped before others', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  const session = await cache.createSession(KEY);
  await cache.appendEvent({ session, event: event('e1', { note: 'first' }) });
  await cache.sync();
  refusing(server, 'bad');
  await cache.appendEvents({ session, events: [event('e1', { note: 'bad' }), event('e2')] });
  await cache.sync();
  await cache.outbox.drop(KEY, 'e1');
  await cache.sync();
  assert.deepEqual(await cache.outbox.list(), []);
  for (const service of [server.service, cache]) {
    const read = await service.getSession(KEY);
    assert.deepEqual([idsOf(read), read?.state], [['e1', 'e2'], { note: 'first' }]);
  }
  await cache.close();
});

it('the remote owns the state of a refused event again once the event is dropped', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  const session = await cache.createSession({ ...KEY, state: { note: 'old' } });
  await cache.sync();
  refusing(server, 'bad');
  await cache.appendEvent({ session, event: event('bad', { note: 'new', other: 1 }) });
  await cache.sync();
  await cache.outbox.drop(KEY);
  const read = await cache.getSession(KEY);
  assert.deepEqual([idsOf(read), read?.state], [[], { note: 'old' }]);
  assert.deepEqual(await cache.outbox.list(), []);
  await cache.close();
});

it('a session deleted on the remote with unsent work is set aside, and can be dropped', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  const session = await cache.createSession(KEY);
  await cache.sync();
  server.isOffline = true;
  await cache.appendEvent({ session, event: event('e1') });
  await server.service.deleteSession(KEY);
  server.isOffline = false;
  await cache.sync();
  const [entry] = await cache.outbox.list();
  assert.deepEqual([entry?.error?.code, idsOf(entry)], ['not_found', ['e1']]);
  assert.deepEqual(idsOf(await cache.getSession(KEY)), ['e1']);
  await cache.outbox.drop(KEY);
  assert.equal(await cache.getSession(KEY), undefined);
  assert.deepEqual(await cache.outbox.list(), []);
  await cache.close();
});

it('a session deleted on the remote keeps its other unsent events when one is dropped', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  const session = await cache.createSession(KEY);
  await cache.sync();
  server.isOffline = true;
  for (const id of ['e1', 'e2']) await cache.appendEvent({ session, event: event(id) });
  await server.service.deleteSession(KEY);
  server.isOffline = false;
  await cache.sync();
  server.isOffline = true;
  await cache.outbox.drop(KEY, 'e1');
  assert.deepEqual(idsOf(await cache.getSession(KEY)), ['e2']);
  server.isOffline = false;
  await cache.sync();
  await cache.outbox.drop(KEY, 'e2');
  assert.equal(await cache.getSession(KEY), undefined);
  await cache.close();
});

it('a session deleted on the remote without unsent work is deleted', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  await cache.createSession(KEY);
  await cache.sync();
  await server.service.deleteSession(KEY);
  await cache.sync();
  assert.equal(await cache.getSession(KEY), undefined);
  await cache.close();
});

it('a refused state is set aside, and can be dropped', async () => {
  const server = new Server();
  await server.service.updateState({ ...USER, stateDelta: { 'user:name': 'Ada' } });
  const { cache } = openCache(server);
  refusing(server, 'bad');
  await cache.updateState({ ...USER, stateDelta: { 'user:name': 'bad' } });
  await cache.sync();
  const [entry] = await cache.outbox.list();
  assert.deepEqual([entry?.key, entry?.error?.code], [USER, 'schema_violation']);
  await cache.outbox.drop(USER);
  assert.deepEqual(await cache.getUserState(USER), { name: 'Ada' });
  await cache.close();
});

it('a StateSchemaError of the remote reaches a writer through, and the outbox has its key', async () => {
  const server = new Server();
  server.intercept = async (request) => {
    if (request.method === 'GET' || !(await request.text()).includes('bad')) return undefined;
    const refusal = { code: 'schema_violation', detail: 'Not in this shop.', key: 'colour' };
    return Response.json(refusal, { status: 400 });
  };
  const { cache } = openCache(server, { write: 'through' });
  const session = await cache.createSession(KEY);
  await assert.rejects(cache.appendEvent({ session, event: event('bad') }), (error) => {
    assert.ok(error instanceof StateSchemaError);
    return error.key === 'colour' && error.message === 'Not in this shop.';
  });
  const [entry] = await cache.outbox.list();
  assert.deepEqual([entry?.error?.code, entry?.error?.key], ['schema_violation', 'colour']);
  assert.equal(cache.status.lastError?.key, 'colour');
  await cache.close();
});

it('a server that fails keeps everything waiting, and the status says so', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  const seen: boolean[] = [];
  cache.watchStatus(({ isOnline }) => seen.push(isOnline));
  for (const status of [401, 429, 500, 503]) {
    server.intercept = () => Promise.resolve(Response.json({ detail: 'no' }, { status }));
    await cache.updateState({ ...USER, stateDelta: { 'user:n': status } });
    await assert.rejects(cache.sync(USER), hasCode('remote'));
    assert.equal((await cache.outbox.list())[0]?.error, undefined);
  }
  assert.equal(cache.status.isOnline, false);
  server.intercept = undefined;
  await cache.sync();
  assert.deepEqual([cache.status.isOnline, cache.status.lastError], [true, undefined]);
  assert.deepEqual(await server.service.getUserState(USER), { n: 503 });
  assert.ok(seen.includes(false) && seen.at(-1) === true);
  await cache.close();
});

const WRONG_KEYS = [
  { appName: 'shop', userId: '' },
  { appName: '', userId: 'ada' },
  { appName: 'shop', userId: '\ud800' },
  { appName: 'shop', userId: 'u'.repeat(513), sessionId: 's1' },
  { appName: 'shop', sessionId: 's1' },
  null,
];

it('a key with an id that is not valid is refused, and later calls work', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  await cache.createSession(KEY);
  for (const key of WRONG_KEYS as CacheKey[]) {
    for (const verb of ['list', 'retry', 'drop'] as const) {
      await assert.rejects(cache.outbox[verb](key), hasCode('invalid_argument'));
    }
    await assert.rejects(cache.sync(key), hasCode('invalid_argument'));
  }
  await cache.sync();
  assert.equal(cache.status.lastError, undefined);
  await cache.close();
});
