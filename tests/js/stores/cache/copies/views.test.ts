// Views of copies that have only the newest events.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { branches, rewind, stateAt } from '../../../../../js/core/history/index.js';
import { CachedSessionService, MemoryLocalStore } from '../../../../../js/service/cache/index.js';
import { DatabaseSessionService } from '../../../../../js/service/database/index.js';
import { InMemorySessionService } from '../../../../../js/index.js';
import type { StoredSessionService } from '../../../../../js/service/stored_session_service.js';
import { event, idsOf, KEY, openCache, Server, until } from '../fixture.js';

const TRANSCRIPT = { view: 'transcript' } as const;

/** A session of 400 events, each two of an invocation. */
async function serverWith400(service?: StoredSessionService): Promise<Server> {
  const server = new Server(service);
  const events = Array.from({ length: 400 }, (_, index) => inTurn(index >> 1, `e${index}`));
  await server.service.createSession({ ...KEY, events });
  return server;
}

function inTurn(turn: number, id: string) {
  return { ...event(id), invocationId: `i${turn}` };
}

const undo = (service: StoredSessionService, turn: number) =>
  rewind(service, { ...KEY, before: { invocationId: `i${turn}` } });

const append = async (service: StoredSessionService, turn: number, id: string): Promise<void> => {
  const session = await service.getSession({ ...KEY, config: { numRecentEvents: 0 } });
  await service.appendEvent({ session: session!, event: inTurn(turn, id) });
};

const shownIn = async (service: StoredSessionService) =>
  idsOf(await service.getSession({ ...KEY, config: TRANSCRIPT }));

describe('Without a connection, a view of a copy of the last events', () => {
  it('shows nothing that a rewind before older events has undone', async () => {
    const server = await serverWith400();
    await undo(server.service, 40);
    await append(server.service, 1000, 'new');
    const { cache } = openCache(server);
    await cache.getSession({ ...KEY, config: { numRecentEvents: 5 } });
    server.isOffline = true;
    assert.deepEqual(await shownIn(cache), ['new']);
    const config = { ...TRANSCRIPT, numRecentEvents: 5 };
    assert.deepEqual(idsOf(await cache.getSession({ ...KEY, config })), ['new']);
    const page = await cache.listEvents({ ...KEY, ...TRANSCRIPT, limit: 50 });
    assert.deepEqual(idsOf(page), ['new']);
    assert.notEqual(page.before, undefined);
    await cache.close();
  });

  it('shows nothing that a rewind has undone whose invocation begins before the copy and goes on in it', async () => {
    const server = await serverWith400();
    // The invocation waited for an answer.
    await append(server.service, 40, 'answer');
    await append(server.service, 1000, 'another');
    await undo(server.service, 40);
    await append(server.service, 1001, 'new');
    const { cache } = openCache(server);
    await cache.getSession({ ...KEY, config: { numRecentEvents: 5 } });
    server.isOffline = true;
    assert.deepEqual(await shownIn(cache), ['new']);
    await cache.close();
  });

  it('shows the events before a rewind of this device', async () => {
    const server = await serverWith400();
    const { cache } = openCache(server);
    const session = await cache.getSession({ ...KEY, config: { numRecentEvents: 5 } });
    server.isOffline = true;
    const marker = event('rewind');
    Object.assign(marker.actions, { rewindBeforeInvocationId: 'i199' });
    await cache.appendEvent({ session: session!, event: marker });
    assert.equal((await shownIn(cache))?.at(-1), 'e397');
    await cache.close();
  });
});

/** How the copy of the last 100 events or more gets the rewind of another device. */
const WAYS: Readonly<
  Record<string, (server: Server, cache: CachedSessionService, turn: number) => Promise<void>>
> = {
  'with its first events': async (server, cache, turn) => {
    await undo(server.service, turn);
    await append(server.service, 1000, 'new');
    await cache.getSession({ ...KEY, config: { numRecentEvents: 5 } });
  },
  'with what has changed': async (server, cache, turn) => {
    await cache.getSession({ ...KEY, config: { numRecentEvents: 5 } });
    await undo(server.service, turn);
    await append(server.service, 1000, 'new');
    await cache.sync(KEY);
  },
  'as an event that its append has missed': async (server, cache, turn) => {
    const session = await cache.getSession({ ...KEY, config: { numRecentEvents: 5 } });
    await undo(server.service, turn);
    await cache.appendEvent({ session: session!, event: inTurn(1000, 'new') });
    await cache.sync(KEY);
  },
  'by the feed': async (server, cache, turn) => {
    await cache.getSession({ ...KEY, config: { numRecentEvents: 5 } });
    await until(() => server.feedRequests > 0);
    await undo(server.service, turn);
    await append(server.service, 1000, 'new');
    const hasNew = async () => {
      const config = { numRecentEvents: 1, reads: 'cache-only' } as const;
      return idsOf(await cache.getSession({ ...KEY, config }))?.[0] === 'new';
    };
    await until(hasNew);
  },
  'with older events': async (server, cache, turn) => {
    await undo(server.service, turn);
    await append(server.service, 1000, 'new');
    const more = Array.from({ length: 120 }, (_, index) => `more${index}`);
    for (const id of more) await append(server.service, 1001, id);
    const session = await cache.getSession({ ...KEY, config: { numRecentEvents: 5 } });
    await cache.loadOlder(session!, 300);
  },
};

const REMOTES: Readonly<Record<string, () => StoredSessionService>> = {
  memory: () => new InMemorySessionService(),
  SQLite: () => new DatabaseSessionService('sqlite::memory:'),
};

describe('A copy of the last events that gets a rewind of another device', () => {
  for (const [remote, open] of Object.entries(REMOTES)) {
    for (const [way, receive] of Object.entries(WAYS)) {
      it(`${way}, over HTTP from ${remote}, shows offline what the rewind leaves`, async () => {
        const server = await serverWith400(open());
        const { cache } = openCache(server);
        await receive(server, cache, 190);
        server.isOffline = true;
        const shown = (await shownIn(cache))!.filter((id) => !id.startsWith('more'));
        assert.deepEqual(shown.slice(-3), ['e378', 'e379', 'new']);
        await cache.close();
        await server.service.close();
      });

      it(`${way}, over HTTP from ${remote}, shows offline nothing that it has undone to older events`, async () => {
        const server = await serverWith400(open());
        const { cache } = openCache(server);
        await receive(server, cache, 20);
        server.isOffline = true;
        const shown = (await shownIn(cache))!.filter((id) => !id.startsWith('more'));
        assert.deepEqual(shown, ['new']);
        await cache.close();
        await server.service.close();
      });
    }

    it(`directly over ${remote} shows what the rewind leaves`, async () => {
      const { service } = await serverWith400(open());
      await undo(service, 190);
      const cache = new CachedSessionService({
        owner: 'ada',
        remote: service,
        local: new MemoryLocalStore(),
      });
      await cache.getSession({ ...KEY, config: { numRecentEvents: 5 } });
      const config = { ...TRANSCRIPT, reads: 'cache-only' } as const;
      assert.deepEqual(idsOf(await cache.getSession({ ...KEY, config }))?.at(-1), 'e379');
      await cache.close();
      await service.close();
    });
  }

  it('is fetched again if an older event was replaced, with which the rewind may start now', async () => {
    const server = await serverWith400();
    await undo(server.service, 190);
    const { cache } = openCache(server);
    await cache.getSession({ ...KEY, config: { numRecentEvents: 5 } });
    const session = await server.service.getSession(KEY);
    await server.service.appendEvent({ session: session!, event: inTurn(190, 'e3') });
    await append(server.service, 1000, 'new');
    await cache.sync(KEY);
    await cache.getSession({ ...KEY, config: { numRecentEvents: 5 } });
    server.isOffline = true;
    assert.deepEqual(await shownIn(cache), ['new']);
    await cache.close();
  });

  it('computes states and branches offline as the rewind left them', async () => {
    const server = await serverWith400();
    const session = await server.service.getSession(KEY);
    const undone = { ...event('undone', { topic: 'tea' }), invocationId: 'i999' };
    await server.service.appendEvent({ session: session!, event: undone });
    await undo(server.service, 20);
    const later = { ...event('later', { cups: 1 }), invocationId: 'i1000' };
    await server.service.appendEvent({ session: session!, event: later });
    const { cache } = openCache(server);
    await cache.getSession({ ...KEY, config: { numRecentEvents: 5 } });
    server.isOffline = true;
    const { state, unknownKeys } = await stateAt(cache, { ...KEY, eventId: 'later' });
    assert.deepEqual([state, unknownKeys], [{ cups: 1 }, ['topic']]);
    const [place] = await branches(cache, KEY);
    assert.deepEqual(
      place?.alternatives.map(({ invocationId, isShown }) => [invocationId, isShown]).at(-1),
      ['i1000', true],
    );
    await cache.close();
  });
});

it('Without a connection, a page at the beginning of a copy of the last events says that there are older ones', async () => {
  const server = await serverWith400();
  const { cache } = openCache(server);
  const session = await cache.getSession({ ...KEY, config: { numRecentEvents: 50 } });
  server.isOffline = true;
  assert.equal(await cache.loadOlder(session!, 1000), true);
  assert.equal(session!.events[0]?.id, 'e300');
  assert.equal(await cache.loadOlder(session!, 1000), false);
  const page = await cache.listEvents({ ...KEY, limit: 1000 });
  assert.equal(page.events.length, 100);
  assert.notEqual(page.before, undefined);
  await cache.close();
});
