// Changes of other devices, which the leading tab hears from the remote's feed.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import type { CachedSessionService } from '../../../../../js/service/cache/index.js';
import { nameOf } from '../../../../../js/stores/cache/records/cache_key.js';
import { openLocalStore } from '../../../../../js/stores/cache/tabs/open_local_store.js';
import { Tabs } from '../../../../../js/stores/cache/tabs/tabs.js';
import { liveSession, liveSessions } from '../../../../../js/ui/live/index.js';
import { event, hasCode, idsOf, KEY, openCache, Server, until, USER } from '../fixture.js';

const CACHE_ONLY = { reads: 'cache-only' } as const;

/** The ids of the events in the copy, without any request. */
async function copyIn(cache: CachedSessionService): Promise<string[] | undefined> {
  return idsOf(await cache.getSession({ ...KEY, config: CACHE_ONLY }));
}

const hasCopyOf = (cache: CachedSessionService, ...ids: string[]) =>
  until(async () => (await copyIn(cache))?.join() === ids.join());

/** Lets everything run that waits for no timer. */
async function settle(): Promise<void> {
  for (let rounds = 0; rounds < 20; rounds += 1) await new Promise(setImmediate);
}

it('what another device creates and appends is in copy, list and live stores without a call', async () => {
  const server = new Server();
  const { cache, local } = openCache(server);
  const list = liveSessions(cache, USER);
  const live = liveSession(cache, KEY);
  const stops = [list.subscribe(() => undefined), live.subscribe(() => undefined)];
  await until(() => list.getSnapshot().status === 'ready' && server.feedRequests === 1);
  await until(() => live.getSnapshot().status === 'missing');
  // It asks the remote for nothing.
  const { cache: observer } = openCache(server, { local, reads: 'cache-only' });
  const theirs = await server.service.createSession(KEY);
  await server.service.appendEvent({ session: theirs, event: event('e1') });
  await until(() => live.getSnapshot().events[0]?.id === 'e1');
  await until(() => list.getSnapshot().sessions[0]?.id === KEY.sessionId);
  await hasCopyOf(observer, 'e1');
  assert.deepEqual(
    (await observer.listSessions(USER)).sessions.map(({ id }) => id),
    [KEY.sessionId],
  );
  for (const stop of stops) stop();
  await Promise.all([cache.close(), observer.close()]);
});

it('the leading tab alone reads the feed, and another one after it is closed', async () => {
  const server = new Server();
  const theirs = await server.service.createSession(KEY);
  const { cache: first, local } = openCache(server);
  await first.getSession(KEY);
  await until(() => server.feedRequests === 1);
  const { cache: second } = openCache(server, { local });
  await second.getSession(KEY);
  await second.listSessions(USER);
  await server.service.appendEvent({ session: theirs, event: event('e1') });
  await hasCopyOf(second, 'e1');
  assert.equal(server.feedRequests, 1);
  await first.close();
  await until(() => server.feedRequests === 2);
  await server.service.appendEvent({ session: theirs, event: event('e2') });
  await hasCopyOf(second, 'e1', 'e2');
  assert.equal(server.feedRequests, 2);
  await second.close();
});

it('a tab follows what it reads if a tab that has read it before has crashed', async () => {
  const server = new Server();
  const { cache, local } = openCache(server);
  const crashed = new Tabs(openLocalStore(local, 'ada').channel);
  crashed.post('reads', nameOf(USER));
  await settle();
  const theirs = await server.service.createSession(KEY);
  await cache.getSession(KEY);
  await until(() => server.feedRequests === 1);
  await server.service.appendEvent({ session: theirs, event: event('e1') });
  await hasCopyOf(cache, 'e1');
  await cache.close();
});

it('a copy has what another device wrote within 3 seconds after the server is back', async (t) => {
  // The requests of the test before end: the mocked functions could not clear the time limits of its server.
  await settle();
  t.mock.timers.enable({ apis: ['Date', 'setTimeout'], now: 1_700_000_000_000 });
  // The longest pauses.
  t.mock.method(Math, 'random', () => 0.999);
  const server = new Server();
  const theirs = await server.service.createSession(KEY);
  const { cache } = openCache(server);
  await cache.getSession(KEY);
  await settle();
  t.mock.timers.tick(0);
  await settle();
  assert.equal(server.feedRequests, 1);
  server.isOffline = true;
  server.cutFeeds();
  await server.service.appendEvent({ session: theirs, event: event('e1') });
  const pass = async (): Promise<void> => {
    t.mock.timers.tick(100);
    await settle();
  };
  for (let time = 0; time < 65_000; time += 100) await pass();
  assert.deepEqual(await copyIn(cache), []);
  server.isOffline = false;
  for (let time = 0; time < 3000; time += 100) await pass();
  // The changes are here. To store them takes no more timers, but more rounds if the machine is busy.
  for (let rounds = 0; rounds < 500 && (await copyIn(cache))?.length === 0; rounds += 1) {
    await settle();
  }
  assert.deepEqual(await copyIn(cache), ['e1']);
  const closing = cache.close();
  t.mock.timers.tick(10_000);
  await closing;
});

/** Answers requests with status 401 until the login is renewed. */
function expireLogin(server: Server, isRefused: (path: string) => boolean = () => true) {
  const login = { refusedFeeds: 0, renew: () => void (server.intercept = undefined) };
  server.intercept = ({ url }) => {
    const { pathname } = new URL(url);
    if (!isRefused(pathname)) return Promise.resolve(undefined);
    if (pathname.endsWith('/users/ada/changes')) login.refusedFeeds += 1;
    return Promise.resolve(Response.json({ detail: 'Log in.' }, { status: 401 }));
  };
  return login;
}

it('a feed that an expired login has ended is read again after a login', async () => {
  const server = new Server();
  const theirs = await server.service.createSession(KEY);
  const { cache } = openCache(server);
  await cache.getSession(KEY);
  await server.service.appendEvent({ session: theirs, event: event('e1') });
  await hasCopyOf(cache, 'e1');
  assert.equal(server.feedRequests, 1);
  // No other request is made while the login is expired.
  const login = expireLogin(server);
  server.cutFeeds();
  await until(() => login.refusedFeeds === 2);
  login.renew();
  await cache.sync();
  await until(() => server.feedRequests === 4);
  await server.service.appendEvent({ session: theirs, event: event('e2') });
  await hasCopyOf(cache, 'e1', 'e2');
  await cache.close();
});

it('a login that has expired for the feed alone, while nothing else is asked, is told in all tabs', async () => {
  const server = new Server();
  await server.service.createSession(KEY);
  const { cache: first, local } = openCache(server);
  const { cache: second } = openCache(server, { local });
  await first.getSession(KEY);
  await second.getSession(KEY);
  await until(() => server.feedRequests === 1);
  const asked = server.requests.length;
  const login = expireLogin(server);
  server.cutFeeds();
  for (const { status } of [first, second]) assert.equal(status.isSignedOut, false);
  await until(() => first.status.isSignedOut && second.status.isSignedOut);
  // One other request tells it from a feed that is refused alone.
  assert.equal(server.requests.length - asked, login.refusedFeeds + 1);
  login.renew();
  await second.sync();
  await until(() => !first.status.isSignedOut && !second.status.isSignedOut);
  await Promise.all([first.close(), second.close()]);
});

for (const status of [401, 403]) {
  it(`a feed that is refused alone with status ${status} signs nobody out`, async () => {
    const server = new Server();
    await server.service.createSession(KEY);
    let refused = 0;
    server.intercept = ({ url }) => {
      if (!new URL(url).pathname.endsWith('/users/ada/changes')) return Promise.resolve(undefined);
      refused += 1;
      return Promise.resolve(Response.json({ detail: 'No.' }, { status }));
    };
    const { cache, local } = openCache(server);
    const { cache: other } = openCache(server, { local });
    const told: boolean[] = [];
    for (const each of [cache, other]) {
      each.watchStatus(({ isSignedOut }) => told.push(isSignedOut));
    }
    await cache.getSession(KEY);
    // Status 401 is answered with another token, once.
    const attempts = status === 401 ? 2 : 1;
    await until(() => refused === attempts);
    const probes = () => server.requests.filter((request) => request.endsWith('/state')).length;
    await until(() => probes() === 1);
    for (let turn = 0; turn < 3; turn += 1) await cache.sync();
    assert.deepEqual([refused, told.includes(true)], [attempts, false]);
    await Promise.all([cache.close(), other.close()]);
  });
}

it('a feed that was refused from the start is read after a login, and not asked for before', async () => {
  const server = new Server();
  const theirs = await server.service.createSession(KEY);
  const { cache: earlier, local } = openCache(server);
  await earlier.getSession(KEY);
  await earlier.close();
  const login = expireLogin(server);
  const { cache } = openCache(server, { local });
  await cache.getSession(KEY);
  await until(() => login.refusedFeeds === 2 && cache.status.isSignedOut);
  await assert.rejects(cache.sync(), hasCode('remote'));
  assert.equal(login.refusedFeeds, 2);
  login.renew();
  await cache.sync();
  await server.service.appendEvent({ session: theirs, event: event('e1') });
  await hasCopyOf(cache, 'e1');
  await cache.close();
});

it('a feed that the server never allows is not asked for with each request', async () => {
  const server = new Server();
  await server.service.createSession(KEY);
  const login = expireLogin(server, (path) => path.endsWith('/users/ada/changes'));
  const { cache } = openCache(server);
  await cache.getSession(KEY);
  await until(() => login.refusedFeeds === 2);
  for (let turn = 0; turn < 3; turn += 1) await cache.sync();
  await settle();
  assert.equal(login.refusedFeeds, 2);
  await cache.close();
});

it('a state that another device has changed with an event is here, also if its session is gone when it is asked for', async () => {
  const server = new Server();
  const theirs = await server.service.createSession(KEY);
  const { cache, local } = openCache(server);
  await cache.getSession(KEY);
  await cache.getUserState(USER);
  await until(() => server.feedRequests === 1);
  let isDeleted = false;
  server.intercept = async (request) => {
    // The request for what the session has changed arrives after the deletion.
    if (new URL(request.url).pathname.includes('/sessions')) await until(() => isDeleted);
    return undefined;
  };
  const asked = server.requests.length;
  await server.service.appendEvent({ session: theirs, event: event('e1', { 'user:a': 1 }) });
  await until(() => server.requests.length > asked);
  await server.service.deleteSession(KEY);
  isDeleted = true;
  const { cache: observer } = openCache(server, { local, reads: 'cache-only' });
  await until(async () => (await observer.getUserState(USER)).a === 1);
  await Promise.all([cache.close(), observer.close()]);
});
