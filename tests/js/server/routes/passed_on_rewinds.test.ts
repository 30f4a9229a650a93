// Rewinds over a handler whose service is a cache or a client: another store computes them. The client has no rights.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { requireHistory } from '../../../../js/core/history/histories.js';
import { createEventActions, InMemorySessionService } from '../../../../js/index.js';
import { sessionHandler, type SessionHandlerOptions } from '../../../../js/server/index.js';
import { CachedSessionService, MemoryLocalStore } from '../../../../js/service/cache/index.js';
import { RemoteSessionService } from '../../../../js/service/remote/index.js';
import { echo } from '../../ui/live/runs/agents.js';
import { until } from '../../stores/cache/fixture.js';
import { fetchFrom, handlerOn, URL_OF_SERVER } from '../../stores/remote/fixture.js';
import { answerOf, type Ask, eventJson, KEY, requestTo, SESSION } from '../fixture.js';

const REWIND = `${SESSION}/rewind`;
const marker = { id: 'r1', invocationId: 'e-r1' };
const message = { id: 'm2', invocationId: 'i3' };
const turn = { place: { turn: 'i2' }, marker, message };

const credential = (secrets: object = {}) => ({
  authType: 'oauth2',
  oauth2: { clientId: 'shop', ...secrets },
});

/** Serves what `pass` puts before a service in memory with the turns `i1` and `i2`. */
async function serveTurns(
  pass: (service: InMemorySessionService) => CachedSessionService | RemoteSessionService,
  options: Partial<SessionHandlerOptions> = {},
) {
  const service = new InMemorySessionService();
  const session = await service.createSession({ ...KEY, state: { topic: 'tea' } });
  const say = (id: string, stateDelta: Record<string, unknown>) =>
    service.appendEvent({
      session,
      event: {
        id,
        invocationId: id,
        author: 'user',
        content: { role: 'user', parts: [{ text: id }] },
        actions: createEventActions({ stateDelta }),
      },
    });
  const served = pass(service);
  const handler = sessionHandler(served, { authorize: () => true, ...options });
  const ask: Ask = async (path, asked) => answerOf(await handler(requestTo(path, asked)));
  const settled = async (): Promise<string[]> => {
    if (served instanceof CachedSessionService) await served.sync();
    return (await service.getSession(KEY))!.events.map(({ id }) => id);
  };
  const close = async (): Promise<void> => {
    await handler.close({ graceMs: 0 });
    await served.close();
  };
  return { service, served, say, ask, settled, close };
}

const requests: string[] = [];

/** Notes the requests that change something. */
const fetchNoting = (service: InMemorySessionService): typeof fetch => {
  const passOn = fetchFrom(handlerOn(service));
  return (input, init) => {
    const { method, url } = new Request(input, init);
    if (method === 'POST') requests.push(new URL(url).pathname.split('/').slice(-2).join('/'));
    return passOn(input, init);
  };
};

const cacheOver = (remote: InMemorySessionService | RemoteSessionService) =>
  new CachedSessionService({ remote, local: new MemoryLocalStore(), owner: 'ada' });
const clientOf = (service: InMemorySessionService) =>
  new RemoteSessionService({ url: URL_OF_SERVER, fetch: fetchNoting(service) });

for (const [name, pass] of Object.entries({
  'a client': clientOf,
  'a cache': cacheOver,
  'a cache over a client': (service: InMemorySessionService) => cacheOver(clientOf(service)),
})) {
  describe(`A handler over ${name}`, () => {
    it('passes on a rewind with its message, and writes no marker of its own', async () => {
      requests.length = 0;
      const { say, ask, settled, close } = await serveTurns(pass);
      for (const id of ['i1', 'i2']) await say(id, { turn: id, [id]: true });
      const { status, body } = await ask(REWIND, { body: turn });
      assert.equal(status, 200);
      const rewound = body as Record<'event' | 'message', { id: string }>;
      assert.deepEqual([rewound.event.id, rewound.message.id], ['r1', 'm2']);
      assert.deepEqual(await settled(), ['i1', 'i2', 'r1', 'm2']);
      const session = (await ask(SESSION)).body as { state: object };
      assert.deepEqual(session.state, {
        topic: 'tea',
        i1: true,
        turn: 'i2',
        i2: true,
      });
      assert.deepEqual(requests, name === 'a cache' ? [] : ['s1/rewind']);
      const again = await ask(REWIND, { body: turn });
      assert.equal(again.status, 200);
      // A cache shows the times of its own computation until it has those of the remote.
      if (name === 'a client') assert.deepEqual(again.body, { ...(body as object), isNew: false });
      assert.deepEqual(await settled(), ['i1', 'i2', 'r1', 'm2']);
      await close();
    });

    it('appends events after the marker, if the client may append them', async () => {
      const { say, ask, settled, close } = await serveTurns(pass);
      for (const id of ['i1', 'i2']) await say(id, {});
      const place = { before: { invocationId: 'i2' } };
      for (const members of [
        { author: 'guide' },
        { content: { role: 'user', parts: [{ functionResponse: { id: 'c1', name: 'none' } }] } },
      ]) {
        const events = [{ ...eventJson('e3'), ...members }];
        assert.equal((await ask(REWIND, { body: { place, marker, events } })).status, 403);
      }
      assert.deepEqual(await settled(), ['i1', 'i2']);
      const events = [{ ...eventJson('e3'), invocationId: 'i3' }];
      assert.equal((await ask(REWIND, { body: { place, marker, events } })).status, 200);
      assert.deepEqual(await settled(), ['i1', 'i2', 'r1', 'e3']);
      await close();
    });

    it('refuses to send a message again whose state the client may not write, or has seen in part', async () => {
      for (const [stateDelta, later] of [
        [{ 'user:paid': true }, {}],
        [{ login: credential() }, { login: credential({ clientSecret: 'hidden' }) }],
        [
          { login: credential() },
          { login: { ...credential({ clientSecret: 'hidden' }), other: true } },
        ],
      ] as const) {
        const { say, ask, settled, close } = await serveTurns(pass);
        await say('i1', {});
        await say('i2', stateDelta);
        await say('late', later);
        assert.equal((await ask(REWIND, { body: turn })).status, 403);
        assert.deepEqual(await settled(), ['i1', 'i2', 'late']);
        await close();
      }
    });

    it('runs its agent once for a message that is sent again', async () => {
      const { say, ask, settled, close } = await serveTurns(pass, { run: echo });
      await say('i1', {});
      await say('i2', {});
      const body = { ...turn, run: {} };
      const [first, second] = await Promise.all([ask(REWIND, { body }), ask(REWIND, { body })]);
      assert.deepEqual([first.status, second.status], [200, 200]);
      await until(async () => (await settled()).length === 5);
      assert.equal((await ask(REWIND, { body })).status, 200);
      assert.equal((await settled()).length, 5);
      await close();
    });
  });
}

it('A rewind that is sent again over HTTP is not new to its sender', async () => {
  const { service, say } = await serveTurns(clientOf);
  await say('i1', {});
  const place = { before: { invocationId: 'i1' } };
  const write = { kind: 'rewind', key: KEY, marker, place } as const;
  const isNew = async () => (await requireHistory(clientOf(service)).rewind(write)).isNew;
  assert.deepEqual([await isNew(), await isNew()], [true, false]);
});

it('A handler with an agent passes a rewind on to a server with an agent, and its own agent alone answers', async () => {
  const passToAgent = (service: InMemorySessionService) =>
    new RemoteSessionService({
      url: URL_OF_SERVER,
      fetch: fetchFrom(handlerOn(service, { run: echo })),
    });
  const { say, ask, settled, close } = await serveTurns(passToAgent, { run: echo });
  await say('i1', {});
  await say('i2', {});
  assert.equal((await ask(REWIND, { body: { ...turn, run: {} } })).status, 200);
  await until(async () => (await settled()).length === 5);
  for (let turns = 0; turns < 50; turns += 1) await new Promise(setImmediate);
  assert.equal((await settled()).length, 5);
  await close();
});
