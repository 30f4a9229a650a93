// Values of users and apps: those that are written while a fetch is under way, and the order in which they are sent.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { event, KEY, openCache, Server, until, USER } from '../fixture.js';
import { COPIES, Gate, HeldLocal, type LocalRequest, OWN, RECORDS } from './held_local.js';

async function setName(server: Server, name: string): Promise<void> {
  await server.service.updateState({ ...USER, stateDelta: { 'user:name': name } });
}

/** A cache over a local storage that a test may hold. It sends nothing, and knows the owner and the user's name. */
async function openHeld(server: Server) {
  await setName(server, 'theirs');
  const local = await HeldLocal.open();
  const { cache } = openCache(server, { local: local.tab(), reads: 'network-first' });
  await cache.getUserState(USER);
  server.intercept = ({ method }) =>
    method === 'GET' ? Promise.resolve(undefined) : Promise.reject(new TypeError('fetch failed'));
  return { local, cache };
}

const isRecord = ({ verb, appName }: LocalRequest): boolean =>
  verb === 'update' && appName === RECORDS;

it('a fetch of a state keeps a value that is not noted yet', async () => {
  const server = new Server();
  const { local, cache } = await openHeld(server);
  const gate = local.holdFirst(isRecord);
  const updated = cache.updateState({ ...USER, stateDelta: { 'user:name': 'ours' } });
  await until(() => gate.isReached);
  assert.deepEqual(await cache.getUserState(USER), { name: 'ours' });
  gate.open();
  await updated;
  assert.deepEqual(await cache.getUserState(USER), { name: 'ours' });
  await cache.close();
});

it('a fetch of a state keeps a value that a function computes', async () => {
  const server = new Server();
  const { local, cache } = await openHeld(server);
  const gate = local.holdFirst(isRecord);
  const stateDelta = ({ name }: { name?: unknown }) => ({ 'user:name': `${String(name)} ours` });
  const updated = cache.updateState({ ...USER, stateDelta });
  await until(() => gate.isReached);
  const { name } = await cache.getUserState(USER);
  assert.match(String(name), /ours$/);
  gate.open();
  await updated;
  await cache.close();
});

it('a fetch of a session keeps a value that is written before the copy changes', async () => {
  const server = new Server();
  const theirs = await server.service.createSession(KEY);
  const { local, cache } = await openHeld(server);
  await cache.getSession(KEY);
  await server.service.appendEvent({
    session: theirs,
    event: event('e1', { 'user:name': 'later' }),
  });
  const gate = local.holdFirst(isRecord);
  const read = cache.getSession(KEY);
  await until(() => gate.isReached);
  const updated = cache.updateState({ ...USER, stateDelta: { 'user:name': 'ours' } });
  const isWritten = ({ verb, appName }: LocalRequest): boolean =>
    verb === 'update' && appName === COPIES;
  await until(() => local.requests.some(isWritten));
  gate.open();
  await updated;
  assert.equal((await read)?.state['user:name'], 'ours');
  assert.equal((await cache.getSession(KEY))?.state['user:name'], 'ours');
  await cache.close();
});

it('the first fetch of a session keeps a value that is written before the copy is made', async () => {
  const server = new Server();
  await server.service.createSession(KEY);
  const { local, cache } = await openHeld(server);
  const others = { ...KEY, userId: 'eva' };
  await server.service.createSession({ ...others, state: { 'app:motd': 'theirs' } });
  // The user is new, so it is noted before the copy is made.
  const gate = local.holdFirst(({ verb, appName }) => verb === 'update' && appName === OWN);
  const read = cache.getSession(others);
  await until(() => gate.isReached);
  await cache.updateState({ appName: 'shop', stateDelta: { 'app:motd': 'ours' } });
  gate.open();
  assert.equal((await read)?.state['app:motd'], 'ours');
  await cache.close();
});

it('a refresh of the unsent changes keeps the keys that are written meanwhile', async () => {
  const server = new Server();
  const { local, cache } = await openHeld(server);
  await cache.updateState({ ...USER, stateDelta: { 'user:other': 1 } });
  await until(() => !cache.status.online && !cache.status.isSending);
  const gate = new Gate();
  local.after = async ({ verb, appName, userId }) => {
    const isRefresh = verb === 'sharedState' && appName === RECORDS && userId === 'ada';
    if (isRefresh && !gate.isReached) await gate.pass();
  };
  const listed = cache.outbox.list();
  await until(() => gate.isReached);
  await cache.updateState({ ...USER, stateDelta: { 'user:name': 'ours' } });
  gate.open();
  await listed;
  assert.equal((await cache.getUserState(USER)).name, 'ours');
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
    return { id: 's1', ...USER, state: { 'app:rate': rate }, events: [], lastUpdateTime };
  };
  // The state changes between the list and the read of the session.
  answerAsApiServer(server, (isList) => (isList ? [sessionWith(1)] : sessionWith(2)));
  const { cache } = openCache(server, { reads: 'network-first' });
  await cache.listSessions(USER);
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
