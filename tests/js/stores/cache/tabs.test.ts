import assert from 'node:assert/strict';
import { it } from 'node:test';

import { InMemorySessionService, isSessionError } from '../../../../js/index.js';
import { CachedSessionService, MemoryLocalStore } from '../../../../js/service/cache/index.js';
import { event, hasCode, idsOf, KEY, openCache, Server, until, USER } from './fixture.js';

it('two tabs over one local storage write, and everything is sent once', async () => {
  const server = new Server();
  const local = new MemoryLocalStore();
  const tabs = [openCache(server, { local }).cache, openCache(server, { local }).cache];
  const [first, second] = tabs as [CachedSessionService, CachedSessionService];
  const session = await first.createSession(KEY);
  const handle = await second.getSession(KEY);
  for (let index = 0; index < 10; index += 1) {
    await Promise.all([
      first.appendEvent({ session, event: event(`a${index}`) }),
      second.appendEvent({ session: handle!, event: event(`b${index}`) }),
    ]);
  }
  await Promise.all(tabs.map((tab) => tab.sync()));
  const ids = idsOf(await server.service.getSession(KEY))!;
  assert.equal(ids.length, 20);
  assert.equal(new Set(ids).size, 20);
  assert.deepEqual(idsOf(await first.getSession(KEY)), ids);
  for (const name of ['a', 'b']) {
    const own = ids.filter((id) => id.startsWith(name));
    assert.deepEqual(
      own,
      Array.from({ length: 10 }, (_, index) => `${name}${index}`),
    );
  }
  await Promise.all(tabs.map((tab) => tab.close()));
});

it('a tab sends what a closed tab has left', async () => {
  const server = new Server();
  server.isOffline = true;
  const local = new MemoryLocalStore();
  const { cache: first } = openCache(server, { local });
  const { cache: second } = openCache(server, { local });
  const session = await first.createSession(KEY);
  await first.appendEvent({ session, event: event('e1') });
  await until(() => second.status.pending.length === 1);
  await first.close();
  server.isOffline = false;
  await second.sync();
  assert.deepEqual(idsOf(await server.service.getSession(KEY)), ['e1']);
  await second.close();
});

it('another owner sees nothing, and forget forgets only the data of its own owner', async () => {
  const server = new Server();
  server.isOffline = true;
  const local = new MemoryLocalStore();
  const { cache: ada } = openCache(server, { local });
  const { cache: eva } = openCache(server, { local, owner: 'eva' });
  const notices: string[] = [];
  eva.watch({ appName: 'shop' }, { onNotice: ({ type }) => notices.push(type) });
  await ada.createSession({ ...KEY, state: { 'user:name': 'Ada', 'app:motd': 'hi' } });
  const cacheOnly = { reads: 'cache-only' } as const;
  assert.equal(await eva.getSession({ ...KEY, config: cacheOnly }), undefined);
  assert.deepEqual((await eva.listSessions(USER)).sessions, []);
  assert.deepEqual(await eva.getAppState(USER), {});
  assert.deepEqual(await eva.outbox.list(), []);
  assert.deepEqual(notices, []);
  await eva.createSession({ ...KEY, sessionId: 'hers' });
  await ada.forget();
  assert.equal(await ada.getSession({ ...KEY, config: cacheOnly }), undefined);
  assert.deepEqual(await ada.getUserState(USER), {});
  assert.deepEqual(await ada.outbox.list(), []);
  assert.deepEqual(ada.status.pending, []);
  assert.equal((await eva.getSession({ ...KEY, sessionId: 'hers' }))?.id, 'hers');
  await Promise.all([ada.close(), eva.close()]);
});

it('forget ends what waits in other tabs, and a later tab finds nothing', async () => {
  const server = new Server();
  server.isOffline = true;
  const { cache: first, local } = openCache(server);
  const { cache: second } = openCache(server, { local });
  await first.createSession(KEY);
  await until(() => second.status.pending.length === 1);
  await second.forget();
  await until(() => first.status.pending.length === 0);
  server.isOffline = false;
  await first.sync();
  const { cache: later } = openCache(server, { local });
  await later.sync();
  assert.equal(await server.service.getSession(KEY), undefined);
  assert.equal(await later.getSession(KEY), undefined);
  await Promise.all([first, second, later].map((cache) => cache.close()));
});

const FORGET = () =>
  Promise.resolve(Response.json({ code: 'forget', detail: 'Signed out.' }, { status: 410 }));

it('the remote can order to forget, and a tab that opens later finds nothing', async () => {
  const server = new Server();
  const { cache, local } = openCache(server);
  await cache.createSession(KEY);
  await cache.sync();
  server.intercept = FORGET;
  await cache.getSession(KEY);
  const config = { reads: 'cache-only' } as const;
  await until(async () => {
    try {
      return (await cache.getSession({ ...KEY, config })) === undefined;
    } catch (error) {
      // A read that is under way when the tab forgets ends.
      if (isSessionError(error, 'aborted')) return false;
      throw error;
    }
  });
  await cache.close();
  server.intercept = undefined;
  server.isOffline = true;
  const { cache: later } = openCache(server, { local });
  assert.equal(await later.getSession({ ...KEY, config }), undefined);
  assert.deepEqual(await later.outbox.list(), []);
  await later.close();
});

it('a tab that opens later gets the order too, before it sends what waits', async () => {
  const server = new Server();
  server.isOffline = true;
  const { cache, local } = openCache(server);
  const session = await cache.createSession(KEY);
  await cache.appendEvent({ session, event: event('e1') });
  await cache.close();
  server.isOffline = false;
  server.intercept = FORGET;
  const { cache: later } = openCache(server, { local });
  const config = { reads: 'cache-only' } as const;
  await until(async () => (await later.getSession({ ...KEY, config })) === undefined);
  await until(() => later.status.pending.length === 0);
  server.intercept = undefined;
  await later.sync();
  assert.equal(await server.service.getSession(KEY), undefined);
  await later.close();
});

it('close settles what is under way, and later calls fail', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  server.intercept = () => new Promise(() => undefined);
  await cache.createSession({ ...KEY, sessionId: 'mine' });
  const read = assert.rejects(cache.getSession(KEY), hasCode('closed'));
  const sync = assert.rejects(cache.sync(), hasCode('closed'));
  await cache.close();
  await Promise.all([read, sync]);
  await assert.rejects(cache.sync(), hasCode('closed'));
  await assert.rejects(cache.forget(), hasCode('closed'));
  await assert.rejects(cache.outbox.list(), hasCode('closed'));
});

it('a cache refuses wrong options', () => {
  const remote = new InMemorySessionService();
  const wrong = [
    { remote },
    { remote, owner: '' },
    { owner: 'ada' },
    { remote, owner: 'ada', reads: 'never' },
    { remote, owner: 'ada', write: 'never' },
    { remote, owner: 'ada', maxSessions: 0 },
    { remote, owner: 'ada', readTimeoutMs: -1 },
    { remote, owner: 'ada', maxAge: 1.5 },
    { remote, owner: 'ada', maxBytes: 0 },
    { remote, owner: 'ada', local: {} },
  ];
  for (const options of wrong) {
    assert.throws(() => new CachedSessionService(options as never), hasCode('invalid_argument'));
  }
});
