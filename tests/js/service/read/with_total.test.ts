import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { InMemorySessionService as FrameworkService } from '../../../../js/service/adk/index.js';
import { wholeStorage } from '../whole_storage.js';
import {
  type SessionService,
  InMemorySessionService,
  openSessionService,
} from '../../../../js/index.js';
import type { Storage, StorageListRequest } from '../../../../js/core/storage/index.js';
import { failure } from '../fixture.js';

const APP = { appName: 'app' };

/** A storage of empty lists that returns no total if none is requested, and records its requests. */
function notCounting(asked: StorageListRequest[]): Storage {
  return {
    ...wholeStorage(),
    listsParts: true,
    async list(request) {
      asked.push(request);
      const page = { sessions: [], users: [], app: undefined };
      return request.withTotal === false ? page : { ...page, total: 0 };
    },
  };
}

const SERVICES: [string, () => SessionService | Promise<SessionService>][] = [
  ['in memory', () => new InMemorySessionService()],
  ['over a storage of the user', () => openSessionService({ storage: wholeStorage() })],
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
  it('reaches a storage that lists parts, only as `false`', async () => {
    const asked: StorageListRequest[] = [];
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

  it('must be `false` for a storage that lists parts and omits the total', async () => {
    const list = () => ({ sessions: [], users: [], app: undefined });
    const storage: Storage = { ...wholeStorage(), listsParts: true, list };
    const service = await openSessionService({ storage });
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
