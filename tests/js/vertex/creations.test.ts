// Creations with events that fail: what the error says is what the server has.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';

import { createEvent, isSessionError, type SessionError } from '../../../js/index.js';
import { type VertexAiSessionService } from '../../../js/vertex/index.js';
import { startVertexServer, type VertexServer } from '../../vertex_server/server.js';
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

  it('says that the session is created if only its reading fails', async () => {
    server.fail('sessions.appendEvent', { kind: 'pass' });
    server.fail('sessions.appendEvent', { kind: 'pass' });
    const refuseNext = () => void setImmediate(() => server.refuse('sessions.get', 403));
    server.fail('sessions.appendEvent', { kind: 'before', action: refuseNext });
    const { code, message } = await failure();
    assert.equal(code, 'remote');
    assert.match(message, /^The session is created with its events; read it/);
    assert.equal((await service.getSession(KEY))?.events.length, 3);
  });
});
