import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { createEvent, type Event, type Session } from '../../../../js/index.js';
import {
  type RemoteSessionOptions,
  RemoteSessionService,
  type RunRequest,
} from '../../../../js/remote/index.js';
import { compiled, is } from '../expect.js';
import { key, type Shop } from '../shop.js';

const url = 'http://localhost/api';

describe('The types of the remote service', () => {
  it('are those of every service, with the shape of the state', () => {
    const service = new RemoteSessionService<Shop>({ url });
    compiled(async () => {
      const session = await service.getSession(key);
      is<Session<Shop> | undefined>()(session);
      await service.appendEvent({ session: session!, event: createEvent({ author: 'user' }) });
      // @ts-expect-error no such key
      await service.updateState({ ...key, stateDelta: { topic: 'tea', wrong: 1 } });
    });
    assert.equal(service.storage.kind, 'remote');
  });

  it('of a run are those of a key or a handle, with the shape of the state', () => {
    const service = new RemoteSessionService<Shop>({ url });
    const newMessage = { role: 'user', parts: [{ text: 'hi' }] };
    compiled(async () => {
      const session = await service.createSession(key);
      is<AsyncGenerator<Event, void, undefined>>()(service.run({ session, newMessage }));
      for await (const event of service.run({ ...key, newMessage, streaming: true })) {
        is<Event>()(event);
      }
      const signal = AbortSignal.timeout(1000);
      service.run({ ...key, newMessage, signal, stateDelta: { topic: 'tea' } });
      // @ts-expect-error no such key
      service.run({ ...key, newMessage, stateDelta: { wrong: 1 } });
      // @ts-expect-error a key or a handle
      const both: RunRequest<Shop> = { ...key, session, newMessage };
      // @ts-expect-error a whole key
      const part: RunRequest<Shop> = { appName: 'shop', newMessage };
      // @ts-expect-error a message has parts
      service.run({ ...key, newMessage: 'hi' });
      return [both, part];
    });
    assert.equal(typeof service.run, 'function');
  });

  it('tell which options there are', () => {
    compiled(() => {
      const options: RemoteSessionOptions = { url, getAccessToken: () => 'token', retries: 0 };
      // @ts-expect-error the server's URL is needed
      const empty: RemoteSessionOptions = {};
      // @ts-expect-error no such option
      const unknown: RemoteSessionOptions = { url, token: 'secret' };
      // @ts-expect-error one text for each header
      const headers: RemoteSessionOptions = { url, headers: { accept: ['a', 'b'] } };
      return [options, empty, unknown, headers];
    });
    assert.throws(() => new RemoteSessionService({ url: 'ftp://localhost' }), {
      code: 'invalid_argument',
    });
  });
});
