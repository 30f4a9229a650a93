// One agent engine, three services: this package's, that of google-adk for Python, and that of @google/adk.

import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';

import { createEvent as createAdkEvent } from '@google/adk';

import { type Event, State, type Session, createEvent } from '../../../js/index.js';
import type { VertexServerOptions } from '../../vertex_server/server.js';
import { adkSay } from './adk_vertex.js';
import { type AgentEngine, startAgentEngine } from './agent_engine.js';
import { type PythonSessions, startPythonSessions } from '../python.js';
import { KEY, PYTHON_KEY, pythonEvent, userEvent, firstText } from '../shared_session.js';

let python: PythonSessions;
before(() => {
  python = startPythonSessions();
});
after(() => python.end());

describe('On one agent engine', { timeout: 120_000 }, () => {
  let engine: AgentEngine;
  const restart = async (options: VertexServerOptions) => {
    await engine.end();
    engine = await startAgentEngine(python, options);
  };
  beforeEach(async () => {
    engine = await startAgentEngine(python, { pageSize: 3 });
  });
  afterEach(() => engine.end());

  const ours = async (): Promise<Session> => {
    const session = await engine.service.getSession(KEY);
    assert.ok(session);
    return session;
  };

  it("the package continues Python's sessions, and Python the package's", async () => {
    const state = { topic: 'tea', 'user:name': 'Ada', 'app:currency': 'KRW', gone: 1 };
    await python.ask('create', { ...PYTHON_KEY, state });
    await python.ask('append', pythonEvent('one', { topic: 'milk' }));

    const session = await ours();
    assert.deepEqual(session.state, { ...state, topic: 'milk' });
    assert.deepEqual(session.events.map(firstText), ['one']);
    const event = userEvent('two', { gone: State.REMOVED, 'app:n': 1 });
    await engine.service.appendEvent({ session, event });

    const left = { topic: 'milk', 'user:name': 'Ada', 'app:currency': 'KRW', 'app:n': 1 };
    assert.deepEqual((await ours()).state, left);
    const inPython = await python.ask('get', PYTHON_KEY);
    assert.deepEqual(inPython.state, { ...left, gone: null });
    assert.deepEqual(inPython.events.map(firstText), ['one', 'two']);
    assert.deepEqual(inPython.events[1]?.actions.stateDelta, { gone: null, 'app:n': 1 });
    assert.equal((await python.ask('append', pythonEvent('three', { gone: 2 }))).error, undefined);

    const again = await ours();
    assert.deepEqual(again.events.map(firstText), ['one', 'two', 'three']);
    assert.deepEqual(again.events[1], event);
    assert.deepEqual(again.state, { ...left, gone: 2 });
  });

  it('the package continues sessions of @google/adk, and the other way round', async () => {
    await restart({ unknownNames: 'ignored' });
    const theirs = await engine.adk.createSession({
      ...KEY,
      state: { topic: 'tea', 'user:name': 'Ada' },
    });
    await engine.adk.appendEvent({ session: theirs, event: adkSay('one', { topic: 'milk' }) });

    const session = await ours();
    assert.deepEqual(session.events.map(firstText), ['one']);
    assert.equal(session.events[0]?.timestamp, theirs.events[0]?.timestamp);
    assert.equal(session.events[0]?.id, theirs.events[0]?.id);
    assert.deepEqual(session.state, { topic: 'milk', 'user:name': 'Ada' });
    const event = userEvent('two', { n: 1 });
    await engine.service.appendEvent({ session, event });

    const there = await engine.adk.getSession(KEY);
    assert.ok(there);
    assert.deepEqual(there.state, { topic: 'milk', 'user:name': 'Ada', n: 1 });
    assert.deepEqual(there.events.map(firstText), ['one', 'two']);
    const [, read] = there.events;
    assert.deepEqual(read?.content, event.content);
    assert.equal(read?.author, 'user');
    assert.deepEqual({ ...read?.actions.stateDelta }, { n: 1 });
    await engine.adk.appendEvent({ session: there, event: adkSay('three', { n: 2 }) });
    const again = await ours();
    assert.deepEqual(again.events.map(firstText), ['one', 'two', 'three']);
    assert.deepEqual(again.events[1], event);
    assert.equal(again.state.n, 2);
    assert.deepEqual((await python.ask('get', PYTHON_KEY)).events.map(firstText), [
      ...['one', 'two', 'three'],
    ]);
  });

  it('all three read the same events of a tool, whoever wrote them', async () => {
    await restart({ unknownNames: 'ignored' });
    const call = { id: 'c1', name: 'pay', args: { a_b: 1, deep: { '': [1.5, null, 'x'] } } };
    const response = { id: 'c1', name: 'pay', response: { ok: true, items: [] } };
    const confirmation = { hint: 'really?', confirmed: false, payload: { n: 1 } };
    const events = (author: string): Event[] => [
      createEvent({
        author,
        invocationId: 'i1',
        branch: 'a.b',
        longRunningToolIds: ['c1'],
        content: { role: 'model', parts: [{ functionCall: call }] },
        actions: { requestedToolConfirmations: { c1: confirmation } },
      }),
      createEvent({
        author,
        invocationId: 'i1',
        content: { role: 'user', parts: [{ functionResponse: response }] },
        actions: { artifactDelta: { 'a.txt': 2 }, transferToAgent: 'clerk', stateDelta: { n: 1 } },
      }),
    ];
    const session = await engine.service.createSession(KEY);
    for (const event of events('ours')) await engine.service.appendEvent({ session, event });
    await python.ask('get', PYTHON_KEY);
    for (const event of events('python')) {
      const appended = await python.ask('append', { ...event, timestamp: Date.now() / 1000 });
      assert.equal(appended.error, undefined);
    }
    const there = await engine.adk.getSession(KEY);
    assert.ok(there);
    for (const event of events('adk')) {
      await engine.adk.appendEvent({ session: there, event: createAdkEvent(event) });
    }

    const views = {
      ours: (await ours()).events,
      python: (await python.ask('get', PYTHON_KEY)).events,
      adk: (await engine.adk.getSession(KEY))?.events ?? [],
    };
    for (const [who, seen] of Object.entries(views)) {
      const authors = seen.map(({ author }) => author);
      assert.deepEqual(authors, ['ours', 'ours', 'python', 'python', 'adk', 'adk'], who);
      for (const event of seen as Event[]) {
        const [part] = event.content?.parts ?? [];
        assert.deepEqual(
          part,
          part?.functionCall ? { functionCall: call } : { functionResponse: response },
        );
        assert.equal(event.invocationId, 'i1');
        if (part?.functionCall) {
          assert.equal(event.branch, 'a.b');
          assert.deepEqual(event.longRunningToolIds, ['c1']);
          assert.deepEqual(event.actions.requestedToolConfirmations, { c1: confirmation }, who);
        } else {
          assert.deepEqual(event.actions.artifactDelta, { 'a.txt': 2 });
          assert.equal(event.actions.transferToAgent, 'clerk');
          assert.deepEqual({ ...event.actions.stateDelta }, { n: 1 });
        }
      }
    }
  });

  it('fields that the others do not know survive for the package', async () => {
    const session = await engine.service.createSession(KEY);
    const event = {
      ...userEvent('one'),
      myField: { a_b: 1, B: [2] },
      content: {
        role: 'user',
        parts: [{ text: 'one', partMetadata: { k: 1 } }, { newKind: { x: 1 } }, { text: 'two' }],
      },
      usageMetadata: { promptTokenCount: 3, newCount: 5 },
      customMetadata: { mine: { z: 1, a: 2 } },
    } as Event;
    await engine.service.appendEvent({ session, event });

    const inPython = await python.ask('get', PYTHON_KEY);
    assert.equal(inPython.error, undefined);
    const [read] = inPython.events;
    assert.equal(read?.id, event.id);
    assert.deepEqual(read.usageMetadata, { promptTokenCount: 3 });
    assert.deepEqual(read.customMetadata, { mine: { z: 1, a: 2 } });
    const inAdk = await engine.adk.getSession(KEY);
    assert.equal(firstText(inAdk?.events[0] as Event), 'one');
    assert.deepEqual(inAdk?.events[0]?.customMetadata, { mine: { z: 1, a: 2 } });
    assert.equal(JSON.stringify((await ours()).events[0]), JSON.stringify(event));
  });

  it('an event that the package replaces appears twice for the others', async () => {
    const session = await engine.service.createSession(KEY);
    const first = userEvent('first', { n: 1 });
    await engine.service.appendEvent({ session, event: first });
    await engine.service.appendEvent({ session, event: userEvent('second') });
    const again: Event = { ...userEvent('again', { n: 2 }), id: first.id };
    await engine.service.appendEvent({ session, event: again });

    const read = await ours();
    assert.deepEqual(read.events.map(firstText), ['again', 'second']);
    assert.equal(read.state.n, 2);
    const inPython = await python.ask('get', PYTHON_KEY);
    assert.deepEqual(inPython.events.map(firstText), ['first', 'second', 'again']);
    assert.equal((await python.ask('append', pythonEvent('third'))).error, undefined);
    assert.deepEqual((await ours()).events.map(firstText), ['again', 'second', 'third']);
  });

  it('a long history is read page by page, and its end alone if only that is wanted', async () => {
    await python.ask('create', PYTHON_KEY);
    const theirs = Array.from({ length: 20 }, (_, n) => pythonEvent(`${n}`, {}, 1.7e9 + n));
    await python.ask('append all', theirs);
    const session = await ours();
    for (let n = 20; n < 25; n += 1)
      await engine.service.appendEvent({ session, event: userEvent(`${n}`) });
    const all = Array.from({ length: 25 }, (_, n) => `${n}`);
    assert.deepEqual(session.events.map(firstText), all);
    assert.deepEqual((await ours()).events.map(firstText), all);
    assert.deepEqual((await python.ask('get', PYTHON_KEY)).events.map(firstText), all);

    for (const numRecentEvents of [0, 1, 4, 24, 25, 100]) {
      const config = { numRecentEvents };
      const recent = await engine.service.getSession({ ...KEY, config });
      assert.deepEqual(
        recent?.events.map(firstText),
        numRecentEvents ? all.slice(-numRecentEvents) : [],
      );
    }
    const config = { afterTimestamp: (1.7e9 + 18) * 1000 };
    const later = await engine.service.getSession({ ...KEY, config });
    assert.deepEqual(later?.events.map(firstText), all.slice(18));
  });

  it('the end of a history is also read from a server that does not order events', async () => {
    await restart({ pageSize: 3, ordersEvents: false });
    await python.ask('create', PYTHON_KEY);
    await python.ask(
      'append all',
      ['a', 'b', 'c', 'd', 'e'].map((text) => pythonEvent(text)),
    );
    const recent = await engine.service.getSession({ ...KEY, config: { numRecentEvents: 2 } });
    assert.deepEqual(recent?.events.map(firstText), ['d', 'e']);
  });

  it('an appended event is last, whatever the clocks say', async () => {
    await python.ask('create', PYTHON_KEY);
    const ahead = Date.now() / 1000 + 3600;
    await python.ask('append', pythonEvent('ahead', {}, ahead));
    const session = await ours();
    const late: Event = { ...userEvent('long ago', { n: 1 }), timestamp: 1_000_000_000_000 };
    await engine.service.appendEvent({ session, event: late });
    await engine.service.appendEvent({ session, event: userEvent('today', { n: 2 }) });

    const texts = ['ahead', 'long ago', 'today'];
    const read = await ours();
    assert.deepEqual(read.events.map(firstText), texts);
    assert.deepEqual(read.events[1], late);
    assert.equal(read.events[0]?.timestamp, ahead * 1000);
    assert.deepEqual((await python.ask('get', PYTHON_KEY)).events.map(firstText), texts);
    assert.deepEqual(
      (await engine.adk.getSession(KEY))?.events.map((event) => firstText(event as Event)),
      texts,
    );
    const config = { afterTimestamp: Date.now() - 60_000 };
    const later = await engine.service.getSession({ ...KEY, config });
    assert.deepEqual(later?.events.map(firstText), ['ahead', 'today']);
  });

  it('events that Python appended meanwhile reach the handle at its next append', async () => {
    const session = await engine.service.createSession(KEY);
    await python.ask('get', PYTHON_KEY);
    await python.ask('append', pythonEvent('theirs', { n: 1, 'user:n': 2 }));
    await engine.service.appendEvent({ session, event: userEvent('ours') });
    assert.deepEqual(session.events.map(firstText), ['theirs', 'ours']);
    assert.deepEqual(session.state, { n: 1, 'user:n': 2 });
  });

  it('partial events and temp: keys are never sent', async () => {
    const session = await engine.service.createSession({
      ...KEY,
      state: { n: 0, 'temp:secret': 1 },
    });
    engine.server.forget();
    const partial: Event = { ...userEvent('par', { n: 1 }), partial: true };
    await engine.service.appendEvent({ session, event: partial });
    assert.deepEqual(
      engine.server.calls.filter((call) => call === 'sessions.appendEvent'),
      [],
    );
    await engine.service.appendEvent({
      session,
      event: userEvent('whole', { n: 2, 'temp:secret': 2 }),
    });
    assert.equal(session.state['temp:secret'], 2);

    const stored = JSON.stringify([
      engine.server.session('s1'),
      engine.server.events('s1'),
      engine.server.requests,
    ]);
    assert.ok(!stored.includes('secret'), stored);
    assert.deepEqual((await ours()).events.map(firstText), ['whole']);
    assert.deepEqual((await ours()).state, { n: 2 });
  });

  it('users and apps have their state, whoever wrote it', async () => {
    await engine.service.createSession({ ...KEY, state: { own: 1, 'user:a': 1, 'app:b': 1 } });
    await python.ask('create', { ...PYTHON_KEY, session_id: 's2' });
    await python.ask('append', pythonEvent('x', { 'user:c': 3, 'app:b': 2 }));
    const third = await engine.service.createSession({ ...KEY, sessionId: 's3' });
    assert.deepEqual(third.state, { 'user:a': 1, 'user:c': 3, 'app:b': 2 });
    const first = await ours();
    assert.deepEqual(first.state, { own: 1, 'user:a': 1, 'user:c': 3, 'app:b': 2 });
    await engine.service.appendEvent({
      session: first,
      event: userEvent('y', { 'user:a': State.REMOVED, 'app:d': 4 }),
    });
    assert.deepEqual(first.state, { own: 1, 'user:c': 3, 'app:b': 2, 'app:d': 4 });
    const second = await engine.service.getSession({ ...KEY, sessionId: 's2' });
    assert.deepEqual(second?.state, { 'user:c': 3, 'app:b': 2, 'app:d': 4 });
    const eve = await engine.service.createSession({ ...KEY, userId: 'eve', sessionId: 's4' });
    assert.deepEqual(eve.state, { 'app:b': 2, 'app:d': 4 });
  });

  it('keys of other users that the server shows do not affect the package', async () => {
    await restart({ scopes: 'named' });
    await engine.service.createSession({ ...KEY, state: { 'user:a': 1, 'app:b': 1 } });
    const eve = await engine.service.createSession({ ...KEY, userId: 'eve', sessionId: 's4' });
    assert.deepEqual(eve.state, { 'app:b': 1 });
  });

  it('a key is enough for both in express mode', async () => {
    const key = { projectId: undefined, location: undefined, accessToken: undefined };
    const service = engine.newService({ ...key, expressModeApiKey: 'a-key' });
    await python.open(engine.server.url.replace('http://', 'http://a-key@'));
    const session = await service.createSession({ ...KEY, state: { n: 0 } });
    await service.appendEvent({ session, event: userEvent('one', { n: 1 }) });
    assert.deepEqual((await python.ask('get', PYTHON_KEY)).state, { n: 1 });
    assert.equal((await python.ask('append', pythonEvent('two'))).error, undefined);
    assert.deepEqual((await service.getSession(KEY))?.events.map(firstText), ['one', 'two']);
    for (const { path, headers } of engine.server.requests) {
      assert.match(path, /^\/v1beta1\/reasoningEngines\/123\/sessions/);
      assert.equal(headers['x-goog-api-key'], 'a-key');
    }
  });

  it('each client lists and deletes the sessions of the others', async () => {
    const userId = String.raw`a"b\c`;
    const owner = { appName: 'shop', userId };
    await engine.service.createSession({ ...owner, sessionId: 's1' });
    await python.ask('create', { app_name: 'shop', user_id: userId, session_id: 's2' });
    await engine.adk.createSession({ ...owner, sessionId: 's3' });
    const anothers = await engine.service.createSession({ ...KEY, userId: 'eve', sessionId: 's4' });

    const listed = await engine.service.listSessions(owner);
    assert.deepEqual(listed.sessions.map(({ id }) => id).sort(), ['s1', 's2', 's3']);
    const inPython = await python.list({ app_name: 'shop', user_id: userId });
    assert.deepEqual(inPython.map(({ id }) => id).sort(), ['s1', 's2', 's3']);
    const all = await engine.service.listSessions({ appName: 'shop' });
    assert.equal(all.sessions.length, 4);

    await engine.service.deleteSession({ ...owner, sessionId: 's2' });
    await engine.service.deleteSession({ ...owner, sessionId: anothers.id });
    await python.ask('delete', { app_name: 'shop', user_id: userId, session_id: 's1' });
    await engine.adk.deleteSession({ ...owner, sessionId: 's3' });
    const left = await engine.service.listSessions({ appName: 'shop' });
    assert.deepEqual(
      left.sessions.map(({ id }) => id),
      ['s4'],
    );
    assert.equal(await engine.service.getSession({ ...owner, sessionId: 's4' }), undefined);
  });
});
