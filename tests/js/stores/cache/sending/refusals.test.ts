// What the remote refuses, what waits because of it, and what is sent again.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { createEvent, InMemorySessionService } from '../../../../../js/index.js';
import { rewind } from '../../../../../js/core/history/index.js';
import type { CachedSessionService } from '../../../../../js/service/cache/index.js';
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
} from '../fixture.js';

const S2 = { ...KEY, sessionId: 's2' };

/** Refuses requests whose address or body has this text. */
function refuse(server: Server, text: string, status = 413): void {
  server.intercept = async (request) => {
    if (request.method === 'GET') return undefined;
    const isRefused = `${request.url} ${await request.text()}`.includes(text);
    return isRefused ? Response.json({ detail: 'No.' }, { status }) : undefined;
  };
}

for (const status of [400, 403, 413, 422, 501]) {
  it(`an event that the remote answers with status ${status} is set aside, and what is behind it is sent`, async () => {
    const server = new Server();
    const { cache } = openCache(server);
    const session = await cache.createSession(KEY);
    const other = await cache.createSession(S2);
    refuse(server, 'bad', status);
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
  refuse(server, 'odd', 404);
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

/** An event of an invocation of its own. */
function eventOf(id: string, author = 'user', invocationId = `i-${id}`) {
  return { ...event(id), author, invocationId };
}

/** What the entries of the session have: the events, the code of the error, and those that are blocked. */
async function entriesOf({ outbox }: CachedSessionService) {
  const entries = await outbox.list(KEY);
  return entries.map((entry) => [idsOf(entry), entry.error?.code, entry.blocked]);
}

/** Opens a cache with a session that the remote has, and refuses events with the text `bad`. */
async function openRefusing() {
  const server = new Server();
  const { cache, local } = openCache(server);
  const session = await cache.createSession(KEY);
  await cache.appendEvent({ session, event: eventOf('e0') });
  await cache.sync();
  refuse(server, '"bad"');
  const stored = async () => idsOf(await server.service.getSession(KEY));
  return { server, cache, local, session, stored };
}

describe('An event that the remote refuses', () => {
  it('blocks no later event, and comes behind what waits when it is sent again', async () => {
    const { server, cache, session, stored } = await openRefusing();
    for (const id of ['bad', 'e1']) await cache.appendEvent({ session, event: eventOf(id) });
    await cache.sync();
    assert.deepEqual(await stored(), ['e0', 'e1']);
    server.isOffline = true;
    await cache.appendEvent({ session, event: eventOf('e2') });
    server.intercept = undefined;
    const [refused] = await cache.outbox.list(KEY);
    await cache.outbox.retry(refused);
    const config = { reads: 'cache-only' } as const;
    assert.deepEqual(idsOf(await cache.getSession({ ...KEY, config })), ['e0', 'e1', 'e2', 'bad']);
    server.isOffline = false;
    await cache.sync();
    assert.deepEqual(await stored(), ['e0', 'e1', 'e2', 'bad']);
    assert.deepEqual(await cache.outbox.list(), []);
  });

  it('is sent again without the values of shared keys that were written since', async () => {
    const { server, cache, session } = await openRefusing();
    await cache.appendEvent({ session, event: event('bad', { 'user:tea': 'old', 'user:n': 1 }) });
    await cache.sync();
    server.isOffline = true;
    await cache.updateState({ ...USER, stateDelta: { 'user:tea': 'new' } });
    server.intercept = undefined;
    await cache.outbox.retry(KEY);
    server.isOffline = false;
    await cache.sync();
    assert.deepEqual(await server.service.getUserState(USER), { tea: 'new', n: 1 });
  });

  it('is refused in other tabs and after a reload too, and blocks nothing there', async () => {
    const { server, cache, local, session, stored } = await openRefusing();
    server.isOffline = true;
    for (const id of ['bad', 'e1']) await cache.appendEvent({ session, event: eventOf(id) });
    await cache.close();
    server.isOffline = false;
    const { cache: one } = openCache(server, { local });
    const { cache: other } = openCache(server, { local });
    await one.sync();
    assert.deepEqual(await stored(), ['e0', 'e1']);
    assert.deepEqual(await entriesOf(other), [[['bad'], 'remote', []]]);
    await one.close();
    await other.close();
    const { cache: later } = openCache(server, { local });
    assert.deepEqual(await entriesOf(later), [[['bad'], 'remote', []]]);
    await later.appendEvent({ session: (await later.getSession(KEY))!, event: eventOf('e2') });
    await later.sync();
    assert.deepEqual(await stored(), ['e0', 'e1', 'e2']);
  });

  it('blocks its later versions, until all are dropped', async () => {
    const { cache, session, stored } = await openRefusing();
    await cache.appendEvent({ session, event: { ...eventOf('late'), branch: 'bad' } });
    await cache.sync();
    for (const id of ['late', 'e1']) await cache.appendEvent({ session, event: eventOf(id) });
    await cache.sync();
    assert.deepEqual(await stored(), ['e0', 'e1']);
    assert.deepEqual(await entriesOf(cache), [[['late'], 'remote', []]]);
    await cache.outbox.drop(KEY, 'late');
    await cache.appendEvent({ session, event: eventOf('late') });
    await cache.sync();
    assert.deepEqual(await stored(), ['e0', 'e1', 'late']);
  });

  it('blocks the rest of an agent in its invocation, which comes behind what was sent meanwhile', async () => {
    const { cache, session, stored } = await openRefusing();
    const events = [eventOf('bad'), eventOf('a1', 'guide', 'i-bad'), eventOf('e1')];
    for (const event of events) await cache.appendEvent({ session, event });
    await cache.sync();
    assert.deepEqual(await stored(), ['e0', 'e1']);
    assert.deepEqual(await entriesOf(cache), [[['bad', 'a1'], 'remote', ['a1']]]);
    await cache.outbox.drop(KEY, 'bad');
    await cache.sync();
    assert.deepEqual(await stored(), ['e0', 'e1', 'a1']);
    assert.deepEqual(await cache.outbox.list(), []);
  });

  it('is sent again before the rest of an agent in its invocation', async () => {
    const { server, cache, session, stored } = await openRefusing();
    const events = [eventOf('bad'), eventOf('a1', 'guide', 'i-bad'), eventOf('e1')];
    for (const event of events) await cache.appendEvent({ session, event });
    await cache.sync();
    server.intercept = undefined;
    await cache.outbox.retry(KEY);
    await cache.sync();
    assert.deepEqual(await stored(), ['e0', 'e1', 'bad', 'a1']);
  });

  it('blocks a rewind to it, and with that everything behind', async () => {
    const { cache, session, stored } = await openRefusing();
    await cache.appendEvent({ session, event: eventOf('bad') });
    await cache.sync();
    await rewind(cache, { ...KEY, before: { eventId: 'bad' } });
    await cache.appendEvent({ session: (await cache.getSession(KEY))!, event: eventOf('e1') });
    await cache.sync();
    const [[ids, code, blocked]] = (await entriesOf(cache)) as [[string[], string, string[]]];
    assert.deepEqual([ids[0], code, blocked.length, blocked.at(-1)], ['bad', 'remote', 2, 'e1']);
    assert.deepEqual(await stored(), ['e0']);
  });

  it('does not block a rewind to an earlier event, and is shown behind it', async () => {
    const { server, cache, session } = await openRefusing();
    await cache.appendEvent({ session, event: eventOf('e1') });
    await cache.appendEvent({ session, event: eventOf('bad') });
    await cache.sync();
    await rewind(cache, { ...KEY, before: { eventId: 'e1' } });
    await cache.sync();
    assert.deepEqual(await entriesOf(cache), [[['bad'], 'remote', []]]);
    const config = { view: 'transcript' } as const;
    assert.deepEqual(idsOf(await server.service.getSession({ ...KEY, config })), ['e0']);
    assert.deepEqual(idsOf(await cache.getSession({ ...KEY, config })), ['e0', 'bad']);
  });

  it('keeps its own error when its session is deleted elsewhere, and later events get not_found', async () => {
    const { server, cache, session } = await openRefusing();
    await cache.appendEvent({ session, event: eventOf('bad') });
    await cache.sync();
    server.isOffline = true;
    for (const id of ['e1', 'e2']) await cache.appendEvent({ session, event: eventOf(id) });
    await server.service.deleteSession(KEY);
    server.isOffline = false;
    await cache.sync();
    const rest = [['e1', 'e2'], 'not_found', ['e2']];
    assert.deepEqual(await entriesOf(cache), [[['bad'], 'remote', []], rest]);
    await cache.outbox.drop(KEY);
    assert.equal(await cache.getSession(KEY), undefined);
  });

  it('does not lose the shared keys of what waits for it when its session is deleted', async () => {
    const { server, cache, session } = await openRefusing();
    const late = {
      ...event('a1', { 'user:tea': 'green' }),
      author: 'guide',
      invocationId: 'i-bad',
    };
    for (const event of [eventOf('bad'), late, eventOf('e1')]) {
      await cache.appendEvent({ session, event });
    }
    await cache.sync();
    await cache.deleteSession(KEY);
    await cache.sync();
    assert.deepEqual(await server.service.getUserState(USER), { tea: 'green' });
    assert.deepEqual(await cache.outbox.list(), []);
  });
});

describe('A refusal on which the session depends', () => {
  it('of its creation blocks each event behind, and they follow it when it is sent again', async () => {
    const server = new Server();
    const { cache, session } = await createOffline(server, false);
    for (const id of ['e1', 'e2']) await cache.appendEvent({ session, event: eventOf(id) });
    refuse(server, 'sessionId', 403);
    server.isOffline = false;
    await cache.sync();
    assert.deepEqual(await entriesOf(cache), [[['e1', 'e2'], 'remote', ['e1', 'e2']]]);
    server.intercept = undefined;
    const [entry] = await cache.outbox.list(KEY);
    await cache.outbox.retry(entry);
    await cache.sync();
    assert.deepEqual(idsOf(await server.service.getSession(KEY)), ['e1', 'e2']);
  });

  it('of a rewind blocks each event behind, until the rewind is dropped', async () => {
    const { server, cache, stored } = await openRefusing();
    refuse(server, '/rewind', 403);
    await rewind(cache, { ...KEY, before: { eventId: 'e0' } });
    await cache.appendEvent({ session: (await cache.getSession(KEY))!, event: eventOf('e1') });
    await cache.sync();
    const [entry] = await cache.outbox.list(KEY);
    assert.deepEqual([entry?.error?.code, entry?.blocked], ['remote', ['e1']]);
    await cache.outbox.drop(KEY, entry!.error!.eventId);
    await cache.sync();
    assert.deepEqual(await stored(), ['e0', 'e1']);
  });

  it('because it is gone blocks each event behind', async () => {
    const server = new Server();
    const { cache, session } = await createOffline(server, true);
    for (const id of ['e1', 'e2']) await cache.appendEvent({ session, event: eventOf(id) });
    await server.service.deleteSession(KEY);
    server.isOffline = false;
    await cache.sync();
    assert.deepEqual(await entriesOf(cache), [[['e1', 'e2'], 'not_found', ['e2']]]);
  });
});

describe('An entry of the outbox', () => {
  it('of a refused title is dropped without the messages that wait', async () => {
    const { server, cache, session, stored } = await openRefusing();
    refuse(server, 'Bad', 403);
    await cache.updateSession(KEY, { title: 'Bad' });
    await cache.sync();
    server.isOffline = true;
    await cache.appendEvent({ session, event: eventOf('e1') });
    const [refused, waiting] = await cache.outbox.list(KEY);
    assert.deepEqual([idsOf(refused), idsOf(waiting), waiting?.id], [[], ['e1'], 0]);
    await cache.outbox.drop(refused!);
    server.isOffline = false;
    await cache.sync();
    assert.deepEqual(await stored(), ['e0', 'e1']);
    assert.deepEqual(await cache.outbox.list(), []);
  });

  it('is sent again without those of other refusals', async () => {
    const { server, cache, session, stored } = await openRefusing();
    for (const id of ['one', 'two']) {
      await cache.appendEvent({ session, event: { ...eventOf(id), branch: 'bad' } });
    }
    await cache.sync();
    const [, second] = await cache.outbox.list(KEY);
    server.intercept = undefined;
    await cache.outbox.retry(second);
    await cache.sync();
    assert.deepEqual(await stored(), ['e0', 'two']);
    assert.deepEqual(await entriesOf(cache), [[['one'], 'remote', []]]);
  });
});

describe('A message that the server may not answer', () => {
  it('is set aside, and the next one is answered', async () => {
    let isForbidden = true;
    const server = new Server(new InMemorySessionService(), {
      authorize: (_, { action }) => action !== 'run' || !isForbidden,
      async *run() {
        yield createEvent({
          author: 'guide',
          content: { role: 'model', parts: [{ text: 'yes' }] },
        });
      },
    });
    const { cache } = openCache(server);
    const session = await cache.createSession(KEY);
    await cache.appendEvent({ session, event: eventOf('m1'), run: {} });
    await cache.sync();
    isForbidden = false;
    await cache.appendEvent({ session, event: eventOf('m2'), run: {} });
    await cache.sync();
    const events = (await server.service.getSession(KEY))?.events ?? [];
    assert.deepEqual([events[0]?.id, events.length > 0], ['m2', true]);
    const [entry] = await cache.outbox.list(KEY);
    assert.deepEqual([idsOf(entry), entry?.error?.status], [['m1'], 403]);
  });
});
