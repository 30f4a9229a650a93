// Writes that need a session which is there, of which this device has no copy.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { isSessionError, SessionError } from '../../../../../js/index.js';
import type { CachedSessionService } from '../../../../../js/service/cache/index.js';
import { liveSession } from '../../../../../js/ui/live/index.js';
import { event, hasCode, idsOf, KEY, openCache, OUTAGES, Server, until, USER } from '../fixture.js';
import { HeldStore } from '../held_store.js';

const handle = () => ({ ...USER, id: 's1', state: {}, events: [], lastUpdateTime: 0 });

const WRITES: Readonly<Record<string, (cache: CachedSessionService) => Promise<unknown>>> = {
  appendEvent: (cache) => cache.appendEvent({ session: handle(), event: event('e1', { n: 1 }) }),
  updateState: (cache) => cache.updateState({ ...KEY, stateDelta: { n: 1 } }),
  updateSession: (cache) => cache.updateSession(KEY, { title: 'Tea' }),
};

const hang = OUTAGES['does not answer']!;

/** A time-out that a test does not wait for. */
const NEVER = 60_000;
const QUICK = { timeout: 10_000 };

/** Opens a cache that knows that it is offline. The server then never answers. */
async function offline(server: Server) {
  const opened = openCache(server, { readTimeoutMs: NEVER });
  server.isOffline = true;
  await assert.rejects(opened.cache.getSession({ ...KEY, sessionId: 'other' }));
  assert.equal(opened.cache.status.isOnline, false);
  return opened;
}

describe('A write to a session without a copy', () => {
  for (const [name, write] of Object.entries(WRITES)) {
    it(`by ${name} is stored before the remote has answered`, async () => {
      const server = new Server();
      await server.service.createSession(KEY);
      const end = hang(server);
      const { cache } = openCache(server, { readTimeoutMs: NEVER });
      let isSettled = false;
      const writing = write(cache).finally(() => (isSettled = true));
      await until(() => cache.status.pending.length > 0);
      assert.equal((await cache.outbox.list(KEY)).length, 1);
      assert.equal(isSettled, false);
      end();
      server.isOffline = false;
      await writing;
      await cache.close();
    });

    it(`by ${name} rejects with not_found if the remote has no session, and is taken back`, async () => {
      const server = new Server();
      const { cache } = openCache(server);
      await assert.rejects(write(cache), hasCode('not_found'));
      assert.deepEqual([await cache.outbox.list(), cache.status.pending], [[], []]);
      assert.equal(cache.status.lastError, undefined);
      await cache.sync();
      assert.equal(await server.service.getSession(KEY), undefined);
      assert.equal(await cache.getSession(KEY), undefined);
      await cache.close();
    });

    it(`by ${name} resolves after readTimeoutMs, and a later not_found goes to lastError and the outbox`, async () => {
      const server = new Server();
      const end = hang(server);
      const { cache } = openCache(server, { readTimeoutMs: 20 });
      await write(cache);
      end();
      await cache.sync().catch(() => undefined);
      await until(() => cache.status.lastError?.code === 'not_found');
      const [entry] = await cache.outbox.list(KEY);
      assert.equal(entry?.error?.code, 'not_found');
      assert.equal(await server.service.getSession(KEY), undefined);
      await cache.close();
    });

    it(`by ${name} waits for no time-out while isOnline is false`, QUICK, async () => {
      const server = new Server();
      const { cache } = await offline(server);
      hang(server);
      server.isOffline = false;
      await write(cache);
      assert.equal((await cache.outbox.list(KEY)).length, 1);
      await cache.close();
    });
  }

  it(
    'by a function that computes waits for no time-out while isOnline is false',
    QUICK,
    async () => {
      const server = new Server();
      const { cache } = await offline(server);
      hang(server);
      server.isOffline = false;
      await cache.updateState({ ...KEY, stateDelta: () => ({ n: 1 }) });
      assert.equal((await cache.outbox.list(KEY)).length, 1);
      await cache.close();
    },
  );

  it('by a function that computes is computed from the state of the remote', async () => {
    const server = new Server();
    await server.service.createSession({ ...KEY, state: { n: 41 } });
    const { cache } = openCache(server);
    await cache.updateState({ ...KEY, stateDelta: ({ n }) => ({ n: (n as number) + 1 }) });
    await cache.sync();
    assert.deepEqual((await server.service.getSession(KEY))!.state, { n: 42 });
    await cache.close();
  });

  it('that was refused after its time is shown with what it waits for in every open view', async () => {
    const server = new Server();
    const end = hang(server);
    const { cache, local } = openCache(server, { readTimeoutMs: 20 });
    const { cache: other } = openCache(server, { local, readTimeoutMs: 20 });
    const views = [cache, other].map((service) => liveSession(service, KEY));
    const stops = views.map((view) => view.subscribe(() => undefined));
    await WRITES.appendEvent!(cache);
    end();
    await until(() =>
      views.every((view) => {
        const { blockedBy } = view.getSnapshot().unsent.e1 ?? {};
        return blockedBy !== undefined && hasCode('not_found')(blockedBy);
      }),
    );
    for (const stop of stops) stop();
    await Promise.all([cache.close(), other.close()]);
  });

  it('is sent with all others by one retry, once the session is there', async () => {
    const server = new Server();
    const { cache } = await offline(server);
    await cache.updateState({ ...KEY, stateDelta: { n: 1 } });
    await WRITES.appendEvent!(cache);
    server.isOffline = false;
    await until(async () => (await cache.outbox.list(KEY))[0]?.error !== undefined);
    const [entry, ...others] = await cache.outbox.list(KEY);
    assert.deepEqual([others, entry?.blocked?.at(-1)], [[], 'e1']);
    await server.service.createSession(KEY);
    await cache.outbox.retry(entry);
    await cache.sync();
    assert.deepEqual(await cache.outbox.list(), []);
    assert.equal((await server.service.getSession(KEY))!.events.at(-1)?.id, 'e1');
    await cache.close();
  });

  it('is gone, with the provisional session, once the refused write is dropped', async () => {
    const server = new Server();
    const { cache } = await offline(server);
    await WRITES.appendEvent!(cache);
    server.isOffline = false;
    await until(async () => (await cache.outbox.list(KEY))[0]?.error !== undefined);
    await cache.outbox.drop(KEY, 'e1');
    assert.deepEqual(await cache.outbox.list(), []);
    await cache.createSession(KEY);
    await cache.sync();
    assert.deepEqual(idsOf(await server.service.getSession(KEY)), []);
    await cache.close();
  });

  it('rejects for each call that waits', async () => {
    const server = new Server();
    const { cache } = openCache(server);
    const writing = Object.values(WRITES).map((write) => write(cache));
    for (const result of await Promise.allSettled(writing)) {
      assert.ok(result.status === 'rejected' && hasCode('not_found')(result.reason));
    }
    assert.deepEqual(await cache.outbox.list(), []);
    await cache.close();
  });

  it('rejects in a tab that does not lead', async () => {
    const server = new Server();
    const { cache: leading, local } = openCache(server);
    await leading.getUserState(USER);
    const { cache } = openCache(server, { local });
    await assert.rejects(WRITES.updateState!(cache), hasCode('not_found'));
    assert.deepEqual(await leading.outbox.list(), []);
    await Promise.all([cache.close(), leading.close()]);
  });

  it('rejects with the refusal of a remote that does not show the session', async () => {
    const server = new Server(undefined, { authorize: (_, { action }) => action !== 'getSession' });
    await server.service.createSession(KEY);
    const { cache } = openCache(server);
    const is403 = (error: unknown): boolean => isSessionError(error) && error.status === 403;
    await assert.rejects(WRITES.updateState!(cache), is403);
    assert.deepEqual(await cache.outbox.list(), []);
    await cache.close();
  });

  it('is not refused if there is no room for the copy', async () => {
    const server = new Server();
    await server.service.createSession({ ...KEY, events: [event('e0')] });
    const local = new HeldStore();
    const { cache } = openCache(server, { local, readTimeoutMs: 20 });
    local.beforePut = (store) => {
      if (store === 'events') throw new SessionError('quota_exceeded', 'The store is full.');
    };
    await WRITES.appendEvent!(cache);
    await until(() => server.requests.some((request) => request.endsWith('/sessions/s1')));
    local.beforePut = () => undefined;
    await until(async () => idsOf(await server.service.getSession(KEY))?.join() === 'e0,e1');
    await cache.close();
  });

  it('does not hide from a read at the same time what the remote has', async () => {
    const server = new Server();
    await server.service.createSession({ ...KEY, state: { kept: 1 }, events: [event('e0')] });
    const { cache } = openCache(server);
    const [session] = await Promise.all([cache.getSession(KEY), WRITES.appendEvent!(cache)]);
    assert.equal(idsOf(session)?.[0], 'e0');
    assert.equal(session?.state.kept, 1);
    await cache.close();
  });

  it('is dropped by a deletion of the session, which the remote gets', async () => {
    const server = new Server();
    await server.service.createSession(KEY);
    const { cache } = await offline(server);
    await WRITES.updateState!(cache);
    await cache.deleteSession(KEY);
    assert.equal(await cache.getSession(KEY), undefined);
    server.isOffline = false;
    await cache.sync();
    assert.equal(await server.service.getSession(KEY), undefined);
    assert.deepEqual(cache.status.pending, []);
    await cache.close();
  });

  it('is dropped by a deletion of a session that the remote does not have, and nothing is left to send', async () => {
    const server = new Server();
    const { cache } = await offline(server);
    await WRITES.updateState!(cache);
    await cache.deleteSession(KEY);
    server.isOffline = false;
    await cache.sync();
    await server.service.createSession(KEY);
    await cache.sync();
    assert.ok(await cache.getSession(KEY));
    await cache.sync();
    assert.ok(await server.service.getSession(KEY));
    await cache.close();
  });
});

describe('A session that stands in', () => {
  it('is created for a write that may create it, and what needed one before is taken back', async () => {
    const server = new Server();
    const { cache } = await offline(server);
    await WRITES.updateState!(cache);
    await WRITES.updateSession!(cache);
    const session = await cache.getOrCreateSession({ ...KEY, state: { given: 1 }, title: 'New' });
    await cache.appendEvent({ session, event: event('e2') });
    server.isOffline = false;
    await until(async () => idsOf(await server.service.getSession(KEY))?.join() === 'e2');
    const { state, title } = (await server.service.getSession(KEY))!;
    assert.deepEqual([state, title], [{ given: 1 }, 'New']);
    await until(() => cache.status.pending.length === 0);
    assert.deepEqual(idsOf(await cache.getSession(KEY)), ['e2']);
    await cache.close();
  });

  it('tells lastError what was taken back after its time', async () => {
    const server = new Server();
    const { cache } = await offline(server);
    const errors: unknown[] = [];
    cache.watchStatus(({ lastError }) => void errors.push(lastError?.code));
    await WRITES.updateState!(cache);
    await cache.getOrCreateSession(KEY);
    server.isOffline = false;
    await until(async () => (await server.service.getSession(KEY)) !== undefined);
    assert.ok(errors.includes('not_found'));
    await cache.close();
  });

  it('is created for the first message of a page that has not shown it', async () => {
    const server = new Server();
    const { cache } = await offline(server);
    await WRITES.updateState!(cache);
    const view = liveSession(cache, KEY, { initialState: { given: 1 } });
    await view.send(event('e2'));
    server.isOffline = false;
    await until(async () => idsOf(await server.service.getSession(KEY))?.join() === 'e2');
    assert.deepEqual((await server.service.getSession(KEY))!.state, { given: 1 });
    await cache.close();
  });

  it('demands nothing for what stands behind a write that may create it', async () => {
    const server = new Server();
    const { cache } = await offline(server);
    await cache.getOrCreateSession(KEY);
    await WRITES.appendEvent!(cache);
    await WRITES.updateSession!(cache);
    server.isOffline = false;
    await cache.sync();
    const stored = (await server.service.getSession(KEY))!;
    assert.deepEqual([idsOf(stored), stored.title], [['e1'], 'Tea']);
    await cache.close();
  });

  it('rejects a call that waits, although another one creates the session', async () => {
    const server = new Server();
    const end = hang(server);
    const { cache } = openCache(server, { readTimeoutMs: NEVER });
    const writing = WRITES.appendEvent!(cache);
    const refused = assert.rejects(writing, hasCode('not_found'));
    await until(() => cache.status.pending.length > 0);
    const view = liveSession(cache, KEY);
    await view.send(event('e2'));
    end();
    await refused;
    await until(async () => idsOf(await server.service.getSession(KEY))?.join() === 'e2');
    await cache.close();
  });

  it('takes all writes if the remote has the session', async () => {
    const server = new Server();
    await server.service.createSession({ ...KEY, state: { kept: 1 }, title: 'Old' });
    const { cache } = await offline(server);
    await WRITES.appendEvent!(cache);
    const session = await cache.getOrCreateSession({ ...KEY, state: { lost: 1 }, title: 'New' });
    await cache.appendEvent({ session, event: event('e2') });
    server.isOffline = false;
    await cache.sync();
    const { state, title, events } = (await server.service.getSession(KEY))!;
    assert.deepEqual([idsOf({ events }), state, title], [['e1', 'e2'], { kept: 1, n: 1 }, 'Old']);
    await cache.close();
  });

  it('fetches a window of a session that exists, and not all its events', async () => {
    const server = new Server();
    const events = Array.from({ length: 300 }, (_, index) => event(`old${index}`));
    await server.service.createSession({ ...KEY, events });
    for (const write of ['getOrCreateSession', 'appendEvent'] as const) {
      const { cache } = await offline(server);
      if (write === 'appendEvent') await WRITES.appendEvent!(cache);
      else {
        const session = await cache.getOrCreateSession(KEY);
        await cache.appendEvent({ session, event: event('e2') });
      }
      server.isOffline = false;
      await cache.sync();
      const config = { reads: 'cache-only' } as const;
      const here = (await cache.getSession({ ...KEY, config }))!.events.length;
      assert.ok(here <= 110, `${write}: ${here} events`);
      const all = { numRecentEvents: 'all' } as unknown as { numRecentEvents: number };
      assert.ok((await cache.getSession({ ...KEY, config: all }))!.events.length > 300);
      await cache.close();
    }
  });

  it('is written to without the right createSession if it exists', async () => {
    const server = new Server(undefined, {
      authorize: (_, { action }) => action !== 'createSession',
    });
    await server.service.createSession(KEY);
    const { cache } = await offline(server);
    const session = await cache.getOrCreateSession(KEY);
    await cache.appendEvent({ session, event: event('e1') });
    server.isOffline = false;
    await cache.sync();
    assert.deepEqual(idsOf(await server.service.getSession(KEY)), ['e1']);
    assert.equal(cache.status.lastError, undefined);
    await cache.close();
  });

  it('is refused without the right createSession if it does not exist', async () => {
    const server = new Server(undefined, {
      authorize: (_, { action }) => action !== 'createSession',
    });
    const { cache } = await offline(server);
    await cache.getOrCreateSession(KEY);
    server.isOffline = false;
    await until(async () => (await cache.outbox.list(KEY))[0]?.error?.status === 403);
    await cache.close();
  });
});

it('a read without a copy asks the remote while isOnline is false', async () => {
  const server = new Server();
  await server.service.createSession(KEY);
  const { cache } = await offline(server);
  server.isOffline = false;
  assert.notEqual(await cache.getSession(KEY), undefined);
  await cache.close();
});
