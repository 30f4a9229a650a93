// Answers that are not the API's.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { inspect } from 'node:util';

import { createEvent, isSessionError } from '../../../../js/index.js';
import type { VertexAiSessionService } from '../../../../js/service/vertex/index.js';
import type { Call } from '../../../vertex_server/calls.js';
import { startVertexServer, type VertexServer } from '../../../vertex_server/server.js';
import { KEY, serviceOn } from './service.js';

const TOKEN = 'ya29.s3cret/token==';

describe('A malformed response', () => {
  let server: VertexServer;
  let service: VertexAiSessionService;
  beforeEach(async () => {
    server = await startVertexServer();
    service = serviceOn(server, { accessToken: TOKEN });
    await service.createSession(KEY);
    server.forget();
  });
  afterEach(async () => {
    await service.close();
    await server.end();
  });
  const isRemote = (error: unknown): true => {
    assert.ok(isSessionError(error, 'remote'), inspect(error));
    assert.doesNotMatch(inspect(error) + JSON.stringify(error), /s3cret/);
    return true;
  };

  const readings: Record<string, [call: Call, read: () => Promise<unknown>]> = {
    getSession: ['events.list', () => service.getSession(KEY)],
    listSessions: ['sessions.list', () => service.listSessions({ appName: KEY.appName })],
    getUserState: ['sessions.list', () => service.getUserState(KEY)],
    deleteUser: ['sessions.list', () => service.deleteUser(KEY)],
  };
  for (const [name, [call, read]] of Object.entries(readings)) {
    const field = call === 'events.list' ? 'sessionEvents' : 'sessions';
    for (const items of ['[null]', '["a"]', '{}', '7', '[[]]']) {
      it(`fails a ${name} with remote if it is {${field}: ${items}}`, async () => {
        server.fail(call, { kind: 'answer', text: `{"${field}":${items}}` });
        await assert.rejects(read(), isRemote);
      });
    }

    it(`ends a ${name} if a page token repeats`, async () => {
      const page = `{"nextPageToken":${JSON.stringify(TOKEN)}}`;
      for (let times = 0; times < 3; times += 1) server.fail(call, { kind: 'answer', text: page });
      await assert.rejects(read(), isRemote);
      assert.equal(server.calls.filter((made) => made === call).length, 2);
    });

    it(`fails a ${name} with remote if a page token is not text`, async () => {
      server.fail(call, { kind: 'answer', text: '{"nextPageToken":7}' });
      await assert.rejects(read(), isRemote);
    });
  }

  it('fails a read with remote if it is empty', async () => {
    server.fail('sessions.get', { kind: 'answer', text: '' });
    await assert.rejects(service.getSession(KEY), isRemote);
  });

  for (const name of [
    '../../secrets',
    'projects/../operations/7',
    'operations/..',
    'operations/7/../../sessions/s1',
    'operations/7?alt=media',
    '//evil.example/operations/7',
    'sessions/s1',
    './operations/7',
    'operations/7#',
    'operations/%2e%2e',
  ]) {
    it(`is not followed if it names the operation ${name}`, async () => {
      const text = JSON.stringify({ name });
      server.fail('sessions.delete', { kind: 'answer', text });
      await assert.rejects(service.deleteSession(KEY), isRemote);
      assert.deepEqual(server.calls, ['sessions.get', 'sessions.delete']);
    });
  }

  it('fails with remote if an operation ends with a malformed error', async () => {
    const text = `{"name":"operations/1","done":true,"error":${JSON.stringify(TOKEN)}}`;
    server.fail('sessions.delete', { kind: 'answer', text });
    await assert.rejects(service.deleteSession(KEY), isRemote);
  });

  for (const [title, text] of [
    ['in JSON', JSON.stringify({ echo: [`Bearer ${TOKEN}`] })],
    ['in a URL', `GET /?access_token=${encodeURIComponent(TOKEN)}`],
  ] as const) {
    it(`is shown without a token that it repeats ${title}`, async () => {
      server.fail('sessions.get', { kind: 'answer', text: `[${text}]` });
      await assert.rejects(service.getSession(KEY), (error) => {
        assert.ok(isSessionError(error, 'remote'));
        assert.match(error.body ?? '', /\*\*\*/);
        return isRemote(error);
      });
    });
  }

  it('makes an append retry if it is not JSON', async () => {
    const session = await service.getSession(KEY);
    assert.ok(session);
    const event = createEvent({ id: 'e1', author: 'user', invocationId: 'i' });
    server.fail('sessions.appendEvent', { kind: 'answer', text: '[null]' });
    await service.appendEvent({ session, event });
    assert.equal(server.events('s1').length, 1);
  });
});
