// Google's own clients on the tests' server: their requests, and that they accept the responses. This shows that the
// server behaves like the real one.

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';

import { createEvent } from '@google/adk';

import { type VertexServer, startVertexServer } from '../../vertex_server/server.js';
import { adkVertexService } from './adk_vertex.js';
import { type PythonSessions, startPythonSessions } from '../python.js';
import { KEY, PYTHON_KEY, pythonEvent, firstText } from '../shared_session.js';

const SESSIONS = '/v1beta1/projects/my-project/locations/us-central1/reasoningEngines/123/sessions';

describe('The VertexAiSessionService of google-adk for Python', { timeout: 120_000 }, () => {
  let python: PythonSessions;
  let server: VertexServer;
  before(() => {
    python = startPythonSessions();
  });
  after(() => python.end());
  beforeEach(async () => {
    server = await startVertexServer({ pageSize: 2 });
    await python.open(server.url);
  });
  afterEach(() => server.end());

  it('creates a session, then reads it', async () => {
    const state = { topic: 'tea', 'user:n': 1 };
    const created = await python.ask('create', { ...PYTHON_KEY, state });
    assert.deepEqual(created.state, state);
    assert.deepEqual(server.calls, ['sessions.create', 'sessions.get']);
    const [create] = server.requests;
    assert.equal(create?.path, SESSIONS);
    assert.deepEqual(create.query, { sessionId: 's1' });
    assert.deepEqual(create.body, { userId: 'ada', sessionState: state });
    assert.equal(create.headers.authorization, 'Bearer a-token');
  });

  it('waits for the end of an operation', async () => {
    await server.end();
    server = await startVertexServer({ operations: 1 });
    await python.open(server.url);
    const created = await python.ask('create', PYTHON_KEY);
    assert.equal(created.id, 's1');
    assert.deepEqual(server.calls.slice(1), ['operations.get', 'operations.get', 'sessions.get']);
  });

  it('appends an event by its fields and as rawEvent', async () => {
    await python.ask('create', PYTHON_KEY);
    server.forget();
    const event = {
      ...pythonEvent('one', { n: 1, 'temp:t': 2 }, 1700000000.123456),
      id: 'e1',
      branch: 'a.b',
      usage_metadata: { prompt_token_count: 3 },
    };
    const appended = await python.ask('append', event);
    assert.equal(appended.error, undefined);
    const [append] = server.requests;
    assert.equal(append?.path, `${SESSIONS}/s1:appendEvent`);
    assert.deepEqual(append.body, {
      author: 'agent',
      invocationId: 'i',
      timestamp: '2023-11-14T22:13:20.123456+00:00',
      content: { role: 'model', parts: [{ text: 'one' }] },
      actions: { state_delta: { n: 1 }, artifact_delta: {}, requested_auth_configs: {} },
      eventMetadata: {
        branch: 'a.b',
        custom_metadata: { _usage_metadata: { prompt_token_count: 3 } },
      },
      rawEvent: {
        id: 'e1',
        author: 'agent',
        invocationId: 'i',
        timestamp: 1700000000.123456,
        content: { role: 'model', parts: [{ text: 'one' }] },
        actions: {
          stateDelta: { n: 1 },
          artifactDelta: {},
          requestedAuthConfigs: {},
          requestedToolConfirmations: {},
        },
        branch: 'a.b',
        usageMetadata: { promptTokenCount: 3 },
        nodeInfo: { path: '' },
      },
    });
  });

  it('reads its appended events, page by page', async () => {
    await python.ask('create', { ...PYTHON_KEY, state: { n: 0 } });
    const texts = ['one', 'two', 'three', 'four', 'five'];
    for (const [index, text] of texts.entries()) {
      await python.ask('append', pythonEvent(text, { n: index }, 1700000000 + index));
    }
    server.forget();
    const got = await python.ask('get', PYTHON_KEY);
    assert.deepEqual(got.events.map(firstText), texts);
    assert.deepEqual(got.state, { n: 4 });
    const pages = server.requests.filter(({ call }) => call === 'events.list');
    assert.deepEqual(
      pages.map(({ query }) => 'pageToken' in query),
      [false, true, true],
    );

    const config = { after_timestamp: 1700000003 };
    const later = await python.ask('get', { ...PYTHON_KEY, config });
    assert.deepEqual(later.events.map(firstText), ['four', 'five']);
    const asked = server.requests.at(-1)?.query.filter;
    assert.equal(asked, 'timestamp>="2023-11-14T22:13:23+00:00"');
  });

  it("lists a user's sessions and deletes one", async () => {
    for (const [id, user] of [
      ['s1', 'a"b'],
      ['s2', 'a"b'],
      ['s3', 'a"b'],
      ['s4', 'eve'],
    ]) {
      await python.ask('create', { ...PYTHON_KEY, user_id: user, session_id: id });
    }
    const owner = { app_name: 'shop', user_id: 'a"b' };
    const idsOf = async (given: object) => (await python.list(given)).map(({ id }) => id).sort();
    assert.deepEqual(await idsOf(owner), ['s1', 's2', 's3']);
    assert.equal(server.requests.at(-1)?.query.filter, String.raw`user_id="a\"b"`);
    assert.deepEqual(await idsOf({ app_name: 'shop' }), ['s1', 's2', 's3', 's4']);

    await python.ask('delete', { ...owner, session_id: 's1' });
    assert.equal(server.calls.at(-1), 'sessions.delete');
    assert.equal(await python.ask('get', { ...owner, session_id: 's1' }), null);
    const others = await python.ask('get', { ...owner, session_id: 's4' });
    assert.equal(others.error, 'ValueError');
  });

  it('gets errors for a used id, an invalid id and invalid credentials', async () => {
    await python.ask('create', PYTHON_KEY);
    const errors = [
      await python.ask('create', PYTHON_KEY),
      await python.ask('create', { ...PYTHON_KEY, session_id: 'Not_Good' }),
    ];
    await server.end();
    server = await startVertexServer({ credentials: ['another'] });
    await python.open(server.url);
    errors.push(await python.ask('get', PYTHON_KEY));
    assert.deepEqual(
      errors.map(({ error }) => error),
      ['ClientError', 'ClientError', 'ClientError'],
    );
  });

  it('uses a key without a project in express mode', async () => {
    await python.open(server.url.replace('http://', 'http://a-key@'));
    await python.ask('create', PYTHON_KEY);
    await python.ask('append', pythonEvent('one'));
    const got = await python.ask('get', PYTHON_KEY);
    assert.deepEqual(got.events.map(firstText), ['one']);
    const [create] = server.requests;
    assert.equal(create?.path, '/v1beta1/reasoningEngines/123/sessions');
    assert.equal(create.headers['x-goog-api-key'], 'a-key');
    assert.equal(create.headers.authorization, undefined);
  });
});

describe('The VertexAiSessionService of @google/adk', { timeout: 120_000 }, () => {
  let server: VertexServer;
  beforeEach(async () => {
    // It names every action, also those that the API does not have.
    server = await startVertexServer({ unknownNames: 'ignored' });
  });
  afterEach(() => server.end());

  it('creates, appends, gets, lists and deletes', async () => {
    const service = adkVertexService(server.url);
    const state = { topic: 'tea', 'user:n': 1 };
    const session = await service.createSession({ ...KEY, state });
    assert.deepEqual(session.state, state);
    const content = { role: 'model', parts: [{ text: 'one' }] };
    const event = createEvent({ author: 'agent', invocationId: 'i', content });
    event.actions.stateDelta = { n: 1 };
    await service.appendEvent({ session, event });

    const got = await service.getSession(KEY);
    assert.deepEqual(got?.state, { ...state, n: 1 });
    assert.deepEqual(got.events.map(firstText), ['one']);
    assert.equal(got.events[0]?.timestamp, event.timestamp);
    const { sessions } = await service.listSessions({ appName: 'shop', userId: 'ada' });
    assert.deepEqual(
      sessions.map(({ id }) => id),
      ['s1'],
    );
    await service.deleteSession(KEY);
    assert.equal(await service.getSession(KEY), undefined);
    assert.deepEqual(server.calls, [
      'sessions.create',
      'sessions.appendEvent',
      ...['sessions.get', 'events.list', 'sessions.list'],
      ...['sessions.get', 'sessions.delete', 'sessions.get', 'events.list'],
    ]);
    const rawEvent = JSON.parse(JSON.stringify(event)) as typeof event;
    assert.deepEqual(server.requests[1]?.body, {
      author: 'agent',
      invocationId: 'i',
      timestamp: new Date(event.timestamp).toISOString(),
      content,
      actions: rawEvent.actions,
      eventMetadata: { longRunningToolIds: [] },
      rawEvent,
    });
  });
});
