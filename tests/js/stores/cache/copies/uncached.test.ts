// Reads of sessions whose copies do not stay: limits of a tab delete them at once, or there is no room for them.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { SessionError } from '../../../../../js/index.js';
import {
  type CachedSessionService,
  MemoryLocalStore,
} from '../../../../../js/service/cache/index.js';
import { event, hasCode, idsOf, KEY, openCache, Server, USER } from '../fixture.js';
import { HeldStore } from '../held_store.js';

const IDS = Array.from({ length: 250 }, (_, index) => `e${index}`);

async function serverWith(ids: readonly string[] = IDS): Promise<Server> {
  const server = new Server();
  const events = ids.map((id) => event(id, { [id]: 1 }));
  await server.service.createSession({ ...KEY, state: { tea: 'green' }, events });
  return server;
}

/** A storage whose copies are gone before each transaction, as if another tab had no room for any. */
function evictingStore(): HeldStore {
  const local = new HeldStore();
  local.before = () =>
    local.memory.transaction('readwrite', async (transaction) => {
      const all = { from: [], to: ['\uffff'] };
      const unsent = await transaction.keys('outbox', all);
      if (unsent.length > 0) return;
      for (const store of ['sessions', 'events'] as const) {
        await transaction.delete(store, all.from, all.to);
      }
    });
  return local;
}

/** A storage without room for events. */
function fullStore(): HeldStore {
  const local = new HeldStore();
  local.beforePut = (store) => {
    if (store === 'events') throw new SessionError('quota_exceeded', 'There is no room.');
  };
  return local;
}

const stores = { 'is deleted at once': evictingStore, 'has no room': fullStore };

for (const [name, open] of Object.entries(stores)) {
  describe(`A session whose copy ${name}`, () => {
    const reading = async (
      read: (cache: CachedSessionService, server: Server) => Promise<void>,
      ids?: readonly string[],
    ): Promise<void> => {
      const server = await serverWith(ids);
      const { cache } = openCache(server, { local: open() });
      await read(cache, server);
      await cache.close();
    };

    for (const reads of ['cache-first', 'network-first'] as const) {
      it(`is read with its events and its state, ${reads}`, () =>
        reading(async (cache, server) => {
          const session = await cache.getSession({ ...KEY, config: { reads } });
          assert.deepEqual(idsOf(session), IDS);
          assert.deepEqual(session?.state, (await server.service.getSession(KEY))?.state);
        }));
    }

    it('is read with its last events', () =>
      reading(async (cache) => {
        const session = await cache.getSession({ ...KEY, config: { numRecentEvents: 7 } });
        assert.deepEqual(idsOf(session), IDS.slice(-7));
      }));

    it('is found, and not created', () =>
      reading(async (cache) => {
        const session = await cache.getOrCreateSession({ ...KEY, state: { tea: 'black' } });
        assert.equal(session.state.tea, 'green');
        assert.deepEqual(idsOf(session), IDS);
      }));

    it('is walked page by page, in both orders', () =>
      reading(async (cache) => {
        for (const order of ['asc', 'desc'] as const) {
          const walked: string[] = [];
          for await (const { id } of cache.events({ ...KEY, order, limit: 40 })) walked.push(id);
          assert.deepEqual(walked, order === 'asc' ? IDS : IDS.toReversed());
        }
      }));

    it('gives older events to a handle', () =>
      reading(async (cache) => {
        const session = await cache.getSession({ ...KEY, config: { numRecentEvents: 10 } });
        while (await cache.loadOlder(session!, 90));
        assert.deepEqual(idsOf(session), IDS);
      }));

    it('tells its changes', () =>
      reading(async (cache) => {
        const session = await cache.getSession(KEY);
        const since = cache.revisionOf(session!)!;
        const changes = await cache.listChanges({ ...KEY, since });
        assert.equal(typeof changes?.revision, 'number');
      }));

    it('is not there if the remote says so', () =>
      reading(async (cache, server) => {
        await server.service.deleteSession(KEY);
        assert.equal(await cache.getSession(KEY), undefined);
        await assert.rejects(cache.listChanges({ ...KEY, since: 1 }), hasCode('not_found'));
        await assert.rejects(cache.listEvents(KEY), hasCode('not_found'));
      }));

    it('is not reported as missing without a connection', () =>
      reading(async (cache, server) => {
        server.isOffline = true;
        await assert.rejects(cache.getSession(KEY), hasCode('connection_lost'));
        await assert.rejects(cache.listChanges({ ...KEY, since: 1 }), hasCode('connection_lost'));
      }));
  });
}

it('a session whose deletion waits is not shown, although it is fetched', async () => {
  const server = await serverWith(['e1']);
  const { cache } = openCache(server);
  server.isOffline = true;
  await cache.deleteUser(USER);
  server.intercept = ({ method }) =>
    method === 'GET' ? Promise.resolve(undefined) : Promise.reject(new TypeError('fetch failed'));
  server.isOffline = false;
  assert.equal(await cache.getSession(KEY), undefined);
  await cache.close();
});

it('two caches with room for one copy read all sessions', async () => {
  const server = await serverWith();
  for (const sessionId of ['s2', 's3']) {
    await server.service.createSession({ ...KEY, sessionId, events: [event(`of ${sessionId}`)] });
  }
  const local = new MemoryLocalStore();
  const caches = [1, 2].map(() => openCache(server, { local, maxSessions: 1, maxBytes: 1 }).cache);
  const reader = async (cache: CachedSessionService, sessionId: string): Promise<void> => {
    const expected = idsOf(await server.service.getSession({ ...KEY, sessionId }));
    for (const end = Date.now() + 2500; Date.now() < end;) {
      assert.deepEqual(idsOf(await cache.getSession({ ...KEY, sessionId })), expected);
      const { events } = await cache.listEvents({ ...KEY, sessionId, withCount: false });
      assert.deepEqual(idsOf({ events }), expected?.slice(-50));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  await Promise.all(caches.flatMap((cache) => ['s1', 's2', 's3'].map((id) => reader(cache, id))));
  for (const cache of caches) await cache.close();
});
