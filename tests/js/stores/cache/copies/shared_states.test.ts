// Values of users and apps: those that are written while a fetch is under way, and the order in which they are sent.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { event, KEY, openCache, Server, until, USER } from '../fixture.js';
import { PROTOCOL_HEADER, PROTOCOL_VERSION } from '../../../../../js/stores/http/protocol.js';
import { Gate } from '../held_store.js';

it('a fetch of a state that began before a value arrived does not take it back', async () => {
  const server = new Server();
  await server.service.updateState({ ...USER, stateDelta: { 'user:name': 'theirs' } });
  const { cache } = openCache(server);
  assert.deepEqual(await cache.getUserState(USER), { name: 'theirs' });
  const gate = new Gate();
  const late = Response.json(
    { name: 'theirs' },
    { headers: { [PROTOCOL_HEADER]: PROTOCOL_VERSION } },
  );
  server.intercept = async ({ method, url }) => {
    if (method !== 'GET' || !url.endsWith('/state') || gate.isReached) return undefined;
    await gate.pass();
    return late;
  };
  const read = cache.getUserState(USER);
  await until(() => gate.isReached);
  await cache.updateState({ ...USER, stateDelta: { 'user:name': 'ours' } });
  await until(() => cache.status.pending.length === 0);
  gate.open();
  await read;
  await new Promise(setImmediate);
  assert.deepEqual(await cache.getUserState(USER), { name: 'ours' });
  await cache.close();
});

it('a value that equals what is shown is still written', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  await cache.updateState({ ...USER, stateDelta: { 'user:name': 'ours' } });
  await cache.sync();
  await server.service.updateState({ ...USER, stateDelta: { 'user:name': 'theirs' } });
  server.isOffline = true;
  await cache.updateState({ ...USER, stateDelta: { 'user:name': 'ours' } });
  server.isOffline = false;
  await cache.sync();
  assert.deepEqual(await server.service.getUserState(USER), { name: 'ours' });
  await cache.close();
});

it('values of one key are sent in the order of their writes, whatever sessions they belong to', async () => {
  const server = new Server();
  const { cache } = openCache(server);
  const session = await cache.createSession(KEY);
  const other = await cache.createSession({ ...KEY, sessionId: 's2' });
  await cache.sync();
  server.isOffline = true;
  const write = (to: typeof session, count: number) =>
    cache.appendEvent({ session: to, event: event(`e${count}`, { 'app:count': count }) });
  await write(session, 1);
  await cache.updateState({ appName: USER.appName, stateDelta: { 'app:count': 2 } });
  await write(other, 3);
  await until(() => !cache.status.isSending);
  server.isOffline = false;
  // Earlier requests take longer.
  let pause = 90;
  server.intercept = async ({ method }) => {
    if (method !== 'GET') await new Promise((resolve) => setTimeout(resolve, (pause -= 30)));
    return undefined;
  };
  await cache.sync();
  assert.deepEqual(await server.service.getAppState({ appName: USER.appName }), { count: 3 });
  await cache.close();
});

/** Makes the server answer as `adk api_server` does. */
function answerAsApiServer(server: Server, answer: (isList: boolean) => unknown): void {
  server.isHandler = false;
  server.intercept = ({ url }) => {
    const { pathname } = new URL(url);
    const isVersion = pathname.endsWith('/version');
    const body = isVersion ? { language: 'python' } : answer(pathname.endsWith('/sessions'));
    return Promise.resolve(Response.json(body));
  };
}

it('a list over `adk api_server` has the states of the user and the app, also offline', async () => {
  const server = new Server();
  const state = { topic: 'tea', 'user:name': 'Ada', 'app:currency': 'EUR' };
  const listed = ['s1', '42'].map((id) => ({ id, ...USER, state, events: [], lastUpdateTime: 1 }));
  answerAsApiServer(server, () => listed);
  const { cache } = openCache(server);
  for (const isOffline of [false, true]) {
    server.isOffline = isOffline;
    const { sessions } = await cache.listSessions(USER);
    assert.deepEqual(
      sessions.map(({ id, state }) => [id, state]),
      [
        ['42', state],
        ['s1', state],
      ],
    );
  }
  await cache.close();
});

it('a list over `adk api_server` keeps the shared values that its sessions have brought since', async () => {
  const server = new Server();
  let lastUpdateTime = 1;
  const sessionWith = (rate: number) => {
    return {
      id: 's1',
      ...USER,
      state: { 'app:rate': rate },
      events: [event('e1')],
      lastUpdateTime,
    };
  };
  // The state changes between the list and the read of the session.
  answerAsApiServer(server, (isList) => (isList ? [sessionWith(1)] : sessionWith(2)));
  const { cache } = openCache(server, { reads: 'network-first' });
  await cache.getSession(KEY);
  lastUpdateTime = 2;
  const { sessions } = await cache.listSessions(USER);
  assert.deepEqual(
    sessions.map(({ state }) => state),
    [{ 'app:rate': 2 }],
  );
  await cache.close();
});

it('a list without states takes nothing from the states of users and apps', async () => {
  const server = new Server();
  const state = { 'user:name': 'Ada', 'app:currency': 'EUR' };
  const session = { id: 's1', ...USER, events: [], lastUpdateTime: 1 };
  // As older versions of the server list sessions.
  answerAsApiServer(server, (isList) =>
    isList ? [{ ...session, state: {} }] : { ...session, state },
  );
  const { cache } = openCache(server, { reads: 'network-first' });
  const key = { ...USER, sessionId: 's1' };
  assert.deepEqual((await cache.getSession(key))?.state, state);
  await cache.listSessions(USER);
  server.isOffline = true;
  assert.deepEqual((await cache.getSession(key))?.state, state);
  await cache.close();
});
