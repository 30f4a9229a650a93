import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { wholeStorage } from '../whole_storage.js';
import { InMemorySessionService as FrameworkService } from '../../../../js/service/adk/index.js';
import {
  type DeleteSessionsRequest,
  InMemorySessionService,
  type Notice,
  openSessionService,
  type SessionService,
} from '../../../../js/index.js';
import type { StorageDeleteUnchangedRequest } from '../../../../js/core/storage/index.js';
import { Random } from '../../../simulation/run/random.js';
import {
  APP,
  failure,
  imported,
  KEY,
  openOver,
  overStorages,
  says,
  stored,
  USER,
} from '../fixture.js';
import { MapStorage } from '../map_storage.js';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

/** Creates sessions that were last updated at 0, 1, 2, … */
async function fill(service: SessionService, count: number): Promise<void> {
  for (const n of numbers(count)) {
    await service.createSession(imported({ ...USER, sessionId: `s${n}`, lastUpdateTime: n }));
  }
}

async function idsOf(service: SessionService): Promise<string[]> {
  const { sessions } = await service.listSessions(APP);
  return sessions.map(({ id }) => id);
}

overStorages('deleteSessions', (open) => {
  it('tells watchers of each session, as deleteSession does', async () => {
    const service = await open();
    await fill(service, 3);
    const notices: Notice[] = [];
    service.watch(APP, { onNotice: (notice) => notices.push(notice) });
    await service.deleteSession({ ...USER, sessionId: 's0' });
    assert.equal(await service.deleteSessions({ ...APP, olderThan: 2 }), 1);
    await service.close();
    const shown = notices.map((notice) => {
      const { revision, ...others } = notice as { revision?: number };
      return { ...others, hasRevision: revision !== undefined };
    });
    const [one, other] = ['s0', 's1'].map((sessionId) => ({
      type: 'deleted',
      ...USER,
      sessionId,
      hasRevision: shown[0]?.hasRevision,
    }));
    assert.deepEqual(shown, [one, other]);
  });

  it('reports the number of deleted sessions after each batch', async () => {
    const service = await open();
    await fill(service, 230);
    const seen: number[] = [];
    const onProgress = (deleted: number): void => void seen.push(deleted);
    assert.equal(await service.deleteSessions({ ...APP, olderThan: 220 }, { onProgress }), 220);
    assert.equal(seen.at(-1), 220);
    assert.ok(seen.length >= 3, `it was called ${seen.length} times`);
    assert.deepEqual(
      seen,
      [...seen].sort((one, other) => one - other),
    );
  });

  it('ends with aborted before the next session, and keeps what is left', async () => {
    const service = await open();
    await fill(service, 230);
    const stop = new AbortController();
    const reason = new Error('enough');
    const deleting = service.deleteSessions(APP, {
      signal: stop.signal,
      onProgress: () => stop.abort(reason),
    });
    const error = await failure(deleting, 'aborted');
    assert.equal(error.cause, reason);
    assert.match(error.message, /deleted at least 100 sessions/);
    assert.deepEqual(
      await idsOf(service),
      numbers(130).map((n) => `s${n + 100}`),
    );
    const aborted = service.deleteSessions(APP, { signal: AbortSignal.abort() });
    assert.match((await failure(aborted, 'aborted')).message, /nothing was written/);
  });

  it('goes on if onProgress throws, which the host reports', async () => {
    const service = await open();
    await fill(service, 150);
    const reported: unknown[] = [];
    const host = globalThis as { reportError?: (error: unknown) => void };
    host.reportError = (error) => reported.push(error);
    const thrown = new Error('no');
    const onProgress = (): never => {
      throw thrown;
    };
    const count = await service.deleteSessions(APP, { onProgress }).finally(() => {
      delete host.reportError;
    });
    assert.equal(count, 150);
    assert.deepEqual(reported, [thrown, thrown]);
  });

  it('takes the request at the call', async () => {
    const service = await open();
    await service.createSession({ ...USER, sessionId: 'a', labels: { a: '1' } });
    await service.createSession({ ...USER, sessionId: 'b', labels: { a: '2' } });
    const request = { ...APP, labels: { a: '1' } };
    const deleting = service.deleteSessions(request);
    request.labels.a = '2';
    request.appName = 'other';
    assert.equal(await deleting, 1);
    assert.deepEqual(await idsOf(service), ['b']);
  });

  it('ends when the service is closed, whose close waits for it', async () => {
    const service = await open();
    await fill(service, 10);
    const deleting = service.deleteSessions(APP);
    await service.close();
    assert.equal(await deleting, 10);
    await failure(service.deleteSessions(APP), 'closed');
  });

  for (const [what, request, key] of [
    ['an app that is no text', { appName: 5 }, 'appName'],
    ['a user that is null', { userId: null }, 'userId'],
    ['a time that is null', { olderThan: null }, 'olderThan'],
    ['a time that is no number', { olderThan: NaN }, 'olderThan'],
    ['a time behind all times', { olderThan: 253402300800000 }, 'olderThan'],
    ['labels that are null', { labels: null }, 'labels'],
    ['no labels', { labels: {} }, 'labels'],
    ['labels past their limits', { labels: { a: 'B' } }, 'labels.a'],
    ['a session', { sessionId: 'session' }, 'sessionId'],
  ] as const) {
    it(`refuses ${what}, and deletes nothing`, async () => {
      const service = await open();
      await service.createSession(KEY);
      const given = { ...APP, ...request } as unknown as DeleteSessionsRequest;
      assert.equal((await failure(service.deleteSessions(given), 'invalid_argument')).key, key);
      assert.deepEqual(await idsOf(service), ['session']);
    });
  }

  for (const [what, options, key] of [
    ['no object', 5, undefined],
    ['a text as onProgress', { onProgress: 'x' }, 'onProgress'],
  ] as const) {
    it(`refuses options with ${what}, and deletes nothing`, async () => {
      const service = await open();
      await service.createSession(KEY);
      const error = await failure(
        service.deleteSessions(APP, options as never),
        'invalid_argument',
      );
      if (key !== undefined) assert.equal(error.key, key);
      assert.deepEqual(await idsOf(service), ['session']);
    });
  }
});

describe('deleteSessions', () => {
  it('tells with aborted how many it deleted within its first batch', async () => {
    const storage = new MapStorage();
    const service = await openOver(storage);
    await fill(service, 9);
    const stop = new AbortController();
    const remove = storage.deleteUnchanged.bind(storage);
    let count = 0;
    storage.deleteUnchanged = (request) => {
      count += 1;
      if (count === 5) stop.abort();
      return remove(request);
    };
    const seen: number[] = [];
    const onProgress = (deleted: number): void => void seen.push(deleted);
    const deleting = service.deleteSessions(APP, { signal: stop.signal, onProgress });
    const { message } = await failure(deleting, 'aborted');
    assert.match(message, /deleted at least 5 sessions/);
    assert.deepEqual(seen, [5]);
    assert.equal((await idsOf(service)).length, 4);
  });

  it('keeps a session that got an event, labels or a new life after it was listed', async () => {
    const storage = new MapStorage();
    const [service, other] = [await openOver(storage), await openOver(storage)];
    for (const sessionId of ['event', 'labels', 'again', 'gone', 'same']) {
      await service.createSession(imported({ ...USER, sessionId, lastUpdateTime: 1 }));
    }
    const remove = storage.deleteUnchanged.bind(storage);
    let changed: Promise<unknown> | undefined;
    storage.deleteUnchanged = async (request: StorageDeleteUnchangedRequest) => {
      changed ??= change();
      await changed;
      return remove(request);
    };
    async function change(): Promise<void> {
      const session = await stored(other, { ...USER, sessionId: 'event' });
      // An event of an old time leaves the session's time as it is.
      await other.appendEvent({ session, event: { ...says('late'), timestamp: 0 } });
      await other.updateSession({ ...USER, sessionId: 'labels' }, { labels: { pinned: 'yes' } });
      await other.deleteSession({ ...USER, sessionId: 'again' });
      await other.createSession(imported({ ...USER, sessionId: 'again', lastUpdateTime: 1 }));
      await other.deleteSession({ ...USER, sessionId: 'gone' });
    }
    assert.equal(await service.deleteSessions({ ...APP, olderThan: 2 }), 1);
    assert.deepEqual(await idsOf(service), ['again', 'event', 'labels']);
  });

  it('is unsupported over a storage without the verb deleteUnchanged', async () => {
    const storage = { ...wholeStorage(), deleteUnchanged: undefined };
    const service = await openSessionService({ storage });
    await service.createSession(KEY);
    await failure(service.deleteSessions(APP), 'unsupported');
    assert.deepEqual(await idsOf(service), ['session']);
  });

  for (const answer of [undefined, null, 1, {}, { floor: -1 }]) {
    it(`reports a storage whose verb gives ${JSON.stringify(answer)}`, async () => {
      const storage = { ...wholeStorage(), deleteUnchanged: () => answer as never };
      const service = await openSessionService({ storage });
      await service.createSession(KEY);
      const error = await failure(service.deleteSessions(APP), 'storage_failed');
      assert.match(error.message, /deleteUnchanged/);
    });
  }

  it('is a method of the framework service too', async () => {
    const service = new FrameworkService();
    await service.createSession(KEY);
    assert.equal(await service.deleteSessions(APP), 1);
  });

  it('in memory lets others run between its deletions', async () => {
    const service = new InMemorySessionService();
    for (const n of numbers(20_000)) {
      service.createSessionSync({ ...USER, sessionId: `s${n}`, events: [says('x')] });
    }
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    });
    assert.equal(await service.deleteSessions(APP), 20_000);
    clearInterval(timer);
    assert.ok(turns > 2, `others ran ${turns} times`);
  });
});

describe('deleteSessions beside other writers', () => {
  for (let seed = 1; seed <= 20; seed += 1) {
    it(`deletes what was there and stayed, and nothing else: seed ${seed}`, () => walk(seed));
  }
});

/**
 * Sessions are created, moved, labelled and deleted between the steps of a deletion. The deletion must take each
 * session that fulfilled the request all the time, and none that never did.
 */
async function walk(seed: number): Promise<void> {
  const random = new Random(seed);
  const below = (end: number): number => random.below(end);
  const storage = new MapStorage();
  storage.pause = () => undefined;
  const time = { now: 1_000_000 };
  const clock = (): number => time.now;
  const [service, other] = [await openOver(storage), await openOver(storage, { clock })];
  const count = 150 + below(200);
  const limit = below(3) === 0 ? undefined : below(1000);
  const labels = below(2) === 0 ? undefined : { doomed: 'yes' };
  const always = new Set<string>();
  const never = new Set<string>();
  for (const n of numbers(count)) {
    const id = `s${n}`;
    const at = below(1000);
    const isDoomed = below(3) === 0;
    const created = {
      ...USER,
      sessionId: id,
      lastUpdateTime: at,
      ...(isDoomed && { labels: { doomed: 'yes' } }),
    };
    await other.createSession(created);
    const isChosen = (limit === undefined || at < limit) && (labels === undefined || isDoomed);
    (isChosen ? always : never).add(id);
  }
  const list = storage.list.bind(storage);
  const remove = storage.deleteUnchanged.bind(storage);
  const lifes = new Map<string, number>();
  /** Changes a few sessions. */
  async function disturb(): Promise<void> {
    for (let steps = below(4); steps > 0; steps -= 1) {
      const id = `s${below(count)}`;
      const key = { ...USER, sessionId: id };
      const session = await other.getSession(key);
      if (session === undefined) continue;
      time.now += 1;
      always.delete(id);
      const what = below(3);
      if (what === 0) await other.deleteSession(key);
      else if (what === 1) await other.appendEvent({ session, event: says('x') });
      else await other.updateSession(key, { labels: { other: 'yes' } });
      if (what === 0) lifes.set(id, time.now);
      if (what === 1 && limit === undefined && labels === undefined) never.delete(id);
    }
  }
  storage.list = async (request) => {
    const listing = await list(request);
    await disturb();
    return listing;
  };
  storage.deleteUnchanged = async (request) => {
    if (below(5) === 0) await disturb();
    return remove(request);
  };
  const deletion = service.deleteSessions({
    ...APP,
    ...(limit !== undefined && { olderThan: limit }),
    ...(labels !== undefined && { labels }),
  });
  const deleted = await deletion;
  storage.list = list;
  const left = new Set(await idsOf(service));
  const missed = [...always].filter((id) => left.has(id));
  const lost = [...never].filter((id) => !left.has(id) && !lifes.has(id));
  assert.deepEqual({ missed, lost }, { missed: [], lost: [] });
  assert.equal(left.size, count - lifes.size - deleted);
}
