// Lists by cursor, filters by title and labels, and walks against a model.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { storageOfParts, wholeStorage } from '../whole_storage.js';
import {
  InMemorySessionService,
  openSessionService,
  type Session,
  type SessionError,
  type SessionServiceOptions,
  type SessionService,
} from '../../../../js/index.js';
import type { ListSessionsRequest } from '../../../../js/values/model/session_list.js';
import type { Storage, StorageListRequest } from '../../../../js/core/storage/index.js';
import { walkSessions } from '../../../../js/service/read/session_lists.js';
import { findDifference } from './list_model.js';
import { findLostSession, type Walked } from './walk_model.js';
import { imported } from '../fixture.js';

const shop = { appName: 'shop' };
const ids = (sessions: readonly Session[]) => sessions.map(({ id }) => id);

async function all(sessions: AsyncIterable<Session>): Promise<string[]> {
  const listed = [];
  for await (const { id } of sessions) listed.push(id);
  return listed;
}

async function withSessions(service: SessionService, count: number) {
  for (let number = 1; number <= count; number += 1) {
    const key = { ...shop, userId: number % 2 ? 'ada' : 'bob', sessionId: `s${number}` };
    await service.createSession(imported({ ...key, lastUpdateTime: number * 1000 }));
  }
}

const refusal = (key: string) => (error: unknown) => {
  const { code, key: actualKey } = error as SessionError;
  assert.equal(code, 'invalid_argument');
  assert.equal(actualKey, key);
  return true;
};

describe('A cursor of a list', () => {
  it('is refused if it is made up, changed, of another version or of another list', async () => {
    const service = new InMemorySessionService();
    await withSessions(service, 4);
    const { nextCursor } = await service.listSessions({ ...shop, limit: 1 });
    assert.ok(nextCursor !== undefined);
    const made = ['', 'l2', '[', 'l2.0.[1,2,"a","b"]', nextCursor.replace('l2.', 'l9.')];
    const changed = [
      nextCursor.slice(1),
      `${nextCursor} `,
      nextCursor.replace('1000', '2000'),
      7,
      {},
    ];
    for (const cursor of [...made, ...changed] as string[]) {
      await assert.rejects(service.listSessions({ ...shop, limit: 1, cursor }), refusal('cursor'));
    }
    const others: Partial<ListSessionsRequest>[] = [
      { appName: 'other' },
      { userId: 'ada' },
      { order: 'desc' },
      { orderBy: 'createTime' },
      { title: 'tea' },
      { labels: { a: 'b' } },
    ];
    for (const other of others) {
      const request = { ...shop, limit: 1, cursor: nextCursor, ...other };
      await assert.rejects(service.listSessions(request), refusal('cursor'));
    }
    const session = await service.createSession({ ...shop, userId: 'ada', sessionId: 'events' });
    await service.appendEvent({ session, event: { id: 'e1', invocationId: 'i' } });
    const events = await service.listEvents({ ...shop, userId: 'ada', sessionId: 'events' });
    const cursor = events.after;
    await assert.rejects(service.listSessions({ ...shop, limit: 1, cursor }), refusal('cursor'));
  });

  it('needs a limit, and goes with no page', async () => {
    const service = new InMemorySessionService();
    await withSessions(service, 2);
    const { nextCursor: cursor } = await service.listSessions({ ...shop, limit: 1 });
    const list = (request: object) => service.listSessions({ ...shop, cursor, ...request });
    await assert.rejects(list({}), refusal('cursor'));
    await assert.rejects(list({ limit: 1, page: 1 }), refusal('page'));
    await assert.rejects(list({ limit: 1.5 }), refusal('limit'));
    assert.deepEqual(ids((await list({ limit: 0 })).sessions), []);
  });

  it('continues the numbers of pages, and works in the synchronous list', async () => {
    const service = new InMemorySessionService();
    await withSessions(service, 5);
    const second = service.listSessionsSync({ ...shop, limit: 2, page: 2 });
    const third = service.listSessionsSync({ ...shop, limit: 2, cursor: second.nextCursor });
    assert.deepEqual(ids(third.sessions), ['s5']);
    assert.deepEqual([third.page, third.totalItems, third.totalPages], [3, 5, 3]);
    assert.equal('nextCursor' in third, false);
    assert.equal('nextCursor' in (await service.listSessions(shop)), false);
  });

  it('asks a storage that lists parts for no other session', async () => {
    const asked: StorageListRequest[] = [];
    const storage = storageOfParts(asked);
    const service = await openSessionService({ storage });
    await withSessions(service, 5);
    const { nextCursor: cursor } = await service.listSessions({ ...shop, limit: 2 });
    const page = await service.listSessions({ ...shop, limit: 2, cursor });
    assert.deepEqual(ids(page.sessions), ['s3', 's4']);
    assert.deepEqual(
      asked.map(({ after }) => after !== undefined),
      [false, true],
    );
  });
});

describe('A list by createTime', () => {
  it('needs no help of a storage, and is refused if a session has no createTime', async () => {
    const storage = wholeStorage();
    let hasTimes = true;
    const list: Storage['list'] = async (request) => {
      assert.equal('orderBy' in request, false);
      const { sessions, ...listing } = await storage.list(request);
      const rows = sessions.map(({ createTime, ...row }) =>
        hasTimes ? { ...row, createTime } : row,
      );
      return { ...listing, sessions: rows };
    };
    const service = await openSessionService({ storage: { ...storage, list } });
    await withSessions(service, 3);
    const session = await service.getSession({ ...shop, userId: 'ada', sessionId: 's1' });
    await service.appendEvent({ session: session!, event: { invocationId: 'i' } });
    const request = { ...shop, orderBy: 'createTime', limit: 2 } as const;
    const { sessions, nextCursor: cursor } = await service.listSessions(request);
    assert.deepEqual(ids(sessions), ['s1', 's2']);
    assert.deepEqual(ids((await service.listSessions({ ...request, cursor })).sessions), ['s3']);
    hasTimes = false;
    const refused = { code: 'unsupported', key: 'orderBy' };
    await assert.rejects(service.listSessions(request), refused);
    await assert.rejects(
      service.listSessions({ ...shop, orderBy: 'id' as 'createTime' }),
      refusal('orderBy'),
    );
  });
});

describe('A list by title and labels', () => {
  const titles = ['Green tea', 'Black TEA, strong', 'Teapots', 'Straße nach Ålesund', undefined];

  async function described(service: SessionService) {
    await withSessions(service, 5);
    for (const [index, title] of titles.entries()) {
      const key = { ...shop, userId: index % 2 ? 'bob' : 'ada', sessionId: `s${index + 1}` };
      const labels: Record<string, string> =
        index < 3 ? { kind: 'drink', n: `${index}` } : { kind: 'trip' };
      await service.updateSession(key, { ...(title && { title }), labels });
    }
  }

  for (const [title, storage] of [
    ['in memory', () => 'memory' as const],
    ['over a storage', wholeStorage],
  ] as const) {
    it(`has the sessions ${title} that fit, and its cursors lead through them`, async () => {
      const service = await openSessionService({ storage: storage() });
      await described(service);
      const find = async (request: Partial<ListSessionsRequest>) =>
        ids((await service.listSessions({ ...shop, ...request })).sessions);
      assert.deepEqual(await find({ title: 'tea' }), ['s1', 's2', 's3']);
      assert.deepEqual(await find({ title: 'TEA str' }), ['s2']);
      assert.deepEqual(await find({ title: 'ea' }), []);
      assert.deepEqual(await find({ title: 'ålesund STR' }), ['s4']);
      // Another form of the same letters: a ring of its own, letters of full width.
      assert.deepEqual(await find({ title: 'a\u030Alesund' }), ['s4']);
      assert.deepEqual(await find({ title: 'ｔｅａｐｏｔｓ' }), ['s3']);
      assert.deepEqual(await find({ labels: { kind: 'drink' } }), ['s1', 's2', 's3']);
      assert.deepEqual(await find({ labels: { kind: 'drink', n: '1' } }), ['s2']);
      assert.deepEqual(await find({ labels: { kind: 'trip', n: '1' } }), []);
      assert.deepEqual(await find({ labels: { constructor: '' } }), []);
      assert.deepEqual(await find({ labels: { kind: 'drink' }, title: 'teapot', userId: 'ada' }), [
        's3',
      ]);
      const request = { ...shop, labels: { kind: 'drink' }, limit: 2, order: 'desc' } as const;
      const first = await service.listSessions(request);
      assert.deepEqual(ids(first.sessions), ['s3', 's2']);
      const next = await service.listSessions({ ...request, cursor: first.nextCursor });
      assert.deepEqual(ids(next.sessions), ['s1']);
      assert.equal(next.nextCursor, undefined);
      assert.equal('totalItems' in first, false);
      assert.deepEqual(await all(service.sessions({ ...shop, title: 'tea', limit: 1 })), [
        's1',
        's2',
        's3',
      ]);
      await service.close();
    });
  }

  it('looks through more sessions than it reads at once', async () => {
    const service = new InMemorySessionService();
    const create = (sessionId: string, title?: string) =>
      service.createSession({ ...shop, userId: 'ada', sessionId, ...(title && { title }) });
    await create('a', 'Tea');
    for (let number = 1; number <= 2500; number += 1) await create(`n${number}`);
    await create('z', 'Tea');
    const { sessions, nextCursor } = await service.listSessions({
      ...shop,
      title: 'tea',
      limit: 2,
    });
    assert.deepEqual(ids(sessions), ['a', 'z']);
    const next = service.listSessionsSync({
      ...shop,
      title: 'tea',
      limit: 2,
      cursor: nextCursor,
      withTotal: false,
    });
    assert.deepEqual(next.sessions, []);
  });

  it('refuses what no session can have, a page and a total', async () => {
    const service = new InMemorySessionService();
    const list = (request: object) => service.listSessions({ ...shop, ...request });
    await assert.rejects(list({ title: '' }), refusal('title'));
    await assert.rejects(list({ title: ' !' }), refusal('title'));
    await assert.rejects(list({ labels: { A: 'b' } }), refusal('labels.A'));
    await assert.rejects(list({ title: 'a', limit: 1, page: 1 }), refusal('page'));
    await assert.rejects(list({ title: 'a', withTotal: true }), refusal('withTotal'));
    await assert.rejects(list({ title: 'a', limit: -1 }), refusal('limit'));
  });
});

interface Opened extends Pick<Walked, 'setTime'> {
  readonly service: SessionService;
}
type Open = (options: SessionServiceOptions) => Opened | Promise<Opened>;

async function overStorage(storage: Storage, options: SessionServiceOptions) {
  return {
    service: await openSessionService({ ...options, storage }),
    setTime: ({ appName, userId, id: sessionId }: Session, lastUpdateTime: number) => {
      const key = { appName, userId, sessionId };
      const nothing = { user: undefined, app: undefined, events: [] };
      const since = Number.MAX_SAFE_INTEGER;
      return storage.append({ key, scopes: ['session'], eventIds: [], since }, ({ session }) => {
        const revision = session!.revision + 1;
        return { ...nothing, session: { ...session!, revision, lastUpdateTime } };
      });
    },
  };
}

const SEEDS = 60;
const SERVICES: [title: string, open: Open][] = [
  ['in memory', (options) => ({ service: new InMemorySessionService(options) })],
  ['over a storage', (options) => overStorage(wholeStorage(), options)],
  ['over a storage that lists parts', (options) => overStorage(storageOfParts(), options)],
];

for (const [title, open] of SERVICES) {
  describe(`A walk through sessions ${title}`, () => {
    it('gives each session that stays exactly once, while others create, append, rename and delete, one by a clock behind', async () => {
      for (let seed = 0; seed < SEEDS; seed += 1) {
        const clock = { now: 1_700_000_000_000 };
        const { service, setTime } = await open({ clock: () => clock.now });
        const fault = await findLostSession({ services: [service], setTime }, seed, clock);
        assert.equal(fault, undefined, `seed ${seed}`);
        await service.close();
      }
    });
  });
}

for (const [title, open] of SERVICES) {
  it(`a list by title and labels ${title} has what a model has, whatever was created, renamed and deleted before`, async () => {
    for (let seed = 0; seed < SEEDS / 2; seed += 1) {
      let now = 1_700_000_000_000;
      const { service } = await open({ clock: () => now, autoTitle: true });
      const difference = await findDifference([service], seed, (ms) => (now += ms));
      assert.equal(difference, undefined, `seed ${seed}`);
      await service.close();
    }
  });
}

describe('sessions', () => {
  it('checks its request at the first step, and ends with its signal', async () => {
    const service = new InMemorySessionService();
    await withSessions(service, 3);
    await assert.rejects(all(service.sessions({ ...shop, limit: 0 })), refusal('limit'));
    await assert.rejects(
      all(service.sessions({ ...shop, order: 'up' as 'asc' })),
      refusal('order'),
    );
    const controller = new AbortController();
    const walk = service.sessions({ ...shop, limit: 1, signal: controller.signal });
    await walk.next();
    controller.abort();
    await assert.rejects(walk.next(), { code: 'aborted' });
  });

  it('gives a session once that its reader appends to', async () => {
    const service = new InMemorySessionService();
    await withSessions(service, 5);
    for (const order of ['asc', 'desc'] as const) {
      const given = [];
      for await (const session of service.sessions({ ...shop, order, limit: 2 })) {
        given.push(session.id);
        await service.appendEvent({ session, event: { invocationId: 'i' } });
      }
      assert.deepEqual(given.sort(), ['s1', 's2', 's3', 's4', 's5']);
    }
  });

  it('reads a storage that lists no parts at most three times', async () => {
    const storage = wholeStorage();
    let lists = 0;
    const list: Storage['list'] = (request) => {
      lists += 1;
      return storage.list(request);
    };
    const service = await openSessionService({ storage: { ...storage, list } });
    await withSessions(service, 30);
    assert.equal((await all(service.sessions({ ...shop, limit: 4 }))).length, 30);
    assert.equal(lists, 3);
  });

  it('ends if a server repeats a cursor', async () => {
    let lists = 0;
    const list = () => {
      lists += 1;
      assert.ok(lists < 10, 'the walk does not end');
      return Promise.resolve({ sessions: [], page: 1, limit: 50, nextCursor: 'same' });
    };
    assert.deepEqual(await all(walkSessions(shop, list, Date.now)), []);
    assert.equal(lists, 4, 'two of each pass');
  });
});
