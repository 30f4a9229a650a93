import assert from 'node:assert/strict';
import { it } from 'node:test';

import {
  event,
  hasCode,
  idsOf,
  KEY,
  openCache,
  Server,
  until,
  untilSent,
  USER,
} from './fixture.js';
import { entriesOf } from './held_store.js';

async function stored(server: Server, count: number, sessionId = 's1') {
  const events = Array.from({ length: count }, (_, index) => event(`e${index}`));
  return server.service.createSession({ ...KEY, sessionId, state: { topic: 'tea' }, events });
}

it('a session that was never seen is fetched once, however many ask', async () => {
  const server = new Server();
  await stored(server, 3);
  const { cache } = openCache(server);
  const reads = await Promise.all(Array.from({ length: 5 }, () => cache.getSession(KEY)));
  for (const read of reads) assert.deepEqual([idsOf(read), read?.state], [['e0', 'e1', 'e2'], { topic: 'tea' }]); // prettier-ignore
  const gets = server.requests.filter((request) => request === 'GET /api/apps/shop/users/ada/sessions/s1'); // prettier-ignore
  assert.equal(gets.length, 1);
  assert.equal(await cache.getSession({ ...KEY, sessionId: 'none' }), undefined);
  await cache.close();
});

it('cache-first returns the copy at once, and watch reports what the remote has changed', async () => {
  const server = new Server();
  const theirs = await stored(server, 1);
  const { cache } = openCache(server);
  await cache.getSession(KEY);
  await cache.sync();
  await server.service.appendEvent({ session: theirs, event: event('new', { topic: 'coffee' }) });
  const notices: string[] = [];
  cache.watch(KEY, { onNotice: ({ type }) => notices.push(type) });
  assert.deepEqual(idsOf(await cache.getSession(KEY)), ['e0']);
  await until(() => notices.length > 0);
  assert.deepEqual(notices, ['appended']);
  const read = await cache.getSession(KEY);
  assert.deepEqual([idsOf(read), read?.state], [['e0', 'new'], { topic: 'coffee' }]);
  await cache.close();
});

it('network-first returns what the remote has, and offline the copy', async () => {
  const server = new Server();
  const theirs = await stored(server, 1);
  const { cache } = openCache(server, { reads: 'network-first' });
  await cache.getSession(KEY);
  await server.service.appendEvent({ session: theirs, event: event('new') });
  assert.deepEqual(idsOf(await cache.getSession(KEY)), ['e0', 'new']);
  server.isOffline = true;
  assert.deepEqual(idsOf(await cache.getSession(KEY)), ['e0', 'new']);
  await assert.rejects(cache.getSession({ ...KEY, sessionId: 's2' }), hasCode('connection_lost'));
  await cache.close();
});

it('network-first waits no longer than readTimeoutMs', async () => {
  const server = new Server();
  await stored(server, 1);
  const { cache } = openCache(server, { reads: 'network-first', readTimeoutMs: 20 });
  await cache.getSession(KEY);
  server.intercept = () => new Promise(() => undefined);
  assert.deepEqual(idsOf(await cache.getSession(KEY)), ['e0']);
  await cache.close();
});

it('cache-only asks nothing, also for one call alone', async () => {
  const server = new Server();
  await stored(server, 1);
  const { cache } = openCache(server);
  assert.equal(await cache.getSession({ ...KEY, config: { reads: 'cache-only' } }), undefined);
  assert.deepEqual(server.requests, []);
  await assert.rejects(
    cache.getSession({ ...KEY, config: { reads: 'never' as 'cache-only' } }),
    hasCode('invalid_argument'),
  );
  await cache.close();
});

it('a long session is fetched with its newest events, and whole when a read needs more', async () => {
  const server = new Server();
  await stored(server, 300);
  const { cache } = openCache(server);
  const config = { numRecentEvents: 5 };
  assert.deepEqual(idsOf(await cache.getSession({ ...KEY, config })), idsOf({ events: [295, 296, 297, 298, 299].map((n) => event(`e${n}`)) })); // prettier-ignore
  const inCopy = await cache.getSession({ ...KEY, config: { reads: 'cache-only' } });
  assert.equal(inCopy?.events.length, 100);
  assert.equal((await cache.getSession(KEY))?.events.length, 300);
  await cache.close();
});

it('a read that needs more events than the copy has gets those of the copy offline', async () => {
  const server = new Server();
  await stored(server, 300);
  const { cache } = openCache(server);
  await cache.getSession({ ...KEY, config: { numRecentEvents: 5 } });
  server.isOffline = true;
  assert.equal((await cache.getSession(KEY))?.events.length, 100);
  await cache.close();
});

it('the first list comes from the remote, later ones from the copies', async () => {
  const server = new Server();
  for (const id of ['a', 'b']) await stored(server, 2, id);
  const { cache } = openCache(server);
  const list = async () => (await cache.listSessions(USER)).sessions.map(({ id }) => id).sort();
  assert.deepEqual(await list(), ['a', 'b']);
  await stored(server, 1, 'c');
  await server.service.deleteSession({ ...KEY, sessionId: 'a' });
  assert.deepEqual(await list(), ['a', 'b']);
  await until(async () => (await list()).join() === 'b,c');
  server.isOffline = true;
  assert.deepEqual(await list(), ['b', 'c']);
  server.isOffline = false;
  assert.equal((await cache.getSession({ ...KEY, sessionId: 'b' }))?.events.length, 2);
  await cache.close();
});

it('the states of users and apps come from the remote once, and then from the copy', async () => {
  const server = new Server();
  await server.service.updateState({
    ...USER,
    stateDelta: { 'user:name': 'Ada', 'app:motd': 'a' },
  });
  const { cache } = openCache(server);
  assert.deepEqual(await cache.getUserState(USER), { name: 'Ada' });
  assert.deepEqual(await cache.getAppState(USER), { motd: 'a' });
  await server.service.updateState({ ...USER, stateDelta: { 'user:name': 'Eva' } });
  assert.deepEqual(await cache.getUserState(USER), { name: 'Ada' });
  await until(async () => (await cache.getUserState(USER)).name === 'Eva');
  await cache.close();
});

it('a session that is created again on the remote replaces the copy', async () => {
  const server = new Server();
  await stored(server, 3);
  const { cache } = openCache(server);
  await cache.getSession(KEY);
  await server.service.deleteSession(KEY);
  await server.service.createSession({ ...KEY, state: { other: 1 } });
  await cache.sync();
  const read = await cache.getSession(KEY);
  assert.deepEqual([idsOf(read), read?.state], [[], { other: 1 }]);
  await cache.close();
});

it('more than a thousand changes of the remote replace the copy', async () => {
  const server = new Server();
  const theirs = await stored(server, 2);
  const { cache } = openCache(server);
  await cache.getSession(KEY);
  const events = Array.from({ length: 1100 }, (_, index) => event(`n${index}`));
  await server.service.appendEvents({ session: theirs, events });
  await cache.sync();
  assert.equal((await cache.getSession(KEY))?.events.length, 1102);
  await cache.close();
});

it('a damaged event fails a read once, online and offline; then the copy is fetched again', async () => {
  for (const isOffline of [false, true]) {
    const server = new Server();
    await stored(server, 2);
    const { cache, local } = openCache(server);
    const session = (await cache.getSession(KEY))!;
    server.isOffline = true;
    await cache.appendEvent({ session, event: event('unsent') });
    const entries = await entriesOf(local, 'events');
    const { key, value } = entries.find(
      ({ value }) => (value as { readonly id?: string }).id === 'e1',
    )!;
    const record = value as { readonly text: string };
    const damaged = { ...record, text: record.text.slice(1) };
    await local.transaction('readwrite', (transaction) => transaction.put('events', key, damaged));
    server.isOffline = isOffline;
    await assert.rejects(cache.getSession(KEY), hasCode('corrupt_record'));
    server.isOffline = false;
    await cache.sync();
    assert.deepEqual(idsOf(await cache.getSession(KEY)), ['e0', 'e1', 'unsent']);
    await cache.close();
  }
});

it('a list that the remote made before a session was created removes nothing of that session', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  let isListed = false;
  server.intercept = async (request) => {
    const { method, url } = request;
    const isList = method === 'GET' && new URL(url).pathname.endsWith('/sessions');
    if (method === 'POST') await until(() => isListed);
    if (!isList) return undefined;
    const response = await server.send(request);
    isListed = true;
    await until(() => cache.status.pending.length === 0);
    return response;
  };
  await cache.createSession(KEY);
  const created = until(() => server.requests.some((request) => request.startsWith('POST')));
  await created;
  const { sessions } = await cache.listSessions(USER);
  assert.deepEqual(
    sessions.map(({ id }) => id),
    ['s1'],
  );
  await cache.close();
});

it('a session with something unsent was last updated at the later time of its copy and of its mutations', async () => {
  const server = new Server();
  let now = 5000;
  const { cache } = openCache(server, { clock: () => now });
  const session = await cache.createSession(KEY);
  await cache.sync();
  await cache.listSessions(USER);
  const copied = (await server.service.getSession(KEY))!.lastUpdateTime;
  server.isOffline = true;
  const times = async (): Promise<number[]> => {
    const read = await cache.getSession(KEY);
    const { sessions } = await cache.listSessions(USER);
    return [read!.lastUpdateTime, ...sessions.map(({ lastUpdateTime }) => lastUpdateTime)];
  };
  // This device's clock is far behind that of the remote, and then ahead.
  now = copied - 1000;
  await cache.appendEvent({ session, event: { ...event('e1'), timestamp: now } });
  assert.deepEqual(await times(), [copied, copied]);
  now = copied + 1000;
  await cache.appendEvent({ session, event: { ...event('e2'), timestamp: now } });
  assert.deepEqual(await times(), [now, now]);
  await cache.close();
});

it('a list that was asked before an append keeps the title that the append has given', async () => {
  const server = new Server();
  const { cache } = openCache(server, { autoTitle: true });
  const session = await cache.createSession(KEY);
  await cache.sync();
  let answer!: () => void;
  const held = new Promise<void>((resolve) => (answer = resolve));
  let isAsked = false;
  server.intercept = async (request) => {
    if (!request.url.includes('/sessions?')) return undefined;
    const response = await server.send(request);
    isAsked = true;
    await held;
    return response;
  };
  const listed = cache.listSessions(USER);
  await until(() => isAsked);
  await cache.appendEvent({ session, event: event('Which tea is green?') });
  await until(() => untilSent(cache));
  answer();
  assert.deepEqual(
    (await listed).sessions.map(({ title }) => title),
    ['Which tea is green?'],
  );
  await cache.close();
});
