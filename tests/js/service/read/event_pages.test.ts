// Pages of events: cursors, handles that grow backwards, storages with and without `readPage`, and walks against a
// model.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { wholeStorage } from '../whole_storage.js';
import {
  type Event,
  InMemorySessionService,
  openSessionService,
  type SessionError,
  type SessionService,
} from '../../../../js/index.js';
import { rewind } from '../../../../js/core/history/index.js';
import type { Storage } from '../../../../js/core/storage/index.js';
import { cutPage } from '../../../../js/core/storage/cut_page.js';
import { findLostEvent } from './walk_model.js';

const key = { appName: 'shop', userId: 'ada', sessionId: 's1' };
const ids = (events: readonly Event[]) => events.map(({ id }) => id);
const named = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, number) => `e${from + number}`);

async function withEvents(service: SessionService, count: number, sessionId = key.sessionId) {
  const session = await service.createSession({ ...key, sessionId });
  const events = named(1, count).map((id) => ({
    id,
    invocationId: 'i',
    author: 'user',
    timestamp: 1000,
  }));
  await service.appendEvents({ session, events });
  return session;
}

/** A storage whose pages are cut out of all rows, and that counts its reads. */
function withPages() {
  const storage = wholeStorage();
  const reads = { read: 0, readPage: 0 };
  const counting: Storage = {
    ...storage,
    read(request) {
      reads.read += 1;
      return storage.read(request);
    },
    async readPage(request) {
      reads.readPage += 1;
      const { session, events } = await storage.read({ key: request.key, window: {} });
      return { session, events: cutPage(events, request), eventCount: events.length };
    },
  };
  return { storage: counting, reads };
}

const refusal = (code: string, keyOf?: string) => (error: unknown) => {
  const { code: actual, key: actualKey } = error as SessionError;
  assert.equal(actual, code);
  if (keyOf !== undefined) assert.equal(actualKey, keyOf);
  return true;
};

describe('listEvents', () => {
  it('refuses cursors that are made up, changed, of another version or session, and names the key', async () => {
    const service = new InMemorySessionService();
    await withEvents(service, 3);
    await withEvents(service, 3, 's2');
    const { before, after } = await service.listEvents({ ...key, limit: 1 });
    assert.ok(before !== undefined && after !== undefined);
    const bad = [
      '',
      'e1',
      'made up',
      before.slice(1),
      `${before}x`,
      before.replace('e1.', 'e9.'),
      7,
      {},
      'a.b.1.e1',
    ];
    for (const cursor of bad as string[]) {
      for (const name of ['before', 'after']) {
        const list = service.listEvents({ ...key, [name]: cursor });
        await assert.rejects(list, refusal('invalid_argument', name), `${name}: ${cursor}`);
      }
    }
    const other = { ...key, sessionId: 's2' };
    await assert.rejects(
      service.listEvents({ ...other, before }),
      refusal('invalid_argument', 'before'),
    );
    await assert.rejects(
      service.listEvents({ ...other, after }),
      refusal('invalid_argument', 'after'),
    );
    await assert.rejects(
      service.listEvents({ ...key, before, after }),
      refusal('invalid_argument', 'after'),
    );
  });

  it('refuses invalid limits, and a session that does not exist', async () => {
    const service = new InMemorySessionService();
    await withEvents(service, 1);
    for (const limit of [0, -1, 1.5, NaN, Infinity, 1001]) {
      await assert.rejects(
        service.listEvents({ ...key, limit }),
        refusal('invalid_argument', 'limit'),
      );
    }
    const withCount = 1 as unknown as boolean;
    await assert.rejects(
      service.listEvents({ ...key, withCount }),
      refusal('invalid_argument', 'withCount'),
    );
    const missing = service.listEvents({ ...key, sessionId: 'none' });
    await assert.rejects(missing, refusal('not_found'));
  });

  it('counts for a page without a cursor, and else only if it is asked to', async () => {
    const service = new InMemorySessionService();
    await withEvents(service, 3);
    const { before, after, eventCount } = await service.listEvents({ ...key, limit: 1 });
    assert.equal(eventCount, 3);
    assert.ok(!('eventCount' in (await service.listEvents({ ...key, withCount: false }))));
    for (const cursor of [{ before }, { after }]) {
      assert.ok(!('eventCount' in (await service.listEvents({ ...key, ...cursor }))));
      const counted = await service.listEvents({ ...key, ...cursor, withCount: true });
      assert.equal(counted.eventCount, 3);
    }
  });

  it('returns events of its own', async () => {
    const service = new InMemorySessionService();
    await withEvents(service, 2);
    const { events } = await service.listEvents(key);
    events[0]!.author = 'changed';
    assert.equal((await service.listEvents(key)).events[0]!.author, 'user');
  });

  it('uses readPage of a storage, and without it reads the storage session', async () => {
    const { storage, reads } = withPages();
    const service = await openSessionService({ storage });
    await withEvents(service, 5);
    reads.read = 0;
    const { before } = await service.listEvents({ ...key, limit: 2 });
    assert.deepEqual(ids((await service.listEvents({ ...key, before })).events), named(1, 3));
    assert.deepEqual(reads, { read: 0, readPage: 2 });

    const plain = await openSessionService({ storage: wholeStorage() });
    await withEvents(plain, 5);
    const page = await plain.listEvents({ ...key, limit: 2 });
    assert.deepEqual([ids(page.events), page.eventCount], [named(4, 5), 5]);
  });

  it('reads the storage session once for a walk through a view with a rewind', async () => {
    const { storage, reads } = withPages();
    const service = await openSessionService({ storage });
    const session = await withEvents(service, 200);
    const content = { role: 'user', parts: [{ text: 'undone' }] };
    await service.appendEvent({ session, event: { invocationId: 'j', author: 'user', content } });
    await rewind(service, { ...key, before: { invocationId: 'j' } });
    reads.read = 0;
    const found = [];
    for await (const { id } of service.events({ ...key, view: 'transcript' })) found.push(id);
    assert.deepEqual(found, named(1, 200));
    assert.equal(reads.read, 2, 'the second read looks for events that were appended meanwhile');
  });

  it('reads the storage session of a storage without readPage once for a walk and for its sums', async () => {
    const { storage, reads } = withPages();
    const service = await openSessionService({ storage: { ...storage, readPage: undefined! } });
    await service.createSession(key);
    const count = 1200;
    const events = named(1, count).map((id) => ({ id, invocationId: 'i', timestamp: 1000 }));
    await service.appendEvents({ session: (await service.getSession(key))!, events });
    const readsOf = async (call: () => unknown) => {
      reads.read = 0;
      await call();
      return reads.read;
    };
    const walk = async (request: object) => {
      const found = [];
      for await (const { id } of service.events({ ...key, ...request })) found.push(id);
      return found;
    };
    // Forwards, the second read looks for events that were appended meanwhile.
    const forwards = async () => assert.deepEqual(await walk({}), named(1, count));
    assert.equal(await readsOf(forwards), 2);
    // Backwards, the walk may have ended on the first page.
    const back = async () => {
      assert.deepEqual(await walk({ order: 'desc' }), named(1, count).reverse());
    };
    assert.equal(await readsOf(back), 2);
    assert.equal(await readsOf(() => service.sessionInfo(key)), 1);
    await assert.rejects(walk({ limit: 0 }), refusal('invalid_argument', 'limit'));
  });

  it('reports a storage whose page is malformed', async () => {
    const row = { ...key, created: 1, revision: 1, lastUpdateTime: 1, state: '{}' };
    for (const result of [
      undefined,
      { events: [], session: {} },
      { session: 7 },
      { session: row },
    ]) {
      const storage = { ...wholeStorage(), readPage: () => result } as unknown as Storage;
      const service = await openSessionService({ storage });
      await assert.rejects(
        service.listEvents(key),
        refusal('storage_failed'),
        JSON.stringify(result),
      );
    }
  });

  it('passes damaged events by with skipCorrupt, even if a page has no others', async () => {
    const storage = wholeStorage();
    const damaging: Storage = {
      ...storage,
      async read(request) {
        const rows = await storage.read(request);
        const damaged = ['e3', 'e4', 'e5'];
        const events = rows.events.map((row) =>
          damaged.includes(row.id) ? { ...row, text: '{' } : row,
        );
        return { ...rows, events };
      },
    };
    const service = await openSessionService({ storage: damaging });
    await withEvents(service, 7);
    await assert.rejects(service.listEvents(key), refusal('corrupt_record'));
    for (const order of ['asc', 'desc'] as const) {
      const found = [];
      for await (const event of service.events({ ...key, order, limit: 1, skipCorrupt: true })) {
        found.push(event.id);
      }
      const expected = ['e1', 'e2', 'e6', 'e7'];
      assert.deepEqual(found, order === 'asc' ? expected : expected.reverse());
    }
  });
});

describe('events', () => {
  it('begins at a cursor, and refuses one that does not fit the order', async () => {
    const service = new InMemorySessionService();
    await withEvents(service, 6);
    const { before, after } = await service.listEvents({ ...key, limit: 2 });
    const collect = async (request: object) => {
      const found = [];
      for await (const { id } of service.events({ ...key, limit: 1, ...request })) found.push(id);
      return found;
    };
    assert.deepEqual(await collect({ order: 'desc', before }), named(1, 4).reverse());
    assert.deepEqual(await collect({ after }), []);
    await assert.rejects(collect({ before }), refusal('invalid_argument', 'before'));
    await assert.rejects(collect({ order: 'desc', after }), refusal('invalid_argument', 'after'));
    await assert.rejects(collect({ order: 'up' }), refusal('invalid_argument', 'order'));
  });

  it('ends when it is left, and fails after a close', async () => {
    const service = new InMemorySessionService();
    await withEvents(service, 3);
    for await (const { id } of service.events(key)) {
      assert.equal(id, 'e1');
      break;
    }
    const walk = service.events({ ...key, limit: 1 });
    await walk.next();
    await service.close();
    await assert.rejects(walk.next(), refusal('closed'));
  });
});

describe('loadOlder', () => {
  it('puts older events before those of a handle, until there are none', async () => {
    const service = new InMemorySessionService();
    await withEvents(service, 7);
    const session = await service.getSession({ ...key, config: { numRecentEvents: 2 } });
    assert.ok(session);
    const { events } = session;
    assert.equal(await service.loadOlder(session, 3), true);
    assert.deepEqual(ids(session.events), named(3, 7));
    assert.equal(await service.loadOlder(session, 3), false);
    assert.equal(await service.loadOlder(session), false);
    assert.deepEqual(ids(session.events), named(1, 7));
    assert.equal(session.events, events);
  });

  it('gives a handle without events the last ones', async () => {
    const service = new InMemorySessionService();
    await withEvents(service, 4);
    const session = await service.getSession({ ...key, config: { numRecentEvents: 0 } });
    assert.equal(await service.loadOlder(session!, 3), true);
    assert.deepEqual(ids(session!.events), named(2, 4));
  });

  it('leaves appends, merges and the detection of stale handles as they are', async () => {
    for (const stale of ['merge', 'append', 'reject'] as const) {
      const service = new InMemorySessionService({ stale });
      await withEvents(service, 4);
      const session = await service.getSession({ ...key, config: { numRecentEvents: 1 } });
      const other = await service.getSession(key);
      assert.ok(session && other);
      await service.appendEvent({ session: other, event: { invocationId: 'i', id: 'other' } });
      await service.appendEvent({
        session: other,
        event: { invocationId: 'i', id: 'e2', author: 'again' },
      });
      await service.loadOlder(session, 2);
      assert.deepEqual(ids(session.events), named(2, 4));
      assert.equal(session.events[0]?.author, 'again');
      const append = service.appendEvent({ session, event: { invocationId: 'i', id: 'own' } });
      if (stale === 'reject') {
        await assert.rejects(append, refusal('stale_session'));
        continue;
      }
      await append;
      const missed = stale === 'merge' ? ['other'] : [];
      assert.deepEqual(ids(session.events), [...named(2, 4), ...missed, 'own']);
      await service.appendEvent({
        session,
        event: { invocationId: 'i', id: 'e3', author: 'replaced' },
      });
      assert.equal(session.events[1]?.author, 'replaced');
    }
  });

  it('adds nothing twice when it is called twice at once', async () => {
    const { storage } = withPages();
    const service = await openSessionService({ storage });
    await withEvents(service, 9);
    const session = await service.getSession({ ...key, config: { numRecentEvents: 1 } });
    assert.ok(session);
    await Promise.all([service.loadOlder(session, 2), service.loadOlder(session, 5)]);
    assert.deepEqual(ids(session.events), named(4, 9));
  });

  it('refuses a deleted session, and handles that it cannot change or place', async () => {
    const service = new InMemorySessionService();
    const session = await withEvents(service, 3);
    const frozen = { ...session, events: Object.freeze([...session.events]) as Event[] };
    await assert.rejects(service.loadOlder(frozen), refusal('invalid_argument', 'session.events'));
    const unknown = { ...session, events: [{ ...session.events[0]!, id: 'not stored' }] };
    await assert.rejects(service.loadOlder(unknown), refusal('invalid_argument', 'session'));
    const nameless = { ...session, events: [{} as Event] };
    await assert.rejects(service.loadOlder(nameless), refusal('invalid_argument', 'session'));
    await assert.rejects(service.loadOlder(session, 0), refusal('invalid_argument', 'limit'));
    await assert.rejects(
      service.loadOlder(session, 1, { signal: AbortSignal.abort() }),
      refusal('aborted'),
    );
    await service.deleteSession(key);
    await assert.rejects(service.loadOlder(session), refusal('not_found'));
    await withEvents(service, 3);
    await assert.rejects(service.loadOlder(session), refusal('not_found'));
    assert.deepEqual(ids(session.events), named(1, 3));
  });
});

describe('walks against a model', () => {
  const storages = {
    memory: () => 'memory' as const,
    'a storage with readPage': () => withPages().storage,
    'a storage without readPage': () => wholeStorage(),
  };
  for (const [name, storage] of Object.entries(storages)) {
    it(`sees each event once and in order while others append and replace: ${name}`, async () => {
      for (let seed = 1; seed <= 60; seed += 1) {
        const service = await openSessionService({ storage: storage() });
        assert.equal(await findLostEvent([service], seed), undefined, `seed ${seed}`);
        await service.close();
      }
    });
  }
});
