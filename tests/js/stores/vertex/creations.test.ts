// Creations with events that fail: what the error says is what the server has.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';

import {
  createEvent,
  type Event,
  isSessionError,
  type SessionError,
  State,
} from '../../../../js/index.js';
import { type VertexAiSessionService } from '../../../../js/service/vertex/index.js';
import { startVertexServer, type VertexServer } from '../../../vertex_server/server.js';
import { KEY, serviceOn } from './service.js';

const events = ['e1', 'e2', 'e3'].map((id) => {
  return createEvent({ id, author: 'user', invocationId: 'i' });
});

describe('A creation with events at Vertex AI', () => {
  let server: VertexServer;
  let service: VertexAiSessionService;
  beforeEach(async () => {
    server = await startVertexServer();
    service = serviceOn(server);
  });
  afterEach(async () => {
    await service.close();
    await server.end();
  });

  async function failure(): Promise<SessionError> {
    try {
      await service.createSession({ ...KEY, events });
    } catch (error) {
      assert.ok(isSessionError(error));
      return error;
    }
    return assert.fail('The creation succeeded.');
  }

  it('says that the session was deleted again, and not that events are stored', async () => {
    server.fail('sessions.appendEvent', { kind: 'pass' });
    server.refuse('sessions.appendEvent', 403);
    const { code, status, message } = await failure();
    assert.deepEqual([code, status], ['remote', 403]);
    assert.match(message, /^The session was deleted again, .*refused with status 403/);
    assert.doesNotMatch(message, /events are stored/);
    assert.equal(await service.getSession(KEY), undefined);
    assert.equal((await service.createSession({ ...KEY, events })).events.length, 3);
  });

  it('says that the session may remain if it cannot be deleted again', async () => {
    server.fail('sessions.appendEvent', { kind: 'pass' });
    server.refuse('sessions.appendEvent', 403);
    server.refuse('sessions.delete', 401);
    const { code, status, message } = await failure();
    assert.deepEqual([code, status], ['remote', 403]);
    assert.match(message, /^Session "s1" may remain .* delete it .*refused with status 403/);
    assert.equal((await service.getSession(KEY))?.events.length, 1);
  });

  it('succeeds if only reading the session again fails', async () => {
    server.fail('sessions.appendEvent', { kind: 'pass' });
    server.fail('sessions.appendEvent', { kind: 'pass' });
    const refuseNext = () => void setImmediate(() => server.refuse('sessions.get', 403));
    server.fail('sessions.appendEvent', { kind: 'before', action: refuseNext });
    const session = await service.createSession({ ...KEY, events });
    assert.equal(session.events.length, 3);
    assert.equal(server.calls.filter((call) => call === 'sessions.get').length, 3);
    assert.equal((await service.getSession(KEY))?.events.length, 3);
  });

  it('posts values that no delta sets as the delta of an event with other keys', async () => {
    const deltas: Event['actions']['stateDelta'][] = [{ a: 1 }, { b: 1, gone: State.REMOVED }];
    const events = deltas.map((stateDelta, index) =>
      createEvent({ id: `e${index}`, author: 'user', actions: { stateDelta } }),
    );
    const session = await service.createSession({
      ...KEY,
      events,
      state: { gone: 1 },
      stateDelta: { b: 2 },
    });
    assert.deepEqual(session.state, { a: 1, b: 2 });
    assert.equal(server.calls.filter((call) => call === 'sessions.appendEvent').length, 4);
    const read = await service.getSession(KEY);
    assert.deepEqual([read?.state, read?.events], [session.state, events]);
  });

  it('is refused before it is sent if no event can carry the last values', async () => {
    const event = createEvent({ author: 'user', actions: { stateDelta: { a: 1 } } });
    const request = { ...KEY, events: [event], stateDelta: { a: 2 } };
    await assert.rejects(service.createSession(request), {
      code: 'unsupported',
      key: 'stateDelta',
    });
    assert.ok(!server.calls.includes('sessions.create'));
  });
});
