// Reads of everything in a session of more events than a page of the handler has.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { branches, fork, rewind } from '../../../../../js/core/history/index.js';
import { exportSession } from '../../../../../js/service/files/index.js';
import type { StoredSessionService } from '../../../../../js/service/stored_session_service.js';
import { isSessionError } from '../../../../../js/index.js';
import { event, idsOf, KEY, openCache, Server } from '../fixture.js';

const COUNT = 3000;
const IDS = Array.from({ length: COUNT }, (_, index) => `e${index}`);

async function serverOf3000(): Promise<Server> {
  const server = new Server();
  const events = IDS.map((id, index) => ({ ...event(id), invocationId: `i${index >> 1}` }));
  await server.service.createSession({ ...KEY, events });
  return server;
}

type Service = Pick<
  StoredSessionService,
  'getSession' | 'listEvents' | 'events' | 'loadOlder' | 'sessionInfo'
>;

/** The reads, each with what it returns. */
const reads: Readonly<Record<string, (service: Service) => Promise<unknown>>> = {
  'numRecentEvents of almost all': async (service) =>
    idsOf(await service.getSession({ ...KEY, config: { numRecentEvents: COUNT - 1 } })),
  'numRecentEvents of more than all': async (service) =>
    idsOf(
      await service.getSession({ ...KEY, config: { numRecentEvents: Number.MAX_SAFE_INTEGER } }),
    ),
  "numRecentEvents: 'all'": async (service) =>
    idsOf(await service.getSession({ ...KEY, config: { numRecentEvents: 'all' } })),
  'a transcript of almost all': async (service) => {
    const config = { numRecentEvents: COUNT - 1, view: 'transcript' } as const;
    return idsOf(await service.getSession({ ...KEY, config }));
  },
  sessionInfo: async (service) => {
    const { eventCount, bytes } = await service.sessionInfo(KEY);
    return { eventCount, bytes };
  },
  'a page with its count': async (service) => {
    const { events, eventCount } = await service.listEvents({ ...KEY, limit: 1000 });
    return [idsOf({ events }), eventCount];
  },
  "events({ order: 'desc' })": (service) => walk(service, 'desc'),
  "events({ order: 'asc' })": (service) => walk(service, 'asc'),
  'loadOlder to the beginning': async (service) => {
    const session = await service.getSession({ ...KEY, config: { numRecentEvents: 10 } });
    while (await service.loadOlder(session!, 1000));
    return idsOf(session);
  },
};

async function walk(service: Service, order: 'asc' | 'desc'): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of service.events({ ...KEY, order, limit: 1000 })) ids.push(id);
  return ids;
}

describe('A session of 3,000 events', () => {
  for (const [name, read] of Object.entries(reads)) {
    it(`${name} is the same over HTTP and over a cache as on the server`, async () => {
      const server = await serverOf3000();
      const expected = await read(server.service);
      const remote = server.client();
      assert.deepEqual(await read(remote), expected);
      await remote.close();
      // A copy of nothing, and one of the last events.
      for (const first of [undefined, 5]) {
        const { cache } = openCache(server);
        if (first !== undefined) {
          await cache.getSession({ ...KEY, config: { numRecentEvents: first } });
        }
        assert.deepEqual(await read(cache), expected);
        await cache.close();
      }
    });
  }

  it('is exported, branched, forked and rewound over a copy of the last events', async () => {
    const server = await serverOf3000();
    const { cache } = openCache(server);
    await cache.getSession({ ...KEY, config: { numRecentEvents: 5 } });
    const file = JSON.stringify(await exportSession(cache, KEY));
    assert.ok(IDS.every((id) => file.includes(`"${id}"`)));
    const forked = await fork(cache, { ...KEY, newSessionId: 's2', at: { eventId: 'e2999' } });
    assert.equal(forked.events.length, COUNT);
    await rewind(cache, { ...KEY, before: { invocationId: 'i1' } });
    await cache.sync();
    const config = { view: 'transcript' } as const;
    assert.deepEqual(idsOf(await server.service.getSession({ ...KEY, config })), ['e0', 'e1']);
    const other = openCache(server).cache;
    await other.getSession({ ...KEY, config: { numRecentEvents: 5 } });
    assert.deepEqual(await branches(other, KEY), await branches(server.service, KEY));
    await other.close();
    await cache.close();
  });

  it('is fetched in pages that are stored one by one, so that a lost connection loses one', async () => {
    const server = await serverOf3000();
    const { cache } = openCache(server);
    await cache.getSession({ ...KEY, config: { numRecentEvents: 5 } });
    let pages = 0;
    server.intercept = async ({ url }) => {
      if (!url.includes('/events') || ++pages < 3) return undefined;
      throw new TypeError('fetch failed');
    };
    const config = { numRecentEvents: 'all' } as const;
    await assert.rejects(cache.getSession({ ...KEY, config }), isIncomplete);
    server.intercept = undefined;
    server.requests.length = 0;
    assert.equal((await cache.getSession({ ...KEY, config }))?.events.length, COUNT);
    const fetched = server.requests.filter((request) => request.endsWith('/events'));
    assert.equal(fetched.length, 1);
    await cache.close();
  });
});

/** Whether an error says that the copy lacks events. */
function isIncomplete(error: unknown): boolean {
  return isSessionError(error, 'connection_lost') && error.missing === 'events';
}

describe('Without a connection, a copy of the last events', () => {
  const whole = {
    "getSession with numRecentEvents: 'all'": (cache: StoredSessionService) =>
      cache.getSession({ ...KEY, config: { numRecentEvents: 'all' } }),
    exportSession: (cache: StoredSessionService) => exportSession(cache, KEY),
    fork: (cache: StoredSessionService) =>
      fork(cache, { ...KEY, newSessionId: 's2', at: { eventId: 'e2999' } }),
  };
  for (const [name, call] of Object.entries(whole)) {
    it(`makes ${name} fail, which needs all`, async () => {
      const server = await serverOf3000();
      const { cache } = openCache(server);
      await cache.getSession({ ...KEY, config: { numRecentEvents: 5 } });
      server.isOffline = true;
      await assert.rejects(call(cache), isIncomplete);
      // Not everything is needed here.
      assert.equal((await cache.getSession(KEY))?.events.length, 100);
      await cache.close();
    });
  }
});
