// What waits because the remote has refused something else, and what does not.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { createEvent, InMemorySessionService } from '../../../../../js/index.js';
import { rewind } from '../../../../../js/core/history/index.js';
import type { CachedSessionService } from '../../../../../js/service/cache/index.js';
import { createOffline, event, idsOf, KEY, openCache, Server, USER } from '../fixture.js';

/** Refuses requests whose address or body has this text. */
function refuse(server: Server, text: string, status = 413): void {
  server.intercept = async (request) => {
    if (request.method === 'GET') return undefined;
    const isRefused = `${request.url} ${await request.text()}`.includes(text);
    return isRefused ? Response.json({ detail: 'No.' }, { status }) : undefined;
  };
}

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

  it('blocks its later versions, until another takes its place', async () => {
    const { cache, session, stored } = await openRefusing();
    await cache.appendEvent({ session, event: { ...eventOf('late'), branch: 'bad' } });
    await cache.sync();
    for (const id of ['late', 'e1']) await cache.appendEvent({ session, event: eventOf(id) });
    await cache.sync();
    assert.deepEqual(await stored(), ['e0', 'e1']);
    assert.deepEqual(await entriesOf(cache), [[['late'], 'remote', []]]);
    await cache.outbox.change(KEY, eventOf('late'));
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
