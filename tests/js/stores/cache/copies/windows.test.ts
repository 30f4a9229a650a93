// Copies that have only the newest events, and reads that wait for a fetch of them.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { CachedSessionService } from '../../../../../js/service/cache/index.js';
import { event, hasCode, idsOf, KEY, openCache, Server, until, USER } from '../fixture.js';
import { entriesOf, Gate } from '../held_store.js';

async function serverWith(count: number): Promise<Server> {
  const server = new Server();
  const events = Array.from({ length: count }, (_, index) => event(`e${index}`));
  await server.service.createSession({ ...KEY, events });
  return server;
}

describe('Older pages', () => {
  it('fetch twice as many events as the copy has, until they are there', async () => {
    const server = await serverWith(1000);
    const { cache, local } = openCache(server);
    const session = await cache.getSession({ ...KEY, config: { numRecentEvents: 50 } });
    assert.equal(await cache.loadOlder(session!, 40), true);
    assert.equal(await sizeOf(), 100);
    assert.equal(await cache.loadOlder(session!, 40), true);
    assert.equal(await sizeOf(), 200);
    while (await cache.loadOlder(session!, 100));
    assert.deepEqual(idsOf(session), idsOf(await server.service.getSession(KEY)));
    await cache.close();

    async function sizeOf(): Promise<number> {
      const entries = await entriesOf(local, 'events');
      return entries.filter(({ key }) => typeof key.at(-1) === 'number' && key.length === 5).length;
    }
  });

  it('are there behind a page that has all events of the copy', async () => {
    const server = await serverWith(150);
    const { cache } = openCache(server);
    await cache.getSession({ ...KEY, config: { numRecentEvents: 100 } });
    const newest = await cache.listEvents({ ...KEY, limit: 100, withCount: false });
    assert.equal(newest.events.length, 100);
    const older = await cache.listEvents({ ...KEY, limit: 100, before: newest.before, withCount: false }); // prettier-ignore
    assert.equal(older.events.length, 50);
    await cache.close();
  });

  it('are those of the copy offline', async () => {
    const server = await serverWith(300);
    const { cache } = openCache(server);
    const session = await cache.getSession({ ...KEY, config: { numRecentEvents: 50 } });
    server.isOffline = true;
    await cache.loadOlder(session!, 100);
    assert.equal(session?.events.length, 100);
    await cache.close();
  });
});

describe('Events by their ids', () => {
  const idsIn = async (cache: CachedSessionService, ...eventIds: string[]) =>
    (await cache.getEvents({ ...KEY, eventIds })).events.map(({ event }) => event.id);

  it('are fetched if the copy lacks them, with revisions that an append can expect', async () => {
    const server = await serverWith(1000);
    const { cache } = openCache(server);
    const session = (await cache.getSession({ ...KEY, config: { numRecentEvents: 50 } }))!;
    const { events } = await cache.getEvents({ ...KEY, eventIds: ['e700', 'e999'] });
    assert.deepEqual(idsOf({ events: events.map(({ event }) => event) }), ['e700', 'e999']);
    const expectedEvents = { e700: events[0]!.revision };
    await cache.appendEvent({ session, event: event('e700', { n: 1 }), expectedEvents });
    await cache.sync();
    assert.equal((await server.service.getSession(KEY))?.state.n, 1);
    await cache.close();
  });

  it('that the remote does not have are asked for once, without the whole session', async () => {
    const server = await serverWith(1000);
    const { cache } = openCache(server);
    await cache.getSession({ ...KEY, config: { numRecentEvents: 50 } });
    server.requests.length = 0;
    assert.deepEqual(await idsIn(cache, 'missing', 'e999'), ['e999']);
    const asked = server.requests.filter((request) => /(s1|handle.events)$/.test(request));
    assert.deepEqual(asked, []);
    await cache.close();
  });

  it('include unsent ones, and a copy that lacks older events does not guess offline', async () => {
    const server = await serverWith(300);
    const { cache } = openCache(server);
    const session = (await cache.getSession({ ...KEY, config: { numRecentEvents: 50 } }))!;
    server.isOffline = true;
    await cache.appendEvent({ session, event: event('unsent') });
    assert.deepEqual(await idsIn(cache, 'unsent', 'e299'), ['unsent', 'e299']);
    await assert.rejects(idsIn(cache, 'unsent', 'e1'), hasCode('connection_lost'));
    await cache.close();
  });
});

it('a read that comes during the first fetch of a session waits for it', async () => {
  const server = await serverWith(3);
  const { cache } = openCache(server);
  const gate = new Gate();
  server.intercept = async ({ url }) => {
    if (new URL(url).pathname.endsWith('/s1')) await gate.pass();
    return undefined;
  };
  const first = cache.getSession(KEY);
  await until(() => gate.isReached);
  const second = cache.getSession(KEY);
  await new Promise((resolve) => setTimeout(resolve, 10));
  gate.open();
  for (const read of [first, second]) assert.equal((await read)?.events.length, 3);
  assert.equal(server.requests.filter((request) => request.includes('/s1')).length, 1);
  await cache.close();
});

describe('A signal', () => {
  const calls: [string, (cache: CachedSessionService, signal: AbortSignal) => Promise<unknown>][] =
    [
      ['getSession', (cache, signal) => cache.getSession({ ...KEY, signal })],
      ['listEvents', (cache, signal) => cache.listEvents({ ...KEY, signal })],
      ['listSessions', (cache, signal) => cache.listSessions({ ...USER, signal })],
      ['getUserState', (cache, signal) => cache.getUserState({ ...USER, signal })],
      [
        'updateSession',
        (cache, signal) => cache.updateSession({ ...KEY, signal }, { title: 'Tea' }),
      ],
    ];
  for (const reads of ['cache-first', 'network-first'] as const) {
    for (const [name, call] of calls) {
      it(`ends ${name} with ${reads} while the remote does not answer`, async () => {
        const server = await serverWith(3);
        const { cache } = openCache(server, { reads, readTimeoutMs: 100_000 });
        const gate = new Gate();
        server.intercept = () => gate.pass().then(() => undefined);
        const controller = new AbortController();
        const ended = assert.rejects(call(cache, controller.signal), hasCode('aborted'));
        await until(() => gate.isReached);
        const other = cache.getSession(KEY);
        controller.abort();
        await ended;
        gate.open();
        assert.equal((await other)?.events.length, 3);
        await cache.close();
      });
    }
  }
});

it('an unsent title of a session that the remote has deleted is set aside', async () => {
  const server = await serverWith(1);
  const { cache } = openCache(server);
  await cache.getSession(KEY);
  server.isOffline = true;
  await cache.updateSession(KEY, { title: 'Tea' });
  await until(() => !cache.status.isOnline && !cache.status.isSending);
  await server.service.deleteSession(KEY);
  server.intercept = ({ method }) =>
    method === 'GET' ? Promise.resolve(undefined) : Promise.reject(new TypeError('fetch failed'));
  server.isOffline = false;
  const config = { reads: 'network-first' } as const;
  const shown = await cache.getSession({ ...KEY, config });
  assert.deepEqual([shown?.id, shown?.title], [KEY.sessionId, undefined]);
  const [entry] = await cache.outbox.list();
  assert.equal(entry?.error?.code, 'not_found');
  await cache.outbox.drop(KEY);
  assert.equal(await cache.getSession(KEY), undefined);
  await cache.close();
});
