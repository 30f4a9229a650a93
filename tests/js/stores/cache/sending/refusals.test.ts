// Answers of the remote that refuse a request, and those after which a request is sent again.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { event, hasCode, idsOf, KEY, openCache, Server, until, USER } from '../fixture.js';

const S2 = { ...KEY, sessionId: 's2' };

/** Answers requests that write, and whose body has this text, with a status. */
function answer(server: Server, text: string, status: number): void {
  server.intercept = async (request) => {
    if (request.method === 'GET' || !(await request.text()).includes(text)) return undefined;
    return Response.json({ detail: 'No.' }, { status });
  };
}

for (const status of [400, 403, 413, 422, 501]) {
  it(`an event that the remote answers with status ${status} is set aside, and what is behind it is sent`, async () => {
    const server = new Server();
    const { cache } = openCache(server);
    const session = await cache.createSession(KEY);
    const other = await cache.createSession(S2);
    answer(server, 'bad', status);
    await cache.appendEvents({ session, events: [event('e1'), event('bad'), event('e3')] });
    await cache.appendEvent({ session: other, event: event('o1') });
    await cache.sync();
    const [entry, ...others] = await cache.outbox.list();
    assert.deepEqual([entry?.error?.code, entry?.error?.eventId, others], ['remote', 'bad', []]);
    assert.equal(cache.status.isOnline, true);
    assert.deepEqual(idsOf(await server.service.getSession(KEY)), ['e1', 'e3']);
    assert.deepEqual(idsOf(await server.service.getSession(S2)), ['o1']);
    await cache.close();
  });
}

it('an event that changes the state of an app without permission is set aside', async () => {
  const server = new Server();
  server.intercept = async (request) => {
    if (request.method === 'GET' || !(await request.text()).includes('app:')) return undefined;
    const detail = 'app: state cannot be changed by this request.';
    return Response.json({ detail }, { status: 403 });
  };
  const { cache } = openCache(server, { write: 'through' });
  const session = await cache.createSession(KEY);
  await assert.rejects(
    cache.appendEvent({ session, event: event('e1', { 'app:motd': 'hi' }) }),
    hasCode('remote'),
  );
  assert.equal((await cache.outbox.list())[0]?.error?.eventId, 'e1');
  await cache.close();
});

it('a session that the remote forbids is not created locally', async () => {
  const server = new Server();
  server.intercept = () => Promise.resolve(Response.json({ detail: 'No.' }, { status: 403 }));
  const { cache } = openCache(server);
  await assert.rejects(cache.getOrCreateSession(KEY), hasCode('remote'));
  await assert.rejects(cache.listSessions(USER), hasCode('remote'));
  assert.deepEqual(await cache.outbox.list(), []);
  await cache.close();
});

it('lists do not need the state of an app, which the user may not read', async () => {
  const server = new Server();
  await server.service.createSession(KEY);
  server.intercept = ({ url }) =>
    Promise.resolve(
      new URL(url).pathname.endsWith('/state')
        ? Response.json({ detail: 'No.' }, { status: 403 })
        : undefined,
    );
  const { cache } = openCache(server);
  const { sessions } = await cache.listSessions(USER);
  assert.deepEqual(
    sessions.map(({ id }) => id),
    ['s1'],
  );
  await cache.sync();
  await cache.close();
});

it('an answer that is neither a refusal nor an outage pauses only its own session', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  const session = await cache.createSession(KEY);
  await cache.sync();
  server.isOffline = true;
  await cache.appendEvent({ session, event: event('odd') });
  // More than are sent at once.
  const others = Array.from({ length: 60 }, (_, index) => ({ ...KEY, sessionId: `o${index}` }));
  for (const other of others) await cache.createSession(other);
  await until(() => !cache.status.isSending);
  server.isOffline = false;
  answer(server, 'odd', 404);
  await assert.rejects(cache.sync(), hasCode('remote'));
  for (const other of others) assert.ok(await server.service.getSession(other));
  assert.equal(cache.status.isOnline, true);
  const [entry] = await cache.outbox.list();
  assert.deepEqual([idsOf(entry), entry?.error], [['odd'], undefined]);
  server.intercept = undefined;
  await cache.sync();
  assert.deepEqual(idsOf(await server.service.getSession(KEY)), ['odd']);
  assert.equal(cache.status.lastError, undefined);
  await cache.close();
});

it('an answer about another session does not confirm an event', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  const session = await cache.createSession(KEY);
  await cache.sync();
  // A proxy mixes up two responses.
  server.intercept = ({ method }) =>
    Promise.resolve(method === 'POST' ? Response.json([999, 1000, 9, 0, 0, 0]) : undefined);
  await cache.appendEvent({ session, event: event('e1') });
  await assert.rejects(cache.sync(), hasCode('connection_lost'));
  server.intercept = undefined;
  await cache.sync();
  for (const service of [server.service, cache]) {
    assert.deepEqual(idsOf(await service.getSession(KEY)), ['e1']);
  }
  await cache.close();
});

it('the last error is absent after a later success, also if the remote was never out of reach', async () => {
  const server = new Server();
  await server.service.createSession(KEY);
  const { cache } = openCache(server);
  await cache.getSession(KEY);
  server.intercept = () => Promise.resolve(Response.json({ detail: 'Moved.' }, { status: 409 }));
  await cache.getSession(KEY);
  await until(() => cache.status.lastError !== undefined);
  server.intercept = undefined;
  await cache.getSession(KEY);
  await until(() => cache.status.lastError === undefined);
  assert.equal(cache.status.isOnline, true);
  await cache.close();
});
