import { createEvent, type Event, type Session } from '../../../js/index.js';
import {
  type RemoteSessionOptions,
  RemoteSessionService,
  type RunRequest,
} from '../../../js/service/remote/index.js';
import { describe, is, it } from '../expect.js';
import { key, type Shop } from '../shop.js';

const url = 'http://localhost/api';

describe('The types of the remote service', () => {
  it('are those of every service, with the shape of the state', async () => {
    const service = new RemoteSessionService<Shop>({ url });
    {
      const session = await service.getSession(key);
      is<Session<Shop> | undefined>()(session);
      await service.appendEvent({ session: session!, event: createEvent({ author: 'user' }) });
      // @ts-expect-error no such key
      await service.updateState({ ...key, stateDelta: { topic: 'tea', wrong: 1 } });
    }
  });

  it('of a run are those of a key or a handle, with the shape of the state', async () => {
    const service = new RemoteSessionService<Shop>({ url });
    const newMessage = { role: 'user', parts: [{ text: 'hi' }] };
    {
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
    }
  });

  it('tell which options there are', async () => {
    {
      const options: RemoteSessionOptions = { url, getAccessToken: () => 'token', retries: 0 };
      // @ts-expect-error the server's URL is needed
      const empty: RemoteSessionOptions = {};
      // @ts-expect-error no such option
      const unknown: RemoteSessionOptions = { url, token: 'secret' };
      // @ts-expect-error one text for each header
      const headers: RemoteSessionOptions = { url, headers: { accept: ['a', 'b'] } };
      return [options, empty, unknown, headers];
    }
  });
});
