import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { createEvent, type Session } from '../../../js/index.js';
import { type RemoteSessionOptions, RemoteSessionService } from '../../../js/remote/index.js';
import { compiled, is } from './expect.js';
import { key, type Shop } from './shop.js';

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
