// What a cache that derives what is unsent from revisions gets wrong: one test for each kind.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { MemoryLocalStore } from '../../../../js/service/cache/index.js';
import { MUTATION_HEADER } from '../../../../js/stores/http/protocol.js';
import { overStorage } from '../../../../js/service/over_storage.js';
import { URL_OF_SERVER } from '../remote/fixture.js';
import { MapStorage } from '../../service/map_storage.js';
import { event, hasCode, idsOf, KEY, openCache, Server, until, USER } from './fixture.js';
import { entriesOf, Gate, HeldStore } from './held_store.js';

it('events of other devices are never sent, whatever is edited offline', async () => {
  const server = new Server();
  const theirs = await server.service.createSession({ ...KEY, events: [event('e1', { n: 1 })] });
  const { cache } = openCache(server);
  const session = (await cache.getSession(KEY))!;
  server.isOffline = true;
  await cache.appendEvent({ session, event: event('e1', { n: 2 }) });
  await server.service.appendEvents({
    session: theirs,
    events: [event('agent', { 'app:rate': 7 }), event('e3', { m: 3 })],
  });
  await server.service.appendEvent({ session: theirs, event: event('e3', { m: 4 }) });
  const bodies: string[] = [];
  server.intercept = async (request) => {
    if (request.method !== 'GET') bodies.push(await request.text());
    return undefined;
  };
  server.isOffline = false;
  await cache.getSession({ ...KEY, config: { reads: 'network-first' } });
  await cache.appendEvent({ session, event: event('ours') });
  await cache.sync();
  assert.ok(
    bodies.every((body) => !/"agent"|"e3"/.test(body)),
    bodies.join('\n'),
  );
  const expected = { n: 2, m: 4, 'app:rate': 7 };
  for (const service of [server.service, cache]) {
    const read = await service.getSession(KEY);
    assert.deepEqual([idsOf(read), read?.state], [['e1', 'agent', 'e3', 'ours'], expected]);
  }
  assert.deepEqual(await cache.outbox.list(), []);
  await cache.close();
});

it('an edit does not overwrite a later edit of another device', async () => {
  const server = new Server();
  const theirs = await server.service.createSession({ ...KEY, events: [event('e1', { n: 1 })] });
  const { cache } = openCache(server);
  const session = (await cache.getSession(KEY))!;
  server.isOffline = true;
  await cache.appendEvent({ session, event: event('e1', { n: 'ours' }) });
  await server.service.appendEvent({ session: theirs, event: event('e1', { n: 'theirs' }) });
  server.isOffline = false;
  await cache.sync();
  assert.deepEqual((await server.service.getSession(KEY))?.state, { n: 'theirs' });
  const [entry] = await cache.outbox.list();
  assert.deepEqual([entry?.error?.code, entry?.error?.eventId], ['stale_session', 'e1']);
  await cache.outbox.retry(KEY);
  await cache.sync();
  assert.deepEqual((await server.service.getSession(KEY))?.state, { n: 'ours' });
  await cache.close();
});

it('an append whose answer was lost, and which arrives later, does not undo an edit', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  const session = await cache.createSession(KEY);
  await cache.sync();
  let late: Request | undefined;
  server.intercept = (request) => {
    if (request.method !== 'POST' || late !== undefined) return Promise.resolve(undefined);
    late = request;
    return Promise.reject(new TypeError('socket hang up'));
  };
  await cache.appendEvent({ session, event: event('e1', { n: 'old' }) });
  await until(() => late !== undefined && !cache.status.isSending);
  await cache.appendEvent({ session, event: event('e1', { n: 'new' }) });
  await cache.sync();
  await server.send(late!);
  assert.deepEqual((await server.service.getSession(KEY))?.state, { n: 'new' });
  await cache.close();
});

it('the last written value of a shared key wins, however long each request takes', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  const session = await cache.createSession(KEY);
  const other = await cache.createSession({ ...KEY, sessionId: 's2' });
  await cache.sync();
  let pause = 60;
  server.intercept = async ({ method }) => {
    // Earlier requests take longer.
    if (method === 'POST') await new Promise((resolve) => setTimeout(resolve, (pause -= 25)));
    return undefined;
  };
  await cache.appendEvent({ session, event: event('e1', { 'user:name': 'first' }) });
  await cache.appendEvent({ session: other, event: event('e2', { 'user:name': 'last' }) });
  await cache.sync();
  for (const service of [server.service, cache]) {
    assert.deepEqual(await service.getUserState(USER), { name: 'last' });
  }
  await cache.close();
});

it('forget leaves nothing, and a tab that is open meanwhile loses nothing that it acknowledges later', async () => {
  const server = new Server();
  const memory = new MemoryLocalStore();
  const { cache: first } = openCache(server, { local: new HeldStore(memory) });
  const { cache: second } = openCache(server, { local: new HeldStore(memory) });
  server.isOffline = true;
  await first.createSession({ ...KEY, state: { 'user:name': 'Ada' } });
  await first.close();
  await second.forget();
  for (const store of ['sessions', 'events', 'outbox'] as const) {
    assert.deepEqual(await entriesOf(memory, store), []);
  }
  const session = await second.createSession({ ...KEY, sessionId: 's2' });
  await second.appendEvent({ session, event: event('e1') });
  server.isOffline = false;
  await second.sync();
  assert.equal(await server.service.getSession(KEY), undefined);
  assert.deepEqual(idsOf(await server.service.getSession({ ...KEY, sessionId: 's2' })), ['e1']);
  await second.close();
});

it('an event that is written twice arrives beside a busy device', async () => {
  const server = new Server();
  const theirs = await server.service.createSession(KEY);
  const { cache } = openCache(server);
  const session = (await cache.getSession(KEY))!;
  let count = 0;
  server.intercept = async ({ method }) => {
    // The other device writes before each of our requests.
    if (method === 'POST')
      await server.service.appendEvent({ session: theirs, event: event(`busy ${(count += 1)}`) });
    return undefined;
  };
  server.isOffline = true;
  await cache.appendEvent({ session, event: event('e1', { n: 1 }) });
  await cache.appendEvent({ session, event: event('e1', { n: 2 }) });
  server.isOffline = false;
  await cache.sync();
  assert.equal((await server.service.getSession(KEY))?.state.n, 2);
  await cache.close();
});

it("a write with 'through' waits for its own request alone", async () => {
  const server = new Server();
  const { cache } = openCache(server, { write: 'through' });
  await cache.createSession(KEY);
  const handles = [(await cache.getSession(KEY))!, (await cache.getSession(KEY))!] as const;
  const gates = [new Gate(), new Gate()] as const;
  let posts = 0;
  server.intercept = async ({ method }) => {
    if (method === 'POST') await gates[posts++]?.pass();
    return undefined;
  };
  const first = cache.appendEvent({ session: handles[0], event: event('e1') });
  await until(() => gates[0].isReached);
  let isSettled = false;
  const second = cache
    .appendEvent({ session: handles[1], event: event('e2') })
    .finally(() => (isSettled = true));
  await until(() => cache.status.pending[0]?.events === 2);
  gates[0].open();
  await until(() => gates[1].isReached);
  await first;
  assert.equal(isSettled, false);
  assert.deepEqual(idsOf(await server.service.getSession(KEY)), ['e1']);
  gates[1].open();
  await second;
  assert.deepEqual(idsOf(await server.service.getSession(KEY)), ['e1', 'e2']);
  await cache.close();
});

it("the times of a copy are the remote's, also if the clock of the device is fast", async () => {
  const server = new Server();
  const { cache } = openCache(server, { clock: () => Date.now() + 600_000 });
  await cache.createSession(KEY);
  await cache.sync();
  await server.service.createSession({ ...KEY, sessionId: 'newer' });
  await until(async () => {
    const { sessions } = await cache.listSessions({ ...USER, order: 'desc' });
    return sessions[0]?.id === 'newer';
  });
  await cache.close();
});

it('a write does not read all that waits', async () => {
  const server = new Server();
  server.isOffline = true;
  const { cache, local } = openCache(server);
  const session = await cache.createSession(KEY);
  const reads: number[] = [];
  const transaction = local.transaction.bind(local);
  local.transaction = (mode, work) =>
    transaction(mode, (inner) =>
      work({
        get: (...parameters) => inner.get(...parameters),
        put: (...parameters) => inner.put(...parameters),
        delete: (...parameters) => inner.delete(...parameters),
        keys: (...parameters) => inner.keys(...parameters),
        async list(...parameters) {
          const entries = await inner.list(...parameters);
          reads.push(entries.length);
          return entries;
        },
      }),
    );
  const events = Array.from({ length: 300 }, (_, index) => event(`e${index}`));
  await cache.appendEvents({ session, events });
  await until(() => !cache.status.isSending);
  reads.length = 0;
  for (let index = 0; index < 20; index += 1) {
    await cache.appendEvent({ session, event: event(`later ${index}`) });
  }
  const total = reads.reduce((sum, count) => sum + count, 0);
  assert.ok(total < 20 * 300, `${total} entries for 20 writes`);
  await cache.close();
});

it('at 200 conversations, a message and a list ask only for what has changed', async () => {
  const server = new Server();
  for (let number = 0; number < 200; number += 1) {
    const events = [event(`first ${number}`), event(`second ${number}`)];
    await server.service.createSession({ ...USER, sessionId: `s${number}`, events });
  }
  const { cache } = openCache(server);
  await cache.listSessions(USER);
  const session = (await cache.getSession(KEY))!;
  await cache.sync();
  const asked: string[] = [];
  let bytes = 0;
  server.intercept = async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname.endsWith('/users/ada/changes')) return undefined;
    asked.push(`${request.method} ${pathname}`);
    const body = await request.clone().text();
    const response = await server.send(request);
    bytes += body.length + (await response.clone().text()).length;
    return response;
  };
  await cache.appendEvent({ session, event: event('message') });
  await until(() => cache.status.pending.length === 0);
  assert.equal((await cache.listSessions(USER)).sessions.length, 200);
  await until(() => asked.length === 2);
  // Time for a request too many.
  await new Promise((resolve) => setTimeout(resolve, 50));
  await cache.close();
  assert.deepEqual([...asked].sort(), [
    'GET /api/apps/shop/sessions',
    'POST /api/apps/shop/users/ada/sessions/s1/events',
  ]);
  assert.ok(bytes < 10_000, `${bytes} bytes`);
});

it('a function of updateState computes on the copy and on what another tab has not sent', async () => {
  const server = new Server();
  await server.service.updateState({ ...USER, stateDelta: { 'user:visits': 1 } });
  const { cache: first, local } = openCache(server);
  const { cache: second } = openCache(server, { local });
  assert.deepEqual(await first.getUserState(USER), { visits: 1 });
  server.isOffline = true;
  for (const tab of [first, second]) {
    await tab.updateState({
      ...USER,
      stateDelta: ({ 'user:visits': visits = 0 }) => ({ 'user:visits': Number(visits) + 1 }),
    });
  }
  server.isOffline = false;
  await second.sync();
  assert.deepEqual(await server.service.getUserState(USER), { visits: 3 });
  for (const tab of [first, second]) {
    assert.deepEqual(await tab.getUserState(USER), { visits: 3 });
    await tab.close();
  }
});

it('over a storage that keeps no mutations, a write whose answer was lost is stored once', async () => {
  const server = new Server(overStorage(new MapStorage(), {}));
  const { cache } = openCache(server);
  const session = await cache.createSession(KEY);
  await cache.sync();
  const version = await server.send(new Request(`${URL_OF_SERVER}/version`));
  assert.equal(((await version.json()) as { keepsMutations: unknown }).keepsMutations, false);
  const mutations: (string | null)[] = [];
  server.intercept = ({ method, headers }) => {
    if (method === 'POST') mutations.push(headers.get(MUTATION_HEADER));
    return Promise.resolve(undefined);
  };
  server.lostResponses = 1;
  await cache.appendEvent({ session, event: event('e1', { n: 1 }) });
  await cache.sync().catch(() => cache.sync());
  assert.deepEqual(mutations, [null, null]);
  for (const service of [server.service, cache]) {
    const read = await service.getSession(KEY);
    assert.deepEqual([idsOf(read), read?.state], [['e1'], { n: 1 }]);
  }
  await cache.close();
});

it("an answer that is not the handler's refuses nothing, and an expired login is a status of its own", async () => {
  const server = new Server();
  const { cache } = openCache(server);
  const session = await cache.createSession(KEY);
  await cache.sync();
  server.intercept = () => Promise.resolve(Response.json({ detail: 'Log in.' }, { status: 401 }));
  await cache.appendEvent({ session, event: event('e1') });
  await until(() => cache.status.isSignedOut);
  assert.equal((await cache.outbox.list())[0]?.error, undefined);
  // A network asks its user to log in.
  server.isHandler = false;
  server.intercept = () => Promise.resolve(new Response('Log in.', { status: 403 }));
  await assert.rejects(cache.sync(), hasCode('connection_lost'));
  assert.equal(cache.status.isOnline, false);
  assert.equal((await cache.outbox.list())[0]?.error, undefined);
  server.isHandler = true;
  server.intercept = undefined;
  server.isOffline = true;
  await assert.rejects(cache.sync(), hasCode('connection_lost'));
  assert.equal(cache.status.isOnline, false);
  server.isOffline = false;
  await cache.sync();
  assert.deepEqual([cache.status.isOnline, cache.status.isSignedOut], [true, false]);
  assert.deepEqual(idsOf(await server.service.getSession(KEY)), ['e1']);
  await cache.close();
});

it('a late refusal names its mutation, and blocks its own session alone', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  const session = await cache.createSession(KEY);
  const other = await cache.createSession({ ...KEY, sessionId: 's2' });
  await cache.sync();
  const gate = new Gate();
  server.intercept = async (request) => {
    if (request.method !== 'POST' || !(await request.text()).includes('bad')) return undefined;
    await gate.pass();
    return Response.json({ code: 'schema_violation', detail: 'No.' }, { status: 422 });
  };
  await cache.appendEvent({ session, event: event('bad') });
  await until(() => gate.isReached);
  await cache.appendEvent({ session, event: event('behind') });
  await cache.appendEvent({ session: other, event: event('o1') });
  gate.open();
  await cache.sync();
  const [entry, ...others] = await cache.outbox.list();
  assert.deepEqual([entry?.key, entry?.error?.eventId, others], [KEY, 'bad', []]);
  assert.deepEqual(idsOf(await server.service.getSession({ ...KEY, sessionId: 's2' })), ['o1']);
  await cache.outbox.drop(KEY, 'bad');
  await cache.sync();
  assert.deepEqual(idsOf(await server.service.getSession(KEY)), ['behind']);
  await cache.close();
});
