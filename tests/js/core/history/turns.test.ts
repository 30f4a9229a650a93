// Edited and regenerated turns over several storages, and over services around one of this package.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { asAdkService } from '../../../../js/service/adk/index.js';
import { CachedSessionService, MemoryLocalStore } from '../../../../js/service/cache/index.js';
import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import { branches, fork, rewind, switchBranch } from '../../../../js/core/history/index.js';
import { editTurn, regenerateTurn } from '../../../../js/core/history/turns.js';
import { createEvent, InMemorySessionService, type SessionService } from '../../../../js/index.js';
import { fetchFrom, handlerOn, KEY, URL_OF_SERVER } from '../../stores/remote/fixture.js';
import { RemoteSessionService } from '../../../../js/service/remote/index.js';

const content = (text: string) => ({ role: 'user', parts: [{ text }] });

const said = (id: string, invocationId: string, author = 'user') =>
  createEvent({ id, invocationId, author, content: { ...content(id), role: author } });

/** A turn with a call, whose answer has an invocation of its own, as has the agent's next event. */
const TURNS = [
  said('m1', 'i1'),
  createEvent({
    id: 'call',
    invocationId: 'i1',
    author: 'guide',
    longRunningToolIds: ['c1'],
    content: { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'ask', args: {} } }] },
  }),
  createEvent({
    id: 'answer',
    invocationId: 'i2',
    author: 'user',
    content: {
      role: 'user',
      parts: [{ functionResponse: { id: 'c1', name: 'ask', response: { ok: true } } }],
    },
  }),
  said('result', 'i3', 'guide'),
];

async function seed(service: SessionService): Promise<SessionService> {
  const session = await service.createSession(KEY);
  await service.appendEvents({ session, events: structuredClone(TURNS) });
  await service.updateSession(KEY, { title: 'm1' });
  return service;
}

const shown = async (service: SessionService) =>
  (await service.getSession({ ...KEY, config: { view: 'transcript' } }))!.events.map(
    ({ id }) => id,
  );

const titleOf = async (service: SessionService) => (await service.getSession(KEY))?.title;

const overCache = (remote: SessionService) =>
  new CachedSessionService({ remote, local: new MemoryLocalStore(), owner: 'ada' });

const inMemory = () => new InMemorySessionService({ autoTitle: true });
const onSqlite = () => new DatabaseSessionService('sqlite::memory:', { autoTitle: true });

const SERVICES: Readonly<Record<string, () => SessionService>> = {
  memory: inMemory,
  SQLite: onSqlite,
  'a cache over memory': () => overCache(inMemory()),
  'a cache over SQLite': () => overCache(onSqlite()),
};

for (const [name, open] of Object.entries(SERVICES)) {
  describe(`A turn over ${name}`, () => {
    it('that is edited or shown again keeps the title', async () => {
      const service = await seed(open());
      await editTurn(service, { ...KEY, eventId: 'm1', content: content('m2') });
      assert.equal(await titleOf(service), 'm1');
      await service.updateSession(KEY, { title: 'm2' });
      const [turn] = await branches(service, KEY);
      await switchBranch(service, { ...KEY, branch: turn?.alternatives[0]?.branch ?? '' });
      assert.deepEqual(
        [await titleOf(service), await shown(service)],
        ['m2', TURNS.map(({ id }) => id)],
      );
      await service.close();
    });

    it('is regenerated from the event of the user on, which is sent again under a new id', async () => {
      const service = await seed(open());
      const answer = await regenerateTurn(service, { ...KEY, eventId: 'result' });
      assert.deepEqual(await shown(service), ['m1', 'call', answer.id]);
      assert.deepEqual(answer.content, TURNS[2]?.content);
      assert.notEqual(answer.invocationId, 'i2');
      const message = await regenerateTurn(service, { ...KEY, eventId: 'call' });
      assert.deepEqual(await shown(service), [message.id]);
      assert.equal(await titleOf(service), 'm1');
      await service.close();
    });

    it('is forked once for each id and place', async () => {
      const service = await seed(open());
      const request = { ...KEY, newSessionId: 's2', at: { eventId: 'm1' } };
      const first = await fork(service, request);
      assert.deepEqual((await fork(service, request)).events, first.events);
      await assert.rejects(fork(service, { ...request, at: { eventId: 'call' } }), {
        code: 'already_exists',
      });
      await service.close();
    });
  });
}

describe('An edited message', () => {
  for (const [name, open] of Object.entries({ memory: inMemory, SQLite: onSqlite })) {
    it(`over ${name} gives a title in the same step to a session that has none`, async () => {
      const service = await seed(open());
      await service.updateSession(KEY, { title: null });
      const notices = new Set<string>();
      const stop = service.watch(KEY, { onNotice: ({ type }) => void notices.add(type) });
      await editTurn(service, { ...KEY, eventId: 'm1', content: content('m2') });
      assert.equal(await titleOf(service), 'm2');
      assert.deepEqual([...notices], ['appended'], 'no second step');
      stop();
      await service.close();
    });
  }
});

describe('A service around another one', () => {
  it('of this package passes on what a server computes', async () => {
    const service = await seed(new InMemorySessionService());
    const requests: string[] = [];
    const fetch = fetchFrom(handlerOn(service, { authorize: () => true }));
    const remote = new RemoteSessionService({
      url: URL_OF_SERVER,
      fetch: (input, init) => {
        const request = new Request(input, init);
        requests.push(`${request.method} ${new URL(request.url).pathname.split('/').at(-1)}`);
        return fetch(request);
      },
    });
    const adk = asAdkService(remote) as unknown as SessionService;
    await rewind(adk, { ...KEY, before: { invocationId: 'i2' } });
    await fork(adk, { ...KEY, at: { eventId: 'm1' } });
    assert.deepEqual(requests, ['GET version', 'POST rewind', 'POST fork']);
  });
});
