// Responses that something between client and handler sends: a proxy, or the login page of a network.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { createEvent, InMemorySessionService } from '../../../../../js/index.js';
import { RemoteSessionService } from '../../../../../js/service/remote/index.js';
import { failure } from '../../../service/fixture.js';
import { fetchFrom, handlerOn, KEY, URL_OF_SERVER } from '../fixture.js';

async function behind() {
  let foreign: (() => Response) | undefined;
  const handler = fetchFrom(handlerOn(new InMemorySessionService()));
  const fetch: typeof globalThis.fetch = (input, init) =>
    foreign === undefined ? handler(input, init) : Promise.resolve(foreign());
  const remote = new RemoteSessionService({ url: URL_OF_SERVER, fetch, retries: 0 });
  const session = await remote.createSession(KEY);
  return { remote, session, answer: (next: typeof foreign) => void (foreign = next) };
}

describe('A response without the header of the handler', () => {
  for (const status of [200, 302, 400, 401, 403, 404, 409, 502]) {
    it(`with status ${status} is a lost connection, for a read and a write`, async () => {
      const { remote, session, answer } = await behind();
      answer(() => new Response('{"detail":"Session not found"}', { status }));
      await failure(remote.getSession(KEY), 'connection_lost');
      const event = createEvent({ author: 'user' });
      await failure(remote.appendEvent({ session, event }), 'connection_lost');
      answer(undefined);
      await remote.appendEvent({ session, event });
      assert.equal((await remote.getSession(KEY))?.events.length, 1);
    });
  }

  for (const status of [200, 302, 400, 401, 403, 404, 409, 502]) {
    it(`with status ${status} to a request for the feed does not end the watch`, async (t) => {
      const { remote, session, answer } = await behind();
      t.mock.timers.enable({ apis: ['setTimeout'] });
      let responses = 0;
      answer(() => {
        responses += 1;
        return new Response('Log in.', { status });
      });
      const types: string[] = [];
      const stop = remote.watch(KEY, { onNotice: ({ type }) => types.push(type) });
      const passUntil = async (isDone: () => boolean): Promise<void> => {
        for (let turn = 0; turn < 500 && !isDone(); turn += 1) {
          t.mock.timers.tick(250);
          await new Promise(setImmediate);
        }
      };
      await passUntil(() => responses === 4);
      assert.equal(responses, 4);
      answer(undefined);
      await passUntil(() => types.length === 1);
      await remote.appendEvent({ session, event: createEvent({ author: 'user' }) });
      await passUntil(() => types.length === 2);
      assert.deepEqual(types, ['resync', 'appended']);
      stop();
      t.mock.timers.reset();
      await remote.close();
    });
  }

  for (const status of [400, 403, 413, 422, 501]) {
    it(`with status ${status} to the first request of all is a lost connection`, async () => {
      const fetch = (): Promise<Response> => Promise.resolve(new Response('no', { status }));
      const remote = new RemoteSessionService({ url: URL_OF_SERVER, fetch, retries: 0 });
      await failure(remote.createSession(KEY), 'connection_lost');
    });
  }

  it('with the header keeps its status', async () => {
    const { remote, answer } = await behind();
    const headers = { 'adk-session-protocol': '1.0' };
    answer(() => new Response('{"detail":"Log in."}', { status: 401, headers }));
    const error = await failure(remote.getSession(KEY), 'remote');
    assert.equal(error.status, 401);
  });
});
