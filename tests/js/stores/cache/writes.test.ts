import assert from 'node:assert/strict';
import { it } from 'node:test';

import { fork } from '../../../../js/core/history/index.js';
import { InMemorySessionService } from '../../../../js/index.js';
import {
  createOffline,
  event,
  idsOf,
  KEY,
  openCache,
  Server,
  until,
  untilSent,
  USER,
} from './fixture.js';

it('a write resolves offline, and reaches the remote once when the connection is back', async () => {
  const server = new Server();
  server.isOffline = true;
  const { cache } = openCache(server);
  const session = await cache.createSession({
    ...KEY,
    state: { topic: 'tea', 'user:name': 'Ada' },
  });
  for (const id of ['e1', 'e2', 'e3'])
    await cache.appendEvent({ session, event: event(id, { [id]: 1 }) });
  assert.deepEqual(idsOf(await cache.getSession(KEY)), ['e1', 'e2', 'e3']);
  assert.equal(await server.service.getSession(KEY), undefined);
  await until(() => !cache.status.isOnline);
  server.isOffline = false;
  await cache.sync();
  const stored = await server.service.getSession(KEY);
  assert.deepEqual(idsOf(stored), ['e1', 'e2', 'e3']);
  assert.deepEqual(stored?.state, { topic: 'tea', e1: 1, e2: 1, e3: 1, 'user:name': 'Ada' });
  assert.deepEqual(cache.status.pending, []);
  await cache.close();
});

it('unsent events survive a reload, and are sent without a call', async () => {
  const server = new Server();
  server.isOffline = true;
  const { cache, local } = openCache(server);
  const session = await cache.createSession(KEY);
  await cache.appendEvent({ session, event: event('e1') });
  await cache.close();
  server.isOffline = false;
  const { cache: next } = openCache(server, { local });
  await until(async () => idsOf(await server.service.getSession(KEY))?.length === 1);
  await until(() => untilSent(next));
  await next.close();
});

it('an append whose response is lost is sent again and stored once', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  const session = await cache.createSession(KEY);
  await cache.sync();
  server.lostResponses = 1;
  await cache.appendEvent({ session, event: event('e1') });
  await cache.sync().catch(() => cache.sync());
  await cache.appendEvent({ session, event: event('e2') });
  await cache.sync();
  assert.deepEqual(idsOf(await server.service.getSession(KEY)), ['e1', 'e2']);
  assert.deepEqual(idsOf(await cache.getSession(KEY)), ['e1', 'e2']);
  await cache.close();
});

it('a creation whose response is lost is one session', async () => {
  const server = new Server();
  server.lostResponses = 1;
  const { cache } = openCache(server);
  const session = await cache.createSession({ ...KEY, state: { topic: 'tea' } });
  await cache.appendEvent({ session, event: event('e1', { count: 1 }) });
  await cache.sync().catch(() => cache.sync());
  const stored = await server.service.getSession(KEY);
  assert.deepEqual([idsOf(stored), stored?.state], [['e1'], { topic: 'tea', count: 1 }]);
  assert.deepEqual((await cache.getSession(KEY))?.state, stored?.state);
  await cache.close();
});

it("unsent events follow the remote's, and their deltas change the remote's state", async () => {
  const server = new Server();
  const { cache } = openCache(server);
  const session = await cache.createSession({ ...KEY, state: { a: 0 } });
  await cache.sync();
  server.isOffline = true;
  const { events, state } = session;
  await cache.appendEvent({ session, event: event('ours', { a: 'ours', mine: 1 }) });
  const other = await server.service.getSession(KEY);
  await server.service.appendEvent({
    session: other!,
    event: event('theirs', { a: 'theirs', b: 2 }),
  });
  server.isOffline = false;
  await cache.sync();
  const expected = { a: 'ours', b: 2, mine: 1 };
  for (const service of [server.service, cache]) {
    const read = await service.getSession(KEY);
    assert.deepEqual([idsOf(read), read?.state], [['theirs', 'ours'], expected]);
  }
  await cache.appendEvent({ session, event: event('next') });
  assert.equal(session.events, events);
  assert.equal(session.state, state);
  assert.deepEqual(idsOf(session)?.sort(), ['next', 'ours', 'theirs']);
  assert.deepEqual(session.state, expected);
  await cache.close();
});

it('titles, labels, deletions and states of users and apps are sent too', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  await cache.createSession(KEY);
  await cache.createSession({ ...KEY, sessionId: 's2' });
  await cache.sync();
  server.isOffline = true;
  await cache.updateSession(KEY, { title: 'Tea', labels: { kind: 'shop' } });
  await cache.deleteSession({ ...KEY, sessionId: 's2' });
  await cache.updateState({ ...USER, stateDelta: { 'user:name': 'Ada', 'app:motd': 'hello' } });
  assert.equal(await cache.getSession({ ...KEY, sessionId: 's2' }), undefined);
  server.isOffline = false;
  await cache.sync();
  const stored = await server.service.getSession(KEY);
  assert.deepEqual([stored?.title, stored?.labels], ['Tea', { kind: 'shop' }]);
  assert.deepEqual(stored?.state, { 'user:name': 'Ada', 'app:motd': 'hello' });
  assert.equal(await server.service.getSession({ ...KEY, sessionId: 's2' }), undefined);
  assert.deepEqual(await cache.getUserState(USER), { name: 'Ada' });
  await cache.close();
});

it('a fork names its parent, here and at the remote, and in a copy of it', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  const session = await cache.createSession(KEY);
  await cache.appendEvent({ session, event: event('e1') });
  const { id } = await fork(cache, { ...KEY, at: { eventId: 'e1' } });
  const key = { ...USER, sessionId: id };
  const parent = { sessionId: KEY.sessionId, eventId: 'e1' };
  assert.deepEqual((await cache.getSession(key))?.parent, parent);
  assert.deepEqual((await server.service.getSession(key))?.parent, parent);
  await server.service.appendEvent({
    session: (await server.service.getSession(key))!,
    event: event('theirs'),
  });
  await cache.sync();
  assert.deepEqual((await cache.getSession(key))?.parent, parent, 'after what others wrote');
  await cache.close();

  const { cache: other } = openCache(server);
  const listed = (await other.listSessions(USER)).sessions.find((session) => session.id === id);
  assert.deepEqual(listed?.parent, parent, 'in another copy');
  await other.close();
});

it('more than a thousand unsent events of a session are sent in order', async () => {
  const server = new Server();
  server.isOffline = true;
  const { cache } = openCache(server);
  const session = await cache.createSession(KEY);
  const events = Array.from({ length: 1100 }, (_, index) => event(`e${index}`));
  await cache.appendEvents({ session, events });
  server.isOffline = false;
  await cache.sync();
  assert.deepEqual(idsOf(await server.service.getSession(KEY)), idsOf({ events }));
  await cache.close();
});

it("an append with write 'through' resolves when the remote has it", async () => {
  const server = new Server();
  const { cache } = openCache(server, { write: 'through' });
  const session = await cache.createSession(KEY);
  await cache.appendEvent({ session, event: event('e1') });
  assert.deepEqual(idsOf(await server.service.getSession(KEY)), ['e1']);
  server.isOffline = true;
  await assert.rejects(cache.appendEvent({ session, event: event('e2') }));
  server.isOffline = false;
  await cache.appendEvent({ session, event: event('e2') });
  assert.deepEqual(idsOf(await server.service.getSession(KEY)), ['e1', 'e2']);
  await cache.close();
});

it('a new version of an event that the remote has is sent in the order of the writes', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  const session = await cache.createSession(KEY);
  await cache.appendEvent({ session, event: event('e1', { n: 1 }) });
  await cache.sync();
  server.isOffline = true;
  await cache.appendEvent({ session, event: event('e2', { n: 2 }) });
  await cache.appendEvent({ session, event: event('e1', { n: 3 }) });
  server.isOffline = false;
  await cache.sync();
  const read = await server.service.getSession(KEY);
  assert.deepEqual([idsOf(read), read?.state], [['e1', 'e2'], { n: 3 }]);
  await cache.close();
});

for (const isCreated of [true, false]) {
  const kind = isCreated ? 'that the remote has' : 'whose creation waits';
  it(`an unsent event that is written again in a session ${kind} gives what the remote alone would have`, async () => {
    const server = new Server();
    const { cache, session } = await createOffline(server, isCreated);
    const alone = new InMemorySessionService();
    const expected = await alone.createSession({ ...KEY, state: { kept: 1 } });
    const writes = [
      ['e1', { n: 1, first: 1, kept: 2 }],
      ['e2', { n: 2 }],
      ['e1', { n: 3, again: 1 }],
      ['e3', { m: 4 }],
      ['e2', { m: 5 }],
      ['e1', { o: 6 }],
    ] as const;
    for (const [id, delta] of writes) {
      await cache.appendEvent({ session, event: event(id, delta) });
      await alone.appendEvent({ session: expected, event: event(id, delta) });
    }
    const [entry] = await cache.outbox.list();
    assert.deepEqual(idsOf(entry), ['e1', 'e2', 'e3']);
    assert.deepEqual(cache.status.pending, [{ key: KEY, events: 3 }]);
    server.isOffline = false;
    await cache.sync();
    const config = { reads: 'cache-only' } as const;
    for (const read of [
      await server.service.getSession(KEY),
      await cache.getSession({ ...KEY, config }),
    ]) {
      // The server marks what a client gave it.
      const events = read?.events.map((stored) => {
        const written = { ...stored };
        delete written.customMetadata;
        return written;
      });
      assert.deepEqual(events, expected.events);
      assert.deepEqual(read?.state, expected.state);
    }
    await cache.close();
  });
}

it('an event that is written again before its session is created on the remote stays where it was', async () => {
  const server = new Server();
  server.isOffline = true;
  const { cache } = openCache(server);
  const session = await cache.createSession(KEY);
  await cache.appendEvents({ session, events: [event('e1', { n: 1 }), event('e2')] });
  await cache.appendEvent({ session, event: event('e1', { n: 2 }) });
  server.isOffline = false;
  await cache.sync();
  for (const service of [server.service, cache]) {
    const read = await service.getSession(KEY);
    assert.deepEqual([idsOf(read), read?.state], [['e1', 'e2'], { n: 2 }]);
  }
  await cache.close();
});

it('a first message that arrives after the first message of another device does not keep its title', async () => {
  const server = new Server(new InMemorySessionService({ autoTitle: true }));
  const other = await server.service.createSession(KEY);
  const { cache } = openCache(server, { autoTitle: true });
  const session = (await cache.getSession(KEY))!;
  server.intercept = async ({ method }) => {
    if (method === 'POST') {
      server.intercept = undefined;
      await server.service.appendEvent({ session: other, event: event('e1') });
    }
    return undefined;
  };
  await cache.appendEvent({ session, event: event('e2') });
  await cache.sync();
  const read = await cache.getSession({ ...KEY, config: { reads: 'cache-only' } });
  await cache.close();
  assert.deepEqual(idsOf(read), ['e1', 'e2']);
  assert.equal(read?.title, 'e1');
});

it('a session with labels that is deleted while its creation is being sent does not come back', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  let answer: (() => void) | undefined;
  server.intercept = async ({ method }) => {
    if (method !== 'POST' || answer !== undefined) return undefined;
    await new Promise<void>((resolve) => (answer = resolve));
    return undefined;
  };
  await cache.createSession({ ...KEY, labels: { kind: 'draft' } });
  await until(() => answer !== undefined);
  await cache.deleteSessions({ appName: KEY.appName, labels: { kind: 'draft' } });
  answer?.();
  await cache.sync();
  assert.equal(await server.service.getSession(KEY), undefined);
  assert.equal(await cache.getSession(KEY), undefined);
  await cache.close();
});
