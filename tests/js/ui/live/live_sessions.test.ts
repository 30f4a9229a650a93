import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { InMemorySessionService, isSessionError } from '../../../../js/index.js';
import { liveSearch, liveSessions } from '../../../../js/ui/live/index.js';
import { openCache, Server } from '../../stores/cache/fixture.js';
import { idsOf, isWatched, message, snapshotOf } from './stores.js';

const USER = { appName: 'shop', userId: 'ada' };

/** A service whose clock goes on by a millisecond with each reading. */
function serviceOf(): InMemorySessionService {
  let now = 1000;
  return new InMemorySessionService({ clock: () => (now += 1) });
}

describe('A live search', () => {
  it('shows the hits, and is forgotten with its cache', async () => {
    const server = new Server();
    const { cache } = openCache(server);
    const session = await cache.createSession({ ...USER, sessionId: 's1' });
    await cache.appendEvent({ session, event: message('e1', '녹차 추천') });
    const search = liveSearch(cache, { ...USER, query: '녹차' });
    assert.equal(search.getSnapshot().status, 'loading');
    await search.load();
    const { status, hits, isComplete } = search.getSnapshot();
    assert.deepEqual([status, isComplete], ['ready', true]);
    assert.deepEqual(
      hits.map(({ eventId }) => eventId),
      ['e1'],
    );
    await cache.forget();
    assert.deepEqual([search.getSnapshot().status, search.getSnapshot().hits], ['forgotten', []]);
  });

  it('searches again when the reading of sessions ends that went on after it', async (t) => {
    const service = serviceOf();
    const session = await service.createSession({ ...USER, sessionId: 's1' });
    await service.appendEvent({ session, event: message('e1', '녹차 추천') });
    const { getSession } = service;
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    let isAsked = false;
    service.getSession = async (request) => {
      isAsked = true;
      await opened;
      return getSession.call(service, request);
    };
    const search = liveSearch(service, { ...USER, query: '녹차' });
    await import('../../../../js/service/search/index.js');
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const stop = search.subscribe(() => undefined);
    const until = async (condition: () => boolean): Promise<void> => {
      while (!condition()) await new Promise((resolve) => setImmediate(resolve));
    };
    await until(() => isAsked);
    t.mock.timers.tick(2000);
    await until(() => search.getSnapshot().status === 'ready');
    const { hits, isComplete } = search.getSnapshot();
    assert.deepEqual([hits, isComplete], [[], false]);
    open();
    await until(() => search.getSnapshot().isComplete);
    const later = search.getSnapshot();
    assert.deepEqual(
      later.hits.map(({ eventId }) => eventId),
      ['e1'],
    );
    stop();
    assert.ok(!isWatched(service));
  });

  it('tells why it failed', async () => {
    const search = liveSearch(serviceOf(), { ...USER, query: 'tea'.repeat(300) });
    await search.load();
    const { status, error } = search.getSnapshot();
    assert.equal(status, 'failed');
    assert.ok(isSessionError(error, 'invalid_argument'));
  });
});

describe('A live list of sessions', () => {
  it('shows the newest first, and more on demand', async () => {
    const service = serviceOf();
    for (const sessionId of ['s1', 's2', 's3']) await service.createSession({ ...USER, sessionId });
    const list = liveSessions(service, { ...USER, limit: 2 });
    assert.deepEqual(list.getSnapshot(), {
      status: 'loading',
      error: undefined,
      sessions: [],
      hasMore: false,
    });
    const stop = list.subscribe(() => undefined);
    const first = await snapshotOf(list, ({ status }) => status === 'ready');
    assert.deepEqual(idsOf(first.sessions), ['s3', 's2']);
    assert.equal(first.hasMore, true);
    await list.loadMore();
    const second = list.getSnapshot();
    assert.deepEqual(idsOf(second.sessions), ['s3', 's2', 's1']);
    assert.equal(second.sessions[0], first.sessions[0]);
    assert.equal(second.hasMore, false);
    await list.loadMore();
    assert.equal(list.getSnapshot().sessions, second.sessions);
    stop();
    assert.ok(!isWatched(service));
  });

  it('creates a session as the request was at the call', async () => {
    for (const given of [serviceOf(), Promise.resolve(serviceOf())]) {
      const list = liveSessions(given, USER);
      const request = { title: 'Tea', state: { cart: ['green'] }, labels: { pinned: 'yes' } };
      const creating = list.create(request);
      request.title = '';
      request.state.cart.pop();
      request.labels.pinned = 'no';
      const { title, state, labels } = await creating;
      assert.deepEqual([title, state, labels], ['Tea', { cart: ['green'] }, { pinned: 'yes' }]);
      const key = 'state';
      const wrong = list.create({ state: 5 as unknown as object });
      await assert.rejects(wrong, { code: 'invalid_argument', key });
    }
  });

  it('adds the next sessions once for concurrent calls', async () => {
    const service = serviceOf();
    for (let number = 1; number <= 9; number += 1) await service.createSession(USER);
    const list = liveSessions(service, { ...USER, limit: 2 });
    await Promise.all([list.loadMore(), list.loadMore(), list.loadMore()]);
    assert.equal(list.getSnapshot().sessions.length, 4);
  });

  it('follows what others create, append, rename and delete', async () => {
    const service = serviceOf();
    const session = await service.createSession({ ...USER, sessionId: 's1' });
    await service.createSession({ ...USER, sessionId: 's2' });
    const list = liveSessions(service, USER);
    const stop = list.subscribe(() => undefined);
    const first = await snapshotOf(list, ({ sessions }) => sessions.length === 2);
    await service.appendEvent({ session, event: message('e1') });
    const moved = await snapshotOf(list, ({ sessions }) => sessions[0]?.id === 's1');
    assert.equal(moved.sessions[1], first.sessions[0]);
    await service.updateSession({ ...USER, sessionId: 's2' }, { title: 'Tea' });
    await snapshotOf(list, ({ sessions }) => sessions[1]?.title === 'Tea');
    await service.deleteSession({ ...USER, sessionId: 's1' });
    await snapshotOf(list, ({ sessions }) => sessions.length === 1);
    await service.createSession({ ...USER, userId: 'eve', sessionId: 's3' });
    await service.createSession({ ...USER, sessionId: 's4' });
    const last = await snapshotOf(list, ({ sessions }) => sessions.length === 2);
    assert.deepEqual(idsOf(last.sessions), ['s4', 's2']);
    stop();
  });

  it('creates, renames and removes sessions', async () => {
    const service = serviceOf();
    const list = liveSessions(service, USER);
    const stop = list.subscribe(() => undefined);
    const { id } = await list.create({ title: 'Tea', state: { topic: 'tea' } });
    const [created] = list.getSnapshot().sessions;
    assert.ok(created);
    assert.deepEqual([created.id, created.title, created.state], [id, 'Tea', { topic: 'tea' }]);
    await list.rename(created, null);
    assert.equal(list.getSnapshot().sessions[0]?.title, undefined);
    await list.remove(created);
    assert.deepEqual(list.getSnapshot().sessions, []);
    stop();
  });

  it('lists with filters, of all users too', async () => {
    const service = serviceOf();
    const labels = { pinned: 'yes' };
    await service.createSession({ ...USER, sessionId: 's1', labels });
    await service.createSession({ ...USER, sessionId: 's2' });
    await service.createSession({ ...USER, userId: 'eve', sessionId: 's1', labels });
    const list = liveSessions(service, { appName: 'shop', labels, order: 'asc' });
    await list.load();
    const names = list.getSnapshot().sessions.map(({ userId, id }) => [userId, id]);
    assert.deepEqual(names, [
      ['ada', 's1'],
      ['eve', 's1'],
    ]);
    await assert.rejects(list.create(), { code: 'invalid_argument' });
  });

  it('refuses a wrong request', () => {
    const service = serviceOf();
    const refuse = (run: () => unknown, key: string) =>
      assert.throws(run, (error) => isSessionError(error, 'invalid_argument') && error.key === key);
    refuse(() => liveSessions(service, { appName: '' }), 'appName');
    refuse(() => liveSessions(service, { ...USER, limit: 0 }), 'limit');
  });

  it('shows why it could not be read', async () => {
    const service = serviceOf();
    await service.close();
    const { status, error } = await snapshotOf(liveSessions(service, USER), ({ error }) => !!error);
    assert.equal(status, 'failed');
    assert.ok(isSessionError(error, 'closed'));
  });
});
