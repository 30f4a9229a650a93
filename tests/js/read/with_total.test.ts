import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { InMemorySessionService as FrameworkService } from '../../../js/adk/index.js';
import { wholeStorage } from '../service/whole_storage.js';
import {
  type SessionService,
  InMemorySessionService,
  openSessionService,
} from '../../../js/index.js';
import type { Storage, StorageListRequest } from '../../../js/storage/index.js';
import { failure } from '../service/fixture.js';

const APP = { appName: 'app' };

/** An adapter that returns no total if none is requested, and records its requests. */
function notCounting(asked: StorageListRequest[]): Storage {
  const adapter = wholeStorage();
  return {
    ...adapter,
    async list(request) {
      asked.push(request);
      const { total, ...page } = await adapter.list(request);
      return request.withTotal === false ? page : { ...page, total };
    },
  };
}

const asked: StorageListRequest[] = [];
const SERVICES: [string, () => SessionService | Promise<SessionService>][] = [
  ['in memory', () => new InMemorySessionService()],
  ['over an adapter', () => openSessionService({ storage: wholeStorage() })],
  ['over an adapter that leaves the total out', () => openSessionService({ storage: notCounting(asked) })], // prettier-ignore
];

for (const [title, open] of SERVICES) {
  describe(`A list without total ${title}`, () => {
    it('has the same page as with the total', async () => {
      const service = await open();
      for (const sessionId of ['1', '2', '3']) {
        const imported = { ...APP, userId: 'ada', sessionId, lastUpdateTime: 1 };
        await service.createSession(imported);
      }
      for (const page of [
        {},
        { limit: 2 },
        { limit: 2, page: 2 },
        { limit: 1, page: 3 },
        { limit: 0 },
      ]) {
        const { totalItems, totalPages, ...rest } = await service.listSessions({ ...APP, ...page });
        const bare = await service.listSessions({ ...APP, ...page, withTotal: false });
        assert.equal(totalItems, 3);
        assert.equal(typeof totalPages, 'number');
        assert.deepEqual(bare, rest);
        assert.equal('totalItems' in bare || 'totalPages' in bare, false);
      }
      const { limit, sessions } = await service.listSessions({ ...APP, withTotal: false });
      assert.deepEqual([limit, sessions.length], [3, 3]);
    });

    it('refuses a `withTotal` that is not a boolean', async () => {
      const service = await open();
      const request = { ...APP, withTotal: 'no' as unknown as false };
      const { key } = await failure(service.listSessions(request), 'invalid_argument');
      assert.equal(key, 'withTotal');
    });
  });
}

describe('withTotal', () => {
  it('reaches an adapter only as `false`', async () => {
    asked.length = 0;
    const service = await openSessionService({ storage: notCounting(asked) });
    await service.listSessions(APP);
    await service.listSessions({ ...APP, withTotal: true });
    await service.listSessions({ ...APP, withTotal: false });
    assert.deepEqual(
      asked.map((request) => [Object.hasOwn(request, 'withTotal'), request.withTotal]),
      [
        [false, undefined],
        [false, undefined],
        [true, false],
      ],
    );
  });

  it('must be `false` for an adapter that omits the total', async () => {
    const list = () => ({ sessions: [], users: [], app: undefined });
    const adapter: Storage = { ...wholeStorage(), list };
    const service = await openSessionService({ storage: adapter });
    await failure(service.listSessions(APP), 'storage_failed');
  });

  it('is supported by the synchronous twins and the services of ./adk', async () => {
    const memory = new InMemorySessionService();
    await memory.createSession({ ...APP, userId: 'ada' });
    assert.equal(memory.listSessionsSync({ ...APP, withTotal: false }).totalItems, undefined);
    assert.equal(memory.listSessionsSync(APP).totalItems, 1);
    const framework = new FrameworkService();
    await framework.createSession({ ...APP, userId: 'ada' });
    const { sessions, ...rest } = await framework.listSessions({ ...APP, withTotal: false });
    assert.deepEqual([sessions.length, rest], [1, { page: 1, limit: 1 }]);
  });
});
