import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { createEvent, InMemorySessionService } from '../../../../js/index.js';
import { DatabaseSessionService } from '../../../../js/service/database/index.js';
import { RemoteSessionService } from '../../../../js/service/remote/index.js';
import { type FindResult, sessionSearch } from '../../../../js/service/search/index.js';
import { type SessionAccess, sessionHandler } from '../../../../js/server/index.js';
import { failsWith } from '../../fails_with.js';
import { fetchFrom, handlerOn, URL_OF_SERVER } from '../../stores/remote/fixture.js';
import { says } from '../../service/fixture.js';
import { ALL_RIGHTS, answerOf, requestTo, serve, USER } from '../fixture.js';

const user = { appName: 'shop', userId: 'ada' };

/** Stores that many sessions, each with one message. The last one is the newest. */
async function fill(service: InMemorySessionService, count: number): Promise<void> {
  for (let number = 0; number < count; number += 1) {
    const session = await service.createSession({ ...user, sessionId: `s${number}` });
    const content = { role: 'user', parts: [{ text: '녹차: green tea' }] };
    const timestamp = Date.now() + number * 1000;
    const event = createEvent({ id: `e${number}`, author: 'user', timestamp, content });
    await service.appendEvent({ session, event });
    await service.updateSession(
      { ...user, sessionId: `s${number}` },
      { labels: { n: `${number}` } },
    );
  }
}

const idsOf = ({ hits }: FindResult): string[] => hits.map(({ sessionId }) => sessionId);

describe('A search over HTTP', () => {
  it('is one request of the client, and has the hits of the server', async () => {
    const service = new InMemorySessionService();
    await fill(service, 3);
    const requests: string[] = [];
    const send = fetchFrom(handlerOn(service));
    const remote = new RemoteSessionService({
      url: URL_OF_SERVER,
      fetch: (input, init) => {
        requests.push(new URL(new Request(input, init).url).pathname);
        return send(input, init);
      },
    });
    const [here, there] = [sessionSearch(service), sessionSearch(remote)];
    const filters = [
      {},
      { sessionId: 's1' },
      { author: 'user', after: 1.5, before: Date.now() + 1500 },
      { labels: { n: '2' } },
      { author: 'agent' },
    ];
    for (const filter of filters) {
      const request = { ...user, query: '녹차 "green tea"', ...filter };
      assert.deepEqual(await there.find(request), await here.find(request));
    }
    const first = await there.find({ ...user, query: 'tea', limit: 2 });
    const second = await there.find({ ...user, query: 'tea', limit: 2, cursor: first.nextCursor });
    assert.deepEqual([idsOf(first), idsOf(second)], [['s2', 's1'], ['s0']]);
    assert.deepEqual(
      requests.filter((path) => path !== '/api/version'),
      Array.from({ length: filters.length + 2 }, () => '/api/apps/shop/users/ada/search'),
    );
    await assert.rejects(there.find({ ...user, query: '' }), failsWith('invalid_argument'));
    const cursor = 's1.x.[]';
    const refused = there.find({ ...user, query: 'tea', cursor });
    await assert.rejects(refused, failsWith('invalid_argument', /cursor/));
    await remote.close();
    await assert.rejects(there.find({ ...user, query: 'tea' }), failsWith('closed'));
  });

  it('shows no session that the request may not read, not in cursors either, and asks at most limit + 20 times', async () => {
    const asked: SessionAccess[] = [];
    const { ask, service } = serve({
      authorize: (_, access) => {
        asked.push(access);
        return access.action === 'search' || access.sessionId === 's0' ? ALL_RIGHTS : false;
      },
    });
    await fill(service, 45);
    const { sessions } = await service.listSessions(user);
    const secrets = sessions.flatMap(({ id, lastUpdateTime }) => [`"${id}"`, `${lastUpdateTime}`]);
    const found: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      asked.length = 0;
      const place = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const { status, body } = await ask(`${USER}/search?query=tea&limit=2${place}`);
      assert.equal(status, 200);
      const page = body as FindResult;
      found.push(...idsOf(page));
      cursor = page.nextCursor;
      assert.ok(secrets.every((secret) => cursor?.includes(secret) !== true));
      pages += 1;
      assert.equal(asked[0]?.action, 'search');
      assert.ok(asked.slice(1).every(({ action }) => action === 'getSession'));
      assert.ok(asked.length <= 1 + 2 + 20);
    } while (cursor !== undefined);
    assert.deepEqual([found, pages], [['s0'], 3]);
  });

  it('ends with the refusal if authorize knows no user, or orders to forget', async () => {
    for (const [answer, status] of [
      ['unauthenticated', 401],
      ['forget', 410],
    ] as const) {
      const { ask, service } = serve({
        authorize: (_, { action }) => (action === 'search' ? ALL_RIGHTS : answer),
      });
      await fill(service, 1);
      assert.equal((await ask(`${USER}/search?query=tea`)).status, status);
    }
  });

  it('without a query, or with an odd one, is status 400', async () => {
    const { ask } = serve();
    for (const query of ['', '?query=%25_', '?query=tea&limit=0', '?query=tea&label=x']) {
      assert.equal((await ask(`${USER}/search${query}`)).status, 400, query);
    }
  });

  it('finds the sessions that PATCH has added to the memory, as Python sends it', async () => {
    const service = new DatabaseSessionService('sqlite::memory:');
    const authorize = (_: unknown, { sessionId }: SessionAccess) =>
      sessionId !== 's2' && ALL_RIGHTS;
    const handler = sessionHandler(service, { authorize });
    for (const sessionId of ['s1', 's2', 's3']) {
      const session = await service.createSession({ ...user, sessionId });
      await service.appendEvent({ session, event: says(`Tea of ${sessionId}`) });
    }
    const add = async (body: object) => {
      const answer = await answerOf(
        await handler(requestTo(`${USER}/memory`, { method: 'PATCH', body })),
      );
      return [answer.status, answer.body];
    };
    assert.deepEqual(await add({ session_id: 's1' }), [200, null]);
    assert.equal((await add({ sessionId: 's2' }))[0], 403);
    assert.equal((await add({ session_id: 'none' }))[0], 404);
    assert.equal((await add({}))[0], 400);
    const memory = sessionSearch(service).asMemoryService({ remembers: 'added' });
    const { memories } = await memory.searchMemory({ ...user, query: 'tea' });
    assert.deepEqual(
      memories.map(({ content }) => content.parts?.[0]?.text),
      ['Tea of s1'],
    );
    await service.close();
    const { ask, service: inMemory } = serve();
    await inMemory.createSession({ ...user, sessionId: 's1' });
    const refused = await ask(`${USER}/memory`, { method: 'PATCH', body: { sessionId: 's1' } });
    assert.equal(refused.status, 501);
  });
});
