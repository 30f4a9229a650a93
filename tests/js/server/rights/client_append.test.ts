// Events that an HTTP client sends again, because it has lost the answer. It need not give what the handler fills in.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';

import { httpServer } from '../../../http_server.js';
import { mapStorage } from '../../../../examples/map_storage.js';
import { createEvent, InMemorySessionService, openSessionService } from '../../../../js/index.js';
import type { SessionService } from '../../../../js/values/model/session_service.js';
import { nodeListener, type Rights, sessionHandler } from '../../../../js/server/index.js';
import { eventJson, KEY, SESSION } from '../fixture.js';

const CLIENTS: Readonly<Record<string, true | Rights>> = {
  'a user': true,
  'a page that runs agents': { mayWriteAgentEvents: true },
};
const CALL = { id: 'c1', name: 'pay', args: {} };
const ANSWER = {
  id: 'e1',
  author: 'user',
  content: { parts: [{ functionResponse: { id: 'c1', name: 'pay', response: { ok: true } } }] },
};

/** Serves a service. The client loses the answers to as many requests as `toLose` says. */
async function serve(t: TestContext, service: SessionService, rights: true | Rights = true) {
  const losses = { toLose: 0 };
  const listener = nodeListener(sessionHandler(service, { authorize: () => rights }));
  const server = httpServer((request, response) => {
    if (losses.toLose > 0) {
      losses.toLose -= 1;
      response.writeHead = () => response.destroy();
    }
    void listener(request, response);
  });
  t.after(() => server.close().closeAllConnections());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const post = (events: readonly object[], members: object = {}) =>
    fetch(`${origin}${SESSION}/events`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ events, ...members }),
    });
  /** Sends a request, loses the answer once its events are stored, and sends the request again. */
  const postTwice = async (events: readonly object[], members?: object) => {
    losses.toLose = 1;
    await assert.rejects(post(events, members));
    const stored = await service.getSession(KEY);
    const { status } = await post(events, members);
    return { stored, status };
  };
  return { post, postTwice };
}

/** A service whose clock goes on with each look. */
function tickingService(): InMemorySessionService {
  let now = 1000;
  return new InMemorySessionService({ clock: () => (now += 10) });
}

describe('An event that is sent again without an answer', () => {
  for (const [client, rights] of Object.entries(CLIENTS)) {
    const name = `by ${client}`;

    it(`${name} is stored once, with its first time`, async (t) => {
      const service = tickingService();
      await service.createSession(KEY);
      const { postTwice } = await serve(t, service, rights);
      const { stored, status } = await postTwice([{ id: 'e1', author: 'user' }]);
      assert.equal(status, 200);
      assert.equal(stored?.events.length, 1);
      assert.deepEqual(await service.getSession(KEY), stored);
    });

    it(`${name} changes a state once`, async (t) => {
      const service = tickingService();
      const session = await service.createSession(KEY);
      const { post, postTwice } = await serve(t, service, rights);
      const event = { id: 'e1', author: 'user', actions: { stateDelta: { turn: 1 } } };
      const { status } = await postTwice([event]);
      assert.equal(status, 200);
      const turn = createEvent({ id: 'e2', actions: { stateDelta: { turn: 2 } } });
      await service.appendEvent({ session, event: turn });
      assert.equal((await post([event])).status, 200);
      assert.equal((await service.getSession(KEY))?.state.turn, 2);
    });

    it(`${name} is not in conflict with itself`, async (t) => {
      const service = tickingService();
      const session = await service.createSession(KEY);
      const { postTwice } = await serve(t, service, rights);
      const members = {
        expectedRevision: service.revisionOf(session),
        expectedEvents: { e1: null },
      };
      const { stored, status } = await postTwice([{ id: 'e1', author: 'user' }], members);
      assert.equal(status, 200);
      assert.deepEqual(await service.getSession(KEY), stored);
    });

    it(`${name} answers a call once, and is not refused`, async (t) => {
      const service = tickingService();
      const content = { role: 'model', parts: [{ functionCall: CALL }] };
      const question = createEvent({
        id: 'q',
        author: 'shop',
        content,
        longRunningToolIds: ['c1'],
      });
      await service.createSession({ ...KEY, events: [question] });
      const { post, postTwice } = await serve(t, service, rights);
      const { stored, status } = await postTwice([ANSWER]);
      assert.equal(status, 200);
      assert.deepEqual(await service.getSession(KEY), stored);
      if (rights === true) assert.equal((await post([{ ...ANSWER, id: 'e2' }])).status, 409);
    });

    it(`${name} replaces the stored one if it gives another time`, async (t) => {
      const service = tickingService();
      await service.createSession(KEY);
      const { post, postTwice } = await serve(t, service, rights);
      await postTwice([{ id: 'e1', author: 'user' }]);
      await post([{ id: 'e1', author: 'user', timestamp: 5000 }]);
      const { events } = (await service.getSession(KEY))!;
      assert.equal(events.length, 1);
      assert.equal(events[0]?.timestamp, 5000);
    });
  }

  it('without an id is a new one each time', async (t) => {
    const service = tickingService();
    await service.createSession(KEY);
    const { postTwice } = await serve(t, service);
    await postTwice([{ author: 'user' }, { id: '', author: 'user' }]);
    assert.equal((await service.getSession(KEY))?.events.length, 4);
  });
});

it('three events that are sent again cost as many calls of the storage as one', async (t) => {
  const counts = [];
  for (const count of [1, 3, 100]) {
    let calls = 0;
    const storage = new Proxy(mapStorage(), {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]): unknown => {
          calls += 1;
          return Reflect.apply(member, target, args);
        };
      },
    });
    const service = await openSessionService({ storage });
    await service.createSession(KEY);
    const { post } = await serve(t, service);
    const events = Array.from({ length: count }, (_, n) => eventJson(`e${n}`));
    const untimed = events.map((event) => ({ ...event, timestamp: undefined }));
    await post(untimed);
    calls = 0;
    assert.equal((await post(untimed)).status, 200);
    counts.push(calls);
  }
  assert.deepEqual(counts, [3, 3, 3]);
});
