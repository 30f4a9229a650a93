// Failures of requests and of the server, and the data afterwards.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { inspect } from 'node:util';

import {
  createEvent,
  type Diagnostic,
  isSessionError,
  type SessionErrorCode,
} from '../../../../js/index.js';
import {
  type VertexAiOptions,
  VertexAiSessionService,
} from '../../../../js/service/vertex/index.js';
import type { Fault } from '../../../vertex_server/faults.js';
import {
  startVertexServer,
  type VertexServer,
  type VertexServerOptions,
} from '../../../vertex_server/server.js';
import { KEY, serviceOn } from './service.js';

const TOKEN = 'ya29.s3cret-token';

function isError(error: unknown, code: SessionErrorCode, message: RegExp, status?: number): true {
  assert.ok(isSessionError(error, code), inspect(error));
  assert.match(error.message, message);
  assert.equal(error.status, status);
  assert.doesNotMatch(inspect(error) + JSON.stringify(error), /s3cret/);
  return true;
}

function withDelta(stateDelta: Record<string, unknown>) {
  const event = createEvent({ author: 'user', invocationId: 'i' });
  event.actions.stateDelta = stateDelta;
  return event;
}

/** An event whose delta counts, so that a second one would show. */
const said = (id: string) => {
  const event = createEvent({ id, author: 'user', invocationId: 'i' });
  event.actions.stateDelta = { last: id };
  return event;
};

describe('The Vertex AI service', () => {
  let server: VertexServer;
  let service: VertexAiSessionService;
  beforeEach(async () => {
    server = await startVertexServer();
    service = serviceOn(server, { accessToken: TOKEN });
  });
  afterEach(async () => {
    const { allFaultsUsed } = server;
    await service.close();
    await server.end();
    assert.ok(allFaultsUsed);
  });
  const restart = async (options: VertexServerOptions, of: VertexAiOptions = {}): Promise<void> => {
    await server.end();
    server = await startVertexServer(options);
    service = serviceOn(server, { accessToken: TOKEN, ...of });
  };

  it('counts retries, and pings the server', async () => {
    const seen: Diagnostic[] = [];
    await service.close();
    service = serviceOn(server, { onDiagnostic: (diagnostic) => seen.push(diagnostic) });
    server.fail('sessions.list', { kind: 'refuse', code: 503, message: 'Unavailable' });
    await service.ping();
    assert.deepEqual(
      seen.map((one) => [one.storage, one.kind === 'call' && one.retries, one.code]),
      [['vertexai', 1, undefined]],
    );
    server.fail('sessions.list', { kind: 'deny', code: 403, message: 'Forbidden' });
    await assert.rejects(service.ping(), { code: 'remote' });
  });

  const done: [title: string, fault: Fault][] = [
    ['the connection breaks before the answer', { kind: 'lose' }],
    ['a proxy gives up', { kind: 'deny', code: 504, message: 'Deadline' }],
    ['the answer is no JSON', { kind: 'answer', text: '<html>' }],
  ];
  const notDone: [title: string, fault: Fault][] = [
    ['the connection breaks before the server has it', { kind: 'drop' }],
    ['the server is replaced', { kind: 'refuse', code: 503, message: 'Unavailable' }],
    ['the quota is used up for a moment', { kind: 'refuse', code: 429, message: 'Quota' }],
  ];

  for (const [title, fault] of [...done, ...notDone]) {
    it(`stores an event once if ${title}`, async () => {
      const session = await service.createSession(KEY);
      server.fail('sessions.appendEvent', fault);
      await service.appendEvent({ session, event: said('e1') });
      await service.appendEvent({ session, event: said('e2') });
      assert.equal(server.events('s1').length, 2);
      const read = await service.getSession(KEY);
      assert.deepEqual(read?.events, session.events);
      assert.deepEqual(read.state, { last: 'e2' });
    });
  }

  for (const [title, fault] of [done[0], done[1], ...notDone].filter(
    (pair) => pair !== undefined,
  )) {
    it(`creates a session once if ${title}`, async () => {
      server.fail('sessions.create', fault);
      const session = await service.createSession({ ...KEY, state: { a: { b: 1, c: 2 } } });
      assert.deepEqual(session.state, { a: { b: 1, c: 2 } });
      await service.appendEvent({ session, event: said('e') });
      const again = service.createSession({ ...KEY, state: { a: { b: 1, c: 2 } } });
      await assert.rejects(again, (error) => isError(error, 'already_exists', /s1/));
    });
  }

  it('does not accept a session created by another program while a response was lost', async () => {
    const other = serviceOn(server);
    server.fail('sessions.create', {
      kind: 'before',
      action: () => other.createSession({ ...KEY, state: { theirs: 1 } }),
    });
    server.fail('sessions.create', { kind: 'drop' });
    // The other program's request comes after the read of the session, and gets the first fault.
    const created = service.createSession({ ...KEY, state: { ours: 1 } });
    await assert.rejects(created, (error) => isError(error, 'already_exists', /s1/));
    assert.deepEqual((await service.getSession(KEY))?.state, { theirs: 1 });
  });

  it('accepts a session that matches its request after a lost response', async () => {
    const error = { code: 6, message: 'Session already exists.' };
    const taken = JSON.stringify({ name: 'operations/1', done: true, error });
    server.fail('sessions.create', { kind: 'drop' });
    server.fail('sessions.create', { kind: 'answer', text: taken });
    const session = await service.createSession({ ...KEY, state: { ours: 1 } });
    assert.deepEqual(session.state, { ours: 1 });
  });

  it("does not accept another's session if the operation cannot be polled", async () => {
    const other = serviceOn(server);
    server.fail('sessions.create', { kind: 'answer', text: '{"name":"operations/1"}' });
    server.fail('operations.get', {
      kind: 'before',
      action: async () => {
        await other.deleteSession(KEY);
        await other.createSession({ ...KEY, state: { theirs: 1 } });
      },
    });
    const created = service.createSession({ ...KEY, state: { ours: 1 } });
    await assert.rejects(created, (error) => isError(error, 'already_exists', /s1/));
    assert.deepEqual((await service.getSession(KEY))?.state, { theirs: 1 });
  });

  it('leaves handle and event unchanged if an append fails', async () => {
    const session = await service.createSession(KEY);
    server.refuse('sessions.appendEvent', 403);
    const event = said('e');
    const before = structuredClone({ session, event });
    await assert.rejects(service.appendEvent({ session, event }), (error) =>
      isError(error, 'remote', /needs the role/, 403),
    );
    assert.deepEqual({ session, event }, before);
    assert.equal(server.events('s1').length, 0);
    await service.appendEvent({ session, event });
    assert.equal(server.events('s1').length, 1);
  });

  it('retries a few times before it fails; a later call finds stored data', async () => {
    const session = await service.createSession(KEY);
    server.fail('sessions.appendEvent', { kind: 'lose' });
    // Only after the lost response: then the search for the event finds nothing.
    const refuseNext = () => void setImmediate(() => server.refuse('events.list', 503, 6));
    server.fail('events.list', { kind: 'before', action: refuseNext });
    const event = said('e');
    await assert.rejects(service.appendEvent({ session, event }), (error) =>
      isError(error, 'remote', /503/, 503),
    );
    assert.equal(server.events('s1').length, 1);
    await service.appendEvent({ session, event });
    assert.equal(server.events('s1').length, 1);
    assert.deepEqual((await service.getSession(KEY))?.events, session.events);
  });

  it('reports how many of several events are stored, and stores the rest at the next call', async () => {
    const session = await service.createSession(KEY);
    const events = [said('e1'), said('e2'), said('e3')];
    // The first passes, and what comes after it is refused.
    const refuseNext = () => void setImmediate(() => server.refuse('sessions.appendEvent', 403));
    server.fail('sessions.appendEvent', { kind: 'before', action: refuseNext });
    await assert.rejects(service.appendEvents({ session, events }), (error) =>
      isError(error, 'remote', /^1 of 3 events are stored/, 403),
    );
    assert.deepEqual(session.events, []);
    assert.equal(server.events('s1').length, 1);
    await service.appendEvents({ session, events });
    assert.deepEqual(session.events, events);
    assert.equal(server.events('s1').length, 3);
  });

  it('stores the rest of several events through a handle read again, with `reject`', async () => {
    service = serviceOn(server, { accessToken: TOKEN, stale: 'reject' });
    const session = await service.createSession(KEY);
    const events = [said('e1'), said('e2')];
    server.fail('sessions.appendEvent', { kind: 'pass' });
    server.refuse('sessions.appendEvent', 403);
    await assert.rejects(service.appendEvents({ session, events }), (error) =>
      isError(error, 'remote', /Append all .* read the handle again/, 403),
    );
    const freshHandle = await service.getSession(KEY);
    assert.ok(freshHandle);
    await service.appendEvents({ session: freshHandle, events });
    assert.deepEqual(freshHandle.events, events);
    assert.equal(server.events('s1').length, 2);
  });

  it("leaves the user's and app's state as they are if a creation with sharedState 'keep' fails", async () => {
    await restart({ scopes: 'shared' });
    await service.createSession({ ...KEY, sessionId: 's0', state: { 'user:u': 1 } });
    const events = [withDelta({ 'user:u': 2, 'app:a': 2 }), withDelta({})];
    server.fail('sessions.appendEvent', { kind: 'pass' });
    server.refuse('sessions.appendEvent', 403);
    await assert.rejects(service.createSession({ ...KEY, events, sharedState: 'keep' }));
    assert.equal(await service.getSession(KEY), undefined);
    assert.deepEqual(await service.getUserState(KEY), { u: 1 });
    assert.deepEqual(await service.getAppState(KEY), {});
  });

  it("undoes no write of another session during a creation with sharedState 'keep'", async () => {
    await restart({ scopes: 'shared' });
    const other = await service.createSession({ ...KEY, sessionId: 's0', state: { 'app:a': 1 } });
    const events = [withDelta({ 'app:a': 9, 'user:u': 9 }), withDelta({ own: 1 })];
    const action = () => service.appendEvent({ session: other, event: withDelta({ 'app:a': 2 }) });
    server.fail('sessions.appendEvent', { kind: 'pass' });
    server.fail('sessions.appendEvent', { kind: 'before', action });
    const created = await service.createSession({
      ...KEY,
      events,
      sharedState: 'keep',
      stateDelta: { 'user:u': 3, own: 2 },
    });
    assert.deepEqual(created.state, { own: 2, 'app:a': 2, 'user:u': 3 });
    const read = await service.getSession(KEY);
    assert.deepEqual(read?.events, events);
    assert.deepEqual(read.state, created.state);
  });

  it('reports a session that is deleted while an event is looked for', async () => {
    service = serviceOn(server, { accessToken: TOKEN, stale: 'append' });
    const session = await service.createSession(KEY);
    await service.appendEvent({ session, event: said('e1') });
    const other = serviceOn(server);
    // Behind the list of the newest events: this one could be further back.
    server.fail('events.list', { kind: 'pass' });
    server.fail('events.list', { kind: 'before', action: () => other.deleteSession(KEY) });
    const early = createEvent({ id: 'e2', author: 'user', invocationId: 'i', timestamp: 0 });
    await assert.rejects(service.appendEvent({ session, event: early }), (error) =>
      isError(error, 'not_found', /s1/),
    );
  });

  it('leaves no request pending if a read fails', async () => {
    await restart({ pageSize: 1 });
    const session = await service.createSession(KEY);
    for (const id of ['e1', 'e2', 'e3']) await service.appendEvent({ session, event: said(id) });
    server.forget();
    server.refuse('sessions.get', 403);
    await assert.rejects(service.getSession(KEY), (error) => isError(error, 'remote', /403/, 403));
    assert.equal(server.calls.filter((call) => call === 'events.list').length, 3);
  });

  it('reports a session that is deleted during a call', async () => {
    const session = await service.createSession(KEY);
    const other = serviceOn(server);
    server.fail('sessions.appendEvent', { kind: 'before', action: () => other.deleteSession(KEY) });
    await assert.rejects(service.appendEvent({ session, event: said('e') }), (error) =>
      isError(error, 'not_found', /s1/),
    );
  });

  it('retries a read after a transient error', async () => {
    const session = await service.createSession(KEY);
    await service.appendEvent({ session, event: said('e') });
    server.refuse('sessions.get', 503, 2);
    server.fail('events.list', { kind: 'drop' });
    assert.deepEqual((await service.getSession(KEY))?.events, session.events);
  });

  it('reads a state that is not older than its events', async () => {
    await service.createSession(KEY);
    const other = serviceOn(server);
    const theirs = await other.getSession(KEY);
    assert.ok(theirs);
    server.fail('events.list', {
      kind: 'before',
      action: () => other.appendEvent({ session: theirs, event: said('theirs') }),
    });
    const read = await service.getSession(KEY);
    assert.deepEqual(read?.state, { last: 'theirs' });
    assert.equal(read.events.length, 1);
  });

  const refusals: [code: number, message: RegExp][] = [
    [400, /The server refuses with 400/],
    [401, /invalid or expired/],
    [403, /roles\/aiplatform\.user/],
  ];
  for (const [code, message] of refusals) {
    it(`advises what to do about a ${code}`, async () => {
      server.refuse('sessions.get', code);
      await assert.rejects(service.getSession(KEY), (error) =>
        isError(error, 'remote', message, code),
      );
    });
  }

  it('respects the timeout', async () => {
    await service.createSession(KEY);
    const hasty = serviceOn(server, { timeoutMs: 300 });
    server.fail('sessions.get', { kind: 'hang' });
    await assert.rejects(hasty.getSession(KEY), (error) =>
      isError(error, 'connection_lost', /within 300 ms/),
    );
  });

  it('reports a missing server', async () => {
    const { url } = server;
    await server.end();
    await assert.rejects(serviceOn({ ...server, url }).getSession(KEY), (error) =>
      isError(error, 'connection_lost', /ECONNREFUSED/),
    );
    server = await startVertexServer();
  });

  it('creates sessions although operations cannot be polled', async () => {
    await restart({ operations: 'refused' });
    const session = await service.createSession({ ...KEY, state: { a: 1 } });
    await service.appendEvent({ session, event: said('e') });
    await service.deleteSession(KEY);
    assert.equal(await service.getSession(KEY), undefined);
  });

  it('waits while a session is being created', async () => {
    await restart({ operations: 3 });
    await service.createSession(KEY);
    assert.equal(server.calls.filter((call) => call === 'operations.get').length, 4);
  });

  it('does not wait forever', async () => {
    // Long enough that no request of its own takes so long on a busy machine.
    await restart({ operations: 1000 }, { timeoutMs: 2000 });
    await assert.rejects(service.createSession(KEY), (error) =>
      isError(error, 'connection_lost', /did not finish within 2000 ms/),
    );
  });

  it('sends one deletion if the server does not finish in time', async () => {
    // Six pauses last 2,350 ms at least.
    await restart({ operations: 6 });
    await service.createSession(KEY);
    server.forget();
    const deleted = serviceOn(server, { timeoutMs: 2000 }).deleteSession(KEY);
    await assert.rejects(deleted, (error) =>
      isError(error, 'connection_lost', /did not finish within 2000 ms/),
    );
    assert.equal(server.calls.filter((call) => call === 'sessions.delete').length, 1);
  });

  it('reports a text response without the data that was sent', async () => {
    await service.createSession(KEY);
    server.fail('sessions.get', { kind: 'answer', text: `<p>Bearer ${TOKEN}</p>` });
    await assert.rejects(service.getSession(KEY), (error) =>
      isError(error, 'remote', /other than the JSON/, 200),
    );
  });

  it('sends an event without rawEvent if the server refuses that', async () => {
    const session = await service.createSession(KEY);
    server.refuse('sessions.appendEvent', 400);
    await service.appendEvent({ session, event: said('e') });
    assert.equal(server.events('s1')[0]?.rawEvent, undefined);
    assert.deepEqual((await service.getSession(KEY))?.events, session.events);
  });

  it('does not delete a session that was created again while the response was lost', async () => {
    const other = serviceOn(server);
    await service.createSession(KEY);
    server.fail('sessions.delete', { kind: 'lose' });
    server.fail('sessions.get', { kind: 'pass' });
    const action = () => other.createSession({ ...KEY, state: { again: 1 } });
    server.fail('sessions.get', { kind: 'before', action });
    await service.deleteSession(KEY);
    assert.deepEqual((await service.getSession(KEY))?.state, { again: 1 });
    assert.equal(server.calls.filter((call) => call === 'sessions.delete').length, 1);
  });

  it('deletes a deleted session without an error', async () => {
    await service.createSession(KEY);
    server.fail('sessions.delete', { kind: 'lose' });
    await service.deleteSession(KEY);
    assert.equal(await service.getSession(KEY), undefined);
  });
});
