// Writes to sessions that this device does not know, while the remote does not answer.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { CachedSessionService } from '../../../../../js/service/cache/index.js';
import { liveSession } from '../../../../../js/ui/live/index.js';
import { event, hasCode, idsOf, KEY, openCache, OUTAGES, Server, until, USER } from '../fixture.js';
import { copiesIn } from '../held_store.js';

type Write = (cache: CachedSessionService) => Promise<unknown>;

/** Writes that need a session which is there. */
const DEMANDING: Readonly<Record<string, Write>> = {
  appendEvent: (cache) =>
    cache.appendEvent({
      session: { ...USER, id: 's1', state: {}, events: [], lastUpdateTime: 0 },
      event: event('e1', { n: 1 }),
    }),
  updateState: (cache) => cache.updateState({ ...KEY, stateDelta: { n: 1 } }),
  updateSession: (cache) => cache.updateSession(KEY, { title: 'Tea' }),
};

/** Writes that create the session if the remote has none. */
const CREATING: Readonly<Record<string, Write>> = {
  getOrCreateSession: async (cache) => {
    const session = await cache.getOrCreateSession(KEY);
    await cache.appendEvent({ session, event: event('e1', { n: 1 }) });
  },
  send: async (cache) => {
    const store = liveSession(cache, KEY);
    const stop = store.subscribe(() => undefined);
    await store.send(event('e1', { n: 1 }));
    stop();
  },
};

const WRITES = { ...DEMANDING, ...CREATING };

describe('A write to an unknown session', () => {
  for (const [outage, cut] of Object.entries(OUTAGES)) {
    for (const [name, write] of Object.entries(WRITES)) {
      it(`by ${name} is stored while the remote ${outage}, and is sent after a reload`, async () => {
        const server = new Server();
        if (name in DEMANDING) await server.service.createSession({ ...KEY, state: { kept: 1 } });
        const end = cut(server);
        const { cache, local } = openCache(server, { readTimeoutMs: 20 });
        await write(cache);
        assert.deepEqual(
          cache.status.pending.map(({ key }) => key),
          [KEY],
        );
        const shown = (await cache.getSession(KEY))!;
        end();
        server.isOffline = true;
        await cache.close();
        server.isOffline = false;
        const { cache: reopened } = openCache(server, { local });
        await reopened.sync();
        const stored = (await server.service.getSession(KEY))!;
        const kept = name in DEMANDING ? { kept: 1 } : {};
        assert.deepEqual(
          [idsOf(stored), stored.state],
          [idsOf(shown), { ...kept, ...shown.state }],
        );
        assert.equal(stored.title, shown.title);
        assert.deepEqual(reopened.status.pending, []);
        await reopened.close();
      });
    }
  }

  it('appends to the session if the remote has it, whose initial state and title stay', async () => {
    const server = new Server();
    const created = { ...KEY, state: { kept: 1 }, title: 'Old', events: [event('e0')] };
    await server.service.createSession(created);
    server.isOffline = true;
    const { cache } = openCache(server);
    const session = await cache.getOrCreateSession({ ...KEY, state: { lost: 1 }, title: 'New' });
    await cache.appendEvent({ session, event: event('e1', { n: 1 }) });
    server.isOffline = false;
    await cache.sync();
    for (const service of [server.service, cache]) {
      const { events, state, title } = (await service.getSession(KEY))!;
      assert.deepEqual([idsOf({ events }), state, title], [['e0', 'e1'], { kept: 1, n: 1 }, 'Old']);
    }
    await cache.close();
  });

  it('asks nothing of the session before the creation is sent', async () => {
    const server = new Server();
    server.isOffline = true;
    const { cache } = openCache(server, { reads: 'network-first' });
    const session = await cache.getOrCreateSession(KEY);
    await cache.appendEvent({ session, event: event('e1') });
    server.isOffline = false;
    await cache.getSession(KEY);
    await cache.sync();
    const asked = server.requests.filter((request) => request.includes('/sessions'));
    assert.equal(asked[0], 'POST /api/apps/shop/users/ada/sessions');
    await cache.close();
  });

  it('creates it, although an earlier one that was deleted here meets the session of another device', async () => {
    const server = new Server();
    server.isOffline = true;
    const { cache } = openCache(server);
    await cache.createSession(KEY);
    // The creation is sent before the deletion, because its answer is missing.
    await assert.rejects(cache.sync(), hasCode('connection_lost'));
    await cache.deleteSession(KEY);
    const session = await cache.createSession(KEY);
    await cache.appendEvent({ session, event: event('e1') });
    await server.service.createSession({ ...KEY, events: [event('theirs')] });
    server.isOffline = false;
    await cache.sync();
    assert.deepEqual(idsOf(await server.service.getSession(KEY)), ['e1']);
    assert.deepEqual(idsOf(await cache.getSession(KEY)), ['e1']);
    assert.deepEqual(cache.status.pending, []);
    await cache.close();
  });

  it('that a list has fetched is stored without a creation', async () => {
    const server = new Server();
    await server.service.createSession({ ...KEY, state: { kept: 1 } });
    const { cache } = openCache(server);
    await cache.listSessions(USER);
    server.isOffline = true;
    await cache.updateState({ ...KEY, stateDelta: { n: 1 } });
    await server.service.deleteSession(KEY);
    server.isOffline = false;
    await cache.sync();
    assert.equal(await server.service.getSession(KEY), undefined);
    await cache.close();
  });
});

describe('A write to a session whose copy was evicted', () => {
  /** Returns a cache that has evicted the copy of `s1`, with a handle of it. */
  async function evicted() {
    const server = new Server();
    await server.service.createSession({ ...KEY, state: { kept: 1 }, events: [event('e0')] });
    const { cache, local } = openCache(server, { maxSessions: 1 });
    const session = (await cache.getSession(KEY))!;
    // The other one was used later.
    await new Promise((resolve) => setTimeout(resolve, 10));
    await cache.createSession({ ...USER, sessionId: 's2' });
    await cache.sync();
    await cache.getSession({ ...USER, sessionId: 's2' });
    await until(async () => (await copiesIn(local)).join() === 's2');
    server.isOffline = true;
    await assert.rejects(cache.getSession(KEY), hasCode('connection_lost'));
    return { server, cache, local, session };
  }

  for (const [name, write] of Object.entries(WRITES)) {
    it(`by ${name} is stored alone, and sent`, async () => {
      const { server, cache } = await evicted();
      await write(cache);
      server.isOffline = false;
      await cache.sync();
      const { state, events } = (await server.service.getSession(KEY))!;
      assert.equal(state.kept, 1);
      assert.equal(events[0]?.id, 'e0');
      assert.deepEqual(cache.status.pending, []);
      const count = name === 'updateSession' ? 1 : 2;
      assert.equal(events.length, count);
      await cache.close();
    });
  }

  it('goes through the handle of the copy', async () => {
    const { server, cache, session } = await evicted();
    await cache.appendEvent({ session, event: event('e1', { n: 1 }) });
    server.isOffline = false;
    await cache.sync();
    await cache.appendEvent({ session, event: event('e2', { n: 2 }) });
    assert.deepEqual(idsOf(session), ['e0', 'e1', 'e2']);
    await cache.sync();
    assert.deepEqual(idsOf(await server.service.getSession(KEY)), ['e0', 'e1', 'e2']);
    await cache.close();
  });

  it('does not create it again if the remote has deleted it', async () => {
    const { server, cache } = await evicted();
    await cache.updateState({ ...KEY, stateDelta: { n: 1 } });
    await server.service.deleteSession(KEY);
    server.isOffline = false;
    await cache.sync();
    assert.equal(await server.service.getSession(KEY), undefined);
    const [refused] = await cache.outbox.list(KEY);
    assert.equal(refused?.error?.code, 'not_found');
    await cache.close();
  });

  it('by getOrCreateSession creates nothing, since the remote has had it', async () => {
    const { server, cache } = await evicted();
    await cache.getOrCreateSession(KEY);
    await server.service.deleteSession(KEY);
    server.isOffline = false;
    await cache.sync();
    assert.equal(await server.service.getSession(KEY), undefined);
    await cache.close();
  });
});
