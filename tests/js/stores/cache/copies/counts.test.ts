// Counts of a session of which the copy has only the last events.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { CachedSessionService, MemoryLocalStore } from '../../../../../js/service/cache/index.js';
import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { InMemorySessionService } from '../../../../../js/index.js';
import type { StoredSessionService } from '../../../../../js/service/stored_session_service.js';
import { event, hasCode, KEY, openCache, Server } from '../fixture.js';

const REMOTES: Readonly<Record<string, () => StoredSessionService>> = {
  memory: () => new InMemorySessionService(),
  SQLite: () => new DatabaseSessionService('sqlite::memory:'),
};

/** Events of which each has used one token more than the one before. */
function eventsOf(count: number, prefix = 'e') {
  return Array.from({ length: count }, (_, index) => {
    const usageMetadata = { totalTokenCount: index + 1 };
    return { ...event(`${prefix}${index}`), modelVersion: `m${index % 2}`, usageMetadata };
  });
}

async function serverWith300(service?: StoredSessionService): Promise<Server> {
  const server = new Server(service);
  await server.service.createSession({ ...KEY, events: eventsOf(300) });
  return server;
}

/** Counts the events in the responses from now on. */
function countFetched(server: Server): () => number {
  let count = 0;
  server.intercept = async (request) => {
    const response = await server.send(request);
    if (response.headers.get('content-type')?.includes('json') === true) {
      const body = (await response.clone().json()) as { events?: unknown[] } | null;
      count += body?.events?.length ?? 0;
    }
    return response;
  };
  return () => count;
}

const countIn = async (service: StoredSessionService) =>
  (await service.listEvents({ ...KEY, limit: 5 })).eventCount;

async function sumsIn(service: StoredSessionService) {
  const { eventCount, bytes, usage } = await service.sessionInfo(KEY);
  return { eventCount, bytes, usage };
}

const appendTo = async (service: StoredSessionService, id: string): Promise<void> => {
  const session = (await service.getSession({ ...KEY, config: { numRecentEvents: 1 } }))!;
  const usageMetadata = { totalTokenCount: 1000 };
  await service.appendEvent({ session, event: { ...event(id), usageMetadata } });
};

it('over HTTP the server counts what a session holds', async () => {
  const server = await serverWith300();
  const remote = server.client();
  const info = await remote.sessionInfo(KEY);
  assert.deepEqual(info, await server.service.sessionInfo(KEY));
  assert.deepEqual(
    server.requests.filter((request) => request.includes('/s1')),
    ['GET /api/apps/shop/users/ada/sessions/s1/info'],
  );
  await assert.rejects(remote.sessionInfo({ ...KEY, sessionId: 'none' }), hasCode('not_found'));
  await remote.close();
});

for (const [name, open] of Object.entries(REMOTES)) {
  describe(`A copy of the last events, over HTTP from ${name},`, () => {
    it('gets counts from the remote, and no events for them', async () => {
      const server = await serverWith300(open());
      const { cache } = openCache(server);
      const fetched = countFetched(server);
      assert.equal(await countIn(cache), 300);
      assert.deepEqual(await sumsIn(cache), await sumsIn(server.service));
      // Those of the copy, and one beside the number.
      assert.equal(fetched(), 101);
      await cache.close();
      await server.service.close();
    });

    it('counts later and unsent events too', async () => {
      const server = await serverWith300(open());
      const { cache } = openCache(server);
      await cache.getSession({ ...KEY, config: { numRecentEvents: 5 } });
      await appendTo(server.service, 'other');
      await cache.sync(KEY);
      let answerWrites = (): void => undefined;
      const held = new Promise<void>((resolve) => (answerWrites = resolve));
      server.intercept = async (request) => {
        if (request.method !== 'GET') await held;
        return await server.send(request);
      };
      await appendTo(cache, 'unsent');
      assert.equal(await countIn(cache), 302);
      const unsent = await sumsIn(cache);
      answerWrites();
      await cache.sync();
      // The server does not show all of what it stores of an event of a client.
      const remote = server.client();
      assert.deepEqual(await sumsIn(cache), unsent);
      assert.deepEqual(await sumsIn(remote), unsent);
      await remote.close();
      await cache.close();
      await server.service.close();
    });
  });

  it(`a copy of the last events, directly over ${name}, gets counts from the remote`, async () => {
    const { service } = await serverWith300(open());
    const local = new MemoryLocalStore();
    const cache = new CachedSessionService({ owner: 'ada', remote: service, local });
    assert.equal(await countIn(cache), 300);
    assert.deepEqual(await sumsIn(cache), await sumsIn(service));
    await cache.close();
    await service.close();
  });
}

describe('Without a connection, a copy of the last events', () => {
  it('has no count, instead of a wrong one', async () => {
    const server = await serverWith300();
    const { cache } = openCache(server);
    await cache.getSession({ ...KEY, config: { numRecentEvents: 5 } });
    server.isOffline = true;
    for (const view of ['raw', 'transcript'] as const) {
      const page = await cache.listEvents({ ...KEY, limit: 5, view });
      assert.equal(page.events.at(-1)?.id, 'e299');
      assert.equal('eventCount' in page, false);
    }
    await assert.rejects(cache.sessionInfo(KEY), { code: 'connection_lost', missing: 'events' });
    await cache.close();
  });
});

it('a copy of a remote that cannot count is fetched whole', async () => {
  const server = await serverWith300();
  const { service } = server;
  // A service of a user's own has no revisions over HTTP.
  const own = new Proxy(service, {
    get: (_, name) => {
      const value: unknown = Reflect.get(service, name, service);
      return typeof value === 'function' ? (value.bind(service) as unknown) : value;
    },
  });
  const { cache } = openCache(new Server(own));
  assert.equal(await countIn(cache), 300);
  assert.deepEqual(await sumsIn(cache), await sumsIn(service));
  await cache.close();
});
