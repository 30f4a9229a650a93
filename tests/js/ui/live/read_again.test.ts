// Live stores whose reads fail: they read again, by themselves.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';

import { rewind } from '../../../../js/core/history/index.js';
import { InMemorySessionService, SessionError } from '../../../../js/index.js';
import { RemoteSessionService } from '../../../../js/service/remote/index.js';
import {
  liveSearch,
  liveSession,
  liveSessions,
  type LiveStore,
} from '../../../../js/ui/live/index.js';
import { passTimeUntil } from '../../mocked_time.js';
import { openCache, Server } from '../../stores/cache/fixture.js';
import { fetchFrom, handlerOn, URL_OF_SERVER } from '../../stores/remote/fixture.js';
import { idsOf, isReady, KEY, message, sessionOf, snapshotOf } from './stores.js';

const { appName, userId } = KEY;

const remote = (status: number): SessionError =>
  new SessionError('remote', `The server refused the request: ${status}.`, { status });

const FAILURES = {
  'status 503': remote(503),
  'status 429': remote(429),
  'status 502': remote(502),
  'a cut': new SessionError('connection_lost', 'The connection broke.'),
};

/** Lets the next calls of a method fail, each with the next error. Returns the number of calls so far. */
function failing(
  service: InMemorySessionService,
  method: 'getSession' | 'listChanges' | 'listSessions',
  errors: unknown[],
): () => number {
  let calls = 0;
  const real = service[method].bind(service) as (request: unknown) => Promise<unknown>;
  const fail = (request: unknown): Promise<unknown> => {
    calls += 1;
    const error = errors.shift();
    return error === undefined ? real(request) : Promise.reject(error);
  };
  Object.assign(service, { [method]: fail });
  return () => calls;
}

const append = async (service: InMemorySessionService, id: string): Promise<void> => {
  const session = (await service.getSession(KEY))!;
  await service.appendEvent({ session, event: message(id) });
};

/** Lets a mocked minute pass. */
async function minute(): Promise<void> {
  for (let second = 0; second < 60; second += 1) {
    mock.timers.tick(1000);
    await turn();
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function turnsUntil(condition: () => boolean): Promise<void> {
  while (!condition()) await turn();
}

describe('A live store whose read has failed', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  for (const [name, error] of Object.entries(FAILURES)) {
    it(`reads again after ${name}, and keeps its error until then`, async () => {
      const { service } = await sessionOf(1);
      const store = liveSession(service, KEY);
      const stop = store.subscribe(() => undefined);
      await passTimeUntil(snapshotOf(store, isReady));
      failing(service, 'listChanges', [error, error]);
      await append(service, 'missed');
      const failed = await passTimeUntil(snapshotOf(store, (shown) => shown.error !== undefined));
      assert.deepEqual([failed.status, failed.error], ['ready', error]);
      const shown = await passTimeUntil(snapshotOf(store, (shown) => shown.error === undefined));
      assert.deepEqual(idsOf(shown.events), ['e1', 'missed']);
      stop();
    });
  }

  it('has the status failed only until its first read', async () => {
    const { service } = await sessionOf(1);
    failing(service, 'getSession', [remote(503)]);
    const store = liveSession(service, KEY);
    const stop = store.subscribe(() => undefined);
    await passTimeUntil(snapshotOf(store, ({ status }) => status === 'failed'));
    const { error } = await passTimeUntil(snapshotOf(store, isReady));
    assert.equal(error, undefined);
    stop();
  });

  it('reads again as a list of sessions, and as a search', async () => {
    const { service } = await sessionOf(1);
    const { sessions } = service;
    service.sessions = () => {
      service.sessions = sessions;
      throw remote(503);
    };
    failing(service, 'listSessions', [remote(503)]);
    await import('../../../../js/service/search/index.js');
    const stores: LiveStore<{ status: string; error: unknown }>[] = [
      liveSessions(service, { appName, userId }),
      liveSearch(service, { appName, userId, query: 'e1' }),
    ];
    for (const store of stores) {
      const stop = store.subscribe(() => undefined);
      await passTimeUntil(snapshotOf(store, ({ status }) => status === 'failed'));
      const { error } = await passTimeUntil(snapshotOf(store, ({ status }) => status === 'ready'));
      assert.equal(error, undefined);
      stop();
    }
  });

  it('pauses longer after each failure, and 30 seconds at most', async () => {
    const { service } = await sessionOf(1);
    const store = liveSession(service, KEY);
    const calls = failing(service, 'getSession', Array<unknown>(50).fill(remote(503)));
    const stop = store.subscribe(() => undefined);
    await turnsUntil(() => calls() === 1);
    const pauses: number[] = [];
    for (let count = 2; count <= 9; count += 1) {
      let pause = 0;
      for (; calls() < count && pause < 60_000; pause += 100) {
        mock.timers.tick(100);
        await turn();
      }
      pauses.push(pause);
    }
    stop();
    for (const [at, pause] of pauses.entries()) {
      const longest = Math.min(1000 * 2 ** at, 30_000);
      assert.ok(pause >= longest / 2 && pause <= longest + 200, `${pause} of ${longest}`);
    }
  });

  for (const code of ['invalid_argument', 'unsupported', 'closed'] as const) {
    it(`does not read again after ${code}`, async () => {
      const { service } = await sessionOf(1);
      const calls = failing(service, 'getSession', [new SessionError(code, 'It is refused.')]);
      const store = liveSession(service, KEY);
      const stop = store.subscribe(() => undefined);
      await passTimeUntil(snapshotOf(store, ({ status }) => status === 'failed'));
      await minute();
      assert.equal(calls(), 1);
      stop();
    });
  }

  it('does not read again once the last subscriber has left', async () => {
    const { service } = await sessionOf(1);
    const calls = failing(service, 'getSession', [remote(503)]);
    const store = liveSession(service, KEY);
    const stop = store.subscribe(() => undefined);
    await passTimeUntil(snapshotOf(store, ({ status }) => status === 'failed'));
    stop();
    await minute();
    assert.equal(calls(), 1);
  });

  it('reads the whole window again if the read of it has failed after its changes', async () => {
    const { service } = await sessionOf(2);
    const store = liveSession(service, KEY);
    const stop = store.subscribe(() => undefined);
    await passTimeUntil(snapshotOf(store, isReady));
    failing(service, 'getSession', [remote(503)]);
    await rewind(service, { ...KEY, before: { eventId: 'e1' } });
    await passTimeUntil(snapshotOf(store, ({ error }) => error !== undefined));
    const { events } = await passTimeUntil(snapshotOf(store, ({ error }) => error === undefined));
    assert.deepEqual(events, []);
    stop();
  });
});

describe('A live session over a cache whose read has failed', () => {
  it('shows no more what the outbox has given up meanwhile', async () => {
    const server = new Server();
    const { cache } = openCache(server);
    const store = liveSession(cache, KEY);
    const stop = store.subscribe(() => undefined);
    await store.send(message('e1'));
    await cache.sync();
    server.isOffline = true;
    await store.send(message('e2'));
    await snapshotOf(store, ({ unsent }) => Object.hasOwn(unsent, 'e2'));
    const getSession = cache.getSession.bind(cache);
    cache.getSession = () => Promise.reject(remote(503));
    const [entry] = await cache.outbox.list(KEY);
    await cache.outbox.drop(entry!);
    await snapshotOf(store, ({ error }) => error !== undefined);
    cache.getSession = getSession;
    // A state that changes makes no other read of the window.
    await cache.updateState({ ...KEY, stateDelta: { tea: 'green' } });
    const { events } = await snapshotOf(store, ({ error }) => error === undefined);
    assert.ok(!idsOf(events).includes('e2'), idsOf(events).join());
    stop();
    await cache.close();
  });
});

/** A server that refuses requests with a status, and whose feeds it can end. */
function guardedServer(service: InMemorySessionService) {
  const requests: string[] = [];
  const guard = {
    /** Absent: it refuses nothing. */
    status: undefined as number | undefined,
    endFeeds: (): void => undefined,
    requests,
  };
  const fetch = fetchFrom(handlerOn(service));
  const guarded: typeof fetch = async (input, init) => {
    const { url, headers } = new Request(input, init);
    requests.push(new URL(url).pathname);
    const { status } = guard;
    const isFeed = url.endsWith('/changes');
    if (status !== undefined) {
      const answer = { 'adk-session-protocol': headers.get('adk-session-protocol') ?? '1' };
      return Response.json({ code: 'remote', detail: 'no' }, { status, headers: answer });
    }
    if (!isFeed) return fetch(input, init);
    const ending = new AbortController();
    const signal = AbortSignal.any([ending.signal, ...(init?.signal ? [init.signal] : [])]);
    const { endFeeds } = guard;
    guard.endFeeds = () => {
      endFeeds();
      ending.abort();
    };
    return fetch(input, { ...init, signal });
  };
  return { guard, fetch: guarded };
}

describe('A live store that is signed out', () => {
  for (const status of [401, 403]) {
    it(`reads again after ${status} when a feed of its service opens`, async () => {
      const { service } = await sessionOf(1);
      const { guard, fetch } = guardedServer(service);
      const client = new RemoteSessionService({ url: URL_OF_SERVER, fetch });
      guard.status = status;
      const store = liveSession(client, KEY);
      const stop = store.subscribe(() => undefined);
      await snapshotOf(store, (shown) => shown.status === 'failed');
      await turnsUntil(() => guard.requests.some((path) => path.endsWith('/changes')));
      mock.timers.enable({ apis: ['setTimeout'] });
      await minute();
      const { length } = guard.requests;
      await minute();
      assert.equal(guard.requests.length, length, 'it does not ask before');
      mock.timers.reset();
      guard.status = undefined;
      const list = liveSessions(client, { appName, userId });
      const stopList = list.subscribe(() => undefined);
      const { error } = await snapshotOf(store, isReady);
      assert.equal(error, undefined);
      // It is live again.
      await append(service, 'new');
      await snapshotOf(store, ({ events }) => events.at(-1)?.id === 'new');
      stopList();
      stop();
      await client.close();
    });
  }

  it('reads again when its cache is signed in, with the same feed', async () => {
    const server = new Server();
    await server.service.createSession(KEY);
    const { cache } = openCache(server);
    server.intercept = (request) =>
      Promise.resolve(
        request.url.endsWith('/changes')
          ? undefined
          : Response.json({ code: 'remote', detail: 'no' }, { status: 401 }),
      );
    const store = liveSession(cache, KEY);
    const stop = store.subscribe(() => undefined);
    await snapshotOf(store, ({ status }) => status === 'failed');
    server.intercept = undefined;
    await cache.sync();
    await cache.listSessions({ appName, userId });
    await snapshotOf(store, isReady);
    stop();
    await cache.close();
  });
});
