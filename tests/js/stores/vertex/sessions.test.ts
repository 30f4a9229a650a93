// Sessions: whose they are, what they are called, what they show of users and apps, and how many requests they take.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';

import { LlmAgent, Runner } from '@google/adk';

import { asAdkService } from '../../../../js/service/adk/index.js';
import { exportSession, importSession } from '../../../../js/service/files/index.js';
import { createEvent, InMemorySessionService, State } from '../../../../js/index.js';
import { getSessionServiceFromUri } from '../../../../js/service/uri/index.js';
import { VertexAiSessionService } from '../../../../js/service/vertex/index.js';
import {
  ENGINE,
  LOCATION,
  PROJECT_ID,
  startVertexServer,
  type VertexServer,
  type VertexServerOptions,
} from '../../../vertex_server/server.js';
import { KEY, serviceOn } from './service.js';

const { appName, userId } = KEY;

describe('Sessions at Vertex AI', () => {
  let server: VertexServer;
  let service: VertexAiSessionService;
  const open = async (options: VertexServerOptions): Promise<void> => {
    server = await startVertexServer(options);
    service = serviceOn(server);
  };
  beforeEach(() => open({ pageSize: 2 }));
  afterEach(async () => {
    await service.close();
    await server.end();
  });
  const reopen = async (options: VertexServerOptions): Promise<void> => {
    await server.end();
    await open(options);
  };

  it('expire as createSession and updateSession say', async () => {
    const expireTime = '2030-01-31T12:00:00Z';
    const expiry = () => String(server.session(KEY.sessionId).expireTime);
    await service.createSession({ ...KEY, expireTime });
    assert.equal(Date.parse(expiry()), Date.parse(expireTime));
    const before = Date.now();
    await service.updateSession(KEY, { ttl: '172800s', title: 'Tea' });
    const rest = Date.parse(expiry()) - before;
    assert.ok(rest > 172_000_000 && rest < 173_000_000, String(rest));
    assert.equal((await service.getSession(KEY))?.title, 'Tea');
  });

  it('are deleted although the server shows their labels in another order each time', async (t) => {
    await service.createSession({ ...KEY, labels: { color: 'green', taste: 'mild' } });
    const send = globalThis.fetch;
    let responses = 0;
    t.mock.method(globalThis, 'fetch', async (...request: Parameters<typeof fetch>) => {
      const response = await send(...request);
      const labels = ['{"color":"green","taste":"mild"}', '{"taste":"mild","color":"green"}'];
      responses += 1;
      const text = (await response.text()).replace(
        /"labels":\s*\{[^}]*\}/g,
        `"labels":${labels[responses % 2]}`,
      );
      return new Response(text, response);
    });
    const labels = { color: 'green' };
    assert.equal(await service.deleteSessions({ appName, userId, labels }), 1);
  });

  it('show the wanted keys of all scopes in a list', async () => {
    await service.createSession({ ...KEY, state: { own: 1, 'user:u': 2, 'app:a': 3, other: 4 } });
    const stateKeys = ['own', 'user:u', 'app:a'];
    const { sessions } = await service.listSessions({ appName, userId, stateKeys });
    assert.deepEqual(sessions[0]?.state, { own: 1, 'user:u': 2, 'app:a': 3 });
  });

  const badExpiries = [
    { ttl: '86399s' },
    { ttl: '86400' },
    { ttl: 86_400 },
    { ttl: 'never' },
    { expireTime: '2030-01-31' },
    { expireTime: '2030-13-31T12:00:00Z' },
    { expireTime: 5 },
    { ttl: '86400s', expireTime: '2030-01-31T12:00:00Z' },
  ] as { ttl?: string; expireTime?: string }[];
  for (const expiry of badExpiries) {
    it(`do not take the expiry ${JSON.stringify(expiry)}`, async () => {
      const invalid = { code: 'invalid_argument' };
      await assert.rejects(service.createSession({ ...KEY, ...expiry }), invalid);
      await assert.rejects(service.updateSession(KEY, expiry), invalid);
      const writes = server.calls.filter((call) => call !== 'sessions.get');
      assert.deepEqual(writes, []);
    });
  }

  it('get the title of the first user message with autoTitle', async () => {
    const titled = serviceOn(server, { autoTitle: true });
    const session = await titled.createSession(KEY);
    const says = (text: string) =>
      createEvent({ author: 'user', invocationId: 'i', content: { parts: [{ text }] } });
    server.forget();
    await titled.appendEvent({ session, event: says('Which tea?') });
    assert.equal(server.calls.filter((call) => call === 'sessions.patch').length, 1);
    await titled.appendEvent({ session, event: says('And cake?') });
    assert.equal(server.calls.filter((call) => call === 'sessions.patch').length, 1);
    assert.equal((await titled.getSession(KEY))?.title, 'Which tea?');
    await titled.close();
  });

  it('take few requests', async () => {
    const session = await service.createSession(KEY);
    assert.deepEqual(server.calls, ['sessions.get', 'sessions.create', 'sessions.get']);
    server.forget();
    await service.appendEvent({ session, event: createEvent({ author: 'user' }) });
    assert.deepEqual(server.calls.toSorted(), [
      'events.list',
      'sessions.appendEvent',
      'sessions.get',
    ]);
    server.forget();
    await service.getSession(KEY);
    assert.deepEqual(server.calls.toSorted(), ['events.list', 'sessions.get']);
  });

  it('have times that grow with each change, and the same in a list', async () => {
    const session = await service.createSession(KEY);
    await service.appendEvent({ session, event: createEvent({ author: 'user' }) });
    const read = await service.getSession(KEY);
    const { sessions } = await service.listSessions({ appName });
    assert.equal(sessions[0]?.lastUpdateTime, read?.lastUpdateTime);
    assert.ok(Number.isInteger(read?.lastUpdateTime));
  });

  it('get generated ids that begin with a letter', async () => {
    for (let number = 0; number < 20; number += 1) {
      const { id } = await service.createSession({ appName, userId });
      assert.match(
        id,
        /^[a-f][0-9a-f]{7}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      );
    }
  });

  for (const sessionId of ['S1', 'a_b', '-a', 'a-', 'a/b', '../x', 'a'.repeat(64), 'ä', 'a:b']) {
    it(`cannot have the id ${sessionId.slice(0, 10)}, for which no request is sent`, async () => {
      const key = { ...KEY, sessionId };
      await assert.rejects(service.createSession(key), {
        code: 'invalid_argument',
        key: 'sessionId',
      });
      assert.equal(await service.getSession(key), undefined);
      await service.deleteSession(key);
      await assert.rejects(service.updateState({ ...key, stateDelta: { a: 1 } }), {
        code: 'not_found',
      });
      assert.deepEqual(server.calls, []);
    });
  }

  it('of another user are invisible and protected, and their ids are taken', async () => {
    const session = await service.createSession(KEY);
    const theirs = { ...KEY, userId: 'eve' };
    assert.equal(await service.getSession(theirs), undefined);
    await service.deleteSession(theirs);
    await assert.rejects(service.updateState({ ...theirs, stateDelta: { a: 1 } }), {
      code: 'not_found',
    });
    for (const create of [service.createSession(theirs), service.getOrCreateSession(theirs)]) {
      await assert.rejects(create, { code: 'already_exists' });
    }
    assert.deepEqual((await service.getSession(KEY))?.state, session.state);
  });

  it('are created once by concurrent getOrCreateSession calls', async () => {
    const others = [service, serviceOn(server), serviceOn(server)];
    const sessions = await Promise.all(
      others.map((each, number) => each.getOrCreateSession({ ...KEY, state: { number } })),
    );
    const states = sessions.map(({ state }) => state);
    for (const state of states) assert.deepEqual(state, states[0]);
  });

  it('are awaited while another program creates them', async () => {
    await reopen({ operations: 3 });
    const other = serviceOn(server);
    const sessions = await Promise.all([
      service.getOrCreateSession({ ...KEY, state: { a: 1 } }),
      other.getOrCreateSession({ ...KEY, state: { b: 1 } }),
    ]);
    assert.deepEqual(sessions[0].state, sessions[1].state);
  });

  it('are listed for one user of any name', async () => {
    for (const [number, user] of ['ada', 'a"b\\', 'a" OR user_id="ada', '*', 'a*'].entries()) {
      await service.createSession({ appName, userId: user, sessionId: `s${number}` });
      const { sessions } = await service.listSessions({ appName, userId: user });
      assert.deepEqual(
        sessions.map(({ id, userId }) => [id, userId]),
        [[`s${number}`, user]],
      );
    }
    assert.equal((await service.listSessions({ appName })).totalItems, 5);
    const { totalItems } = await service.listSessions({ appName, limit: 2, withTotal: false });
    assert.equal(totalItems, undefined);
  });

  it('of a user are all deleted, on every page', async () => {
    for (let number = 0; number < 5; number += 1) {
      await service.createSession({ appName, userId, sessionId: `s${number}` });
    }
    await service.createSession({ appName, userId: 'eve', sessionId: 'other' });
    await service.deleteUser({ appName, userId });
    const { sessions } = await service.listSessions({ appName });
    assert.deepEqual(
      sessions.map(({ id }) => id),
      ['other'],
    );
  });

  it("show the server's user and app state from the beginning", async () => {
    await reopen({ scopes: 'shared' });
    const state = { 'user:name': 'Ada', 'app:motd': 'hi', own: 1, 'temp:t': 1 };
    await service.createSession({ ...KEY, state });
    const second = await service.createSession({ ...KEY, sessionId: 's2', state: { own: 2 } });
    assert.deepEqual(second.state, { own: 2, 'user:name': 'Ada', 'app:motd': 'hi' });
    const third = await service.createSession({ ...KEY, userId: 'eve', sessionId: 's3' });
    assert.deepEqual(third.state, { 'app:motd': 'hi' });
    assert.deepEqual(await service.getUserState({ appName, userId }), { name: 'Ada' });
    assert.deepEqual(await service.getUserState({ appName, userId: 'eve' }), {});
    assert.deepEqual(await service.getUserState({ appName, userId: 'nobody' }), {});
    assert.deepEqual(await service.getAppState({ appName }), { motd: 'hi' });
    const { sessions } = await service.listSessions({ appName, userId });
    assert.deepEqual(sessions.find(({ id }) => id === 's2')?.state, second.state);
  });

  it('show keys of users and apps in themselves alone if the server does so', async () => {
    await reopen({ scopes: 'session' });
    await service.createSession({ ...KEY, state: { 'user:name': 'Ada', own: 1 } });
    assert.deepEqual((await service.getSession(KEY))?.state, { 'user:name': 'Ada', own: 1 });
    const second = await service.createSession({ ...KEY, sessionId: 's2' });
    assert.deepEqual(second.state, {});
  });

  it('lose a removed key, and other sessions keep it', async () => {
    const session = await service.createSession({ ...KEY, state: { a: 1, 'user:b': 2, c: 3 } });
    const event = createEvent({ author: 'agent' });
    event.actions.stateDelta = { a: State.REMOVED, 'user:b': undefined };
    await service.appendEvent({ session, event });
    assert.deepEqual(session.state, { c: 3 });
    assert.deepEqual((await service.getSession(KEY))?.state, { c: 3 });
    const { stateDelta } = server.events('s1')[0]?.actions as { stateDelta?: unknown };
    assert.deepEqual(stateDelta, { a: null, 'user:b': null });
  });

  it('lose a key that an append sets to null, as the handle does', async () => {
    const session = await service.createSession({ ...KEY, state: { a: 1, c: 3 } });
    Object.assign(session.state, { 'temp:t': null });
    const event = createEvent({ author: 'agent' });
    event.actions.stateDelta = { a: null, b: null };
    await service.appendEvent({ session, event });
    assert.deepEqual(session.state, { c: 3, 'temp:t': null });
    assert.deepEqual(event.actions.stateDelta, { a: null, b: null });
    assert.deepEqual((await service.getSession(KEY))?.state, { c: 3 });
  });

  it('expire, and lose a key that an append sets to null, through a service that a URI names too', async () => {
    const uri = `vertexai://projects/${PROJECT_ID}/locations/${LOCATION}/reasoningEngines/${ENGINE}`;
    const options = { accessToken: 'a-token', baseUrl: server.url };
    await using named = getSessionServiceFromUri(uri, options as object);
    const expireTime = '2030-01-31T12:00:00Z';
    const request = { ...KEY, state: { a: 1 }, expireTime };
    const session = await named.createSession(request);
    const expires = String(server.session(KEY.sessionId).expireTime);
    assert.equal(Date.parse(expires), Date.parse(expireTime));
    const event = createEvent({ author: 'agent' });
    event.actions.stateDelta = { a: null };
    await named.appendEvents({ session, events: [event] });
    assert.deepEqual(session.state, {});
  });

  it('keep an append that is stored, also if the state of its handle has a getter that throws', async () => {
    const session = await service.createSession(KEY);
    const thrower = (): never => {
      throw new Error('a getter threw');
    };
    Object.defineProperty(session.state, 'own', { get: thrower, enumerable: true });
    const event = createEvent({ author: 'agent' });
    event.actions.stateDelta = { a: null };
    await service.appendEvent({ session, event });
    assert.equal((await service.getSession(KEY))?.events.length, 1);
  });

  it('never hold temp: keys', async () => {
    const session = await service.createSession({ ...KEY, state: { 'temp:a': 1 } });
    const event = createEvent({ author: 'agent' });
    event.actions.stateDelta = { 'temp:b': 2, kept: 3 };
    await service.appendEvent({ session, event });
    assert.deepEqual(session.state, { 'temp:b': 2, kept: 3 });
    assert.doesNotMatch(JSON.stringify(server.requests), /temp:/);
  });

  const apart: [title: string, call: () => Promise<unknown>, wayOut: RegExp][] = [
    ['a user is not changed', () => service.updateState({ appName, userId, stateDelta: { 'user:a': 1 } }), /sessionId/],
    ['an app is not changed', () => service.updateState({ appName, stateDelta: { 'app:a': 1 } }), /sessionId/],
    ['a user is not deleted', () => service.deleteUserState({ appName, userId }), /remove their keys/],
    ['an app is not deleted', () => service.deleteAppState({ appName }), /remove their keys/],
  ]; // prettier-ignore
  for (const [title, call, wayOut] of apart) {
    it(`are required to change state: ${title} alone is refused`, async () => {
      await assert.rejects(call, { code: 'unsupported', message: wayOut });
      assert.deepEqual(server.calls, []);
    });
  }

  it('work with a Runner of @google/adk', async () => {
    const sessionService = asAdkService(serviceOn(server));
    await sessionService.createSession(KEY);
    const agent = new LlmAgent({
      name: 'guide',
      beforeAgentCallback: ({ state }) => {
        state.set('topic', 'tea');
        return { role: 'model', parts: [{ text: 'hello' }] };
      },
    });
    const runner = new Runner({ appName, agent, sessionService });
    const newMessage = { role: 'user', parts: [{ text: 'hi' }] };
    for await (const event of runner.runAsync({ userId, sessionId: 's1', newMessage })) void event;
    const session = await service.getSession(KEY);
    assert.deepEqual(session?.state, { topic: 'tea' });
    assert.deepEqual(
      session.events.map(({ author }) => author),
      ['user', 'guide'],
    );
  });

  it('are imported from session files, and exported to them', async () => {
    const memory = new InMemorySessionService();
    const session = await memory.createSession({ ...KEY, state: { topic: 'tea' } });
    for (let number = 0; number < 5; number += 1) {
      const event = createEvent({ author: 'agent', timestamp: 1000 * number });
      event.actions.stateDelta = { number, 'user:n': number };
      await memory.appendEvent({ session, event });
    }
    await importSession(service, await exportSession(memory, KEY));
    const back = await importSession(
      new InMemorySessionService(),
      await exportSession(service, KEY),
    );
    assert.deepEqual(back.events, session.events);
    assert.deepEqual(back.state, session.state);
  });

  it('are not available after close', async () => {
    await service.close();
    await assert.rejects(service.getSession(KEY), { code: 'closed' });
  });
});
