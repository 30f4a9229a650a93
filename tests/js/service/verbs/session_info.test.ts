// What a session holds: pages are read only once, other makers of a session, damaged records, and storages.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { wholeStorage } from '../whole_storage.js';
import { exportSession, importSession } from '../../../../js/service/files/index.js';
import { type Event, InMemorySessionService, openSessionService } from '../../../../js/index.js';
import type { SessionRow, Storage } from '../../../../js/core/storage/index.js';
import { cutPage } from '../../../../js/core/storage/cut_page.js';
import { failure, imported, KEY, overStorages, says } from '../fixture.js';

/** Events with tokens of a model. */
function counted(count: number, modelVersion?: unknown): Event[] {
  const usageMetadata = { promptTokenCount: 2, totalTokenCount: 3, trafficType: 'ON_DEMAND' };
  return Array.from({ length: count }, () => {
    return { ...says('x'), usageMetadata, ...(modelVersion !== undefined && { modelVersion }) };
  }) as Event[];
}

overStorages('The info of a session', (open) => {
  it('has the bytes of what listEvents returns', async () => {
    const service = await open();
    const session = await service.createSession(imported({ ...KEY, events: counted(3, '모델') }));
    await service.appendEvents({ session, events: counted(2) });
    const { events } = await service.listEvents(KEY);
    const texts = events.map((event) => JSON.stringify(event));
    const { bytes, eventCount, usage } = await service.sessionInfo(KEY);
    assert.equal(bytes, Buffer.byteLength(texts.join('')));
    assert.equal(eventCount, 5);
    assert.deepEqual(usage, {
      unknown: { promptTokenCount: 4, totalTokenCount: 6 },
      모델: { promptTokenCount: 6, totalTokenCount: 9 },
    });
  });

  it('takes odd metadata as it is', async () => {
    const service = await open();
    const odd = [
      { ...says('a'), usageMetadata: { totalTokenCount: '7' } },
      { ...says('b'), usageMetadata: null, modelVersion: 'm' },
      { ...says('c'), usageMetadata: { totalTokenCount: 1 }, modelVersion: '__proto__' },
      { ...says('d'), usageMetadata: { totalTokenCount: 2 }, modelVersion: 7 },
    ];
    await service.createSession(imported({ ...KEY, events: odd as unknown as Event[] }));
    const { usage } = await service.sessionInfo(KEY);
    const expected = [
      ['__proto__', { totalTokenCount: 1 }],
      ['unknown', { totalTokenCount: 2 }],
    ];
    assert.deepEqual(Object.entries(usage), expected);
  });

  it('fails with not_found for a session that is not there', async () => {
    const service = await open();
    await failure(service.sessionInfo({ ...KEY, sessionId: 'none' }), 'not_found');
  });

  it('is aborted by its signal', async () => {
    const service = await open();
    await service.createSession(KEY);
    await failure(service.sessionInfo({ ...KEY, signal: AbortSignal.abort() }), 'aborted');
  });

  it('belongs to the caller', async () => {
    const service = await open();
    await service.createSession({ ...KEY, state: { list: [1] } });
    const { initialState } = await service.sessionInfo(KEY);
    (initialState!.list as number[]).push(2);
    assert.deepEqual((await service.sessionInfo(KEY)).initialState, { list: [1] });
  });

  it('goes with a file that was exported with the initial state', async () => {
    const service = await open();
    const changes = says('x', { a: 2, b: 3 });
    const state = { a: 1, c: 1, 'user:u': 1 };
    await service.createSession(imported({ ...KEY, state, events: [changes] }));
    const bare = await exportSession(service, KEY);
    assert.ok(!('initialState' in bare));
    const file = await exportSession(service, KEY, { initialState: true, casing: 'snake' });
    assert.deepEqual(file.initial_state, { a: 1, c: 1 });
    const copy = await importSession(service, file, { sessionId: 'copy' });
    assert.deepEqual(copy.state, { a: 2, b: 3, c: 1, 'user:u': 1 });
    const { initialState } = await service.sessionInfo({ ...KEY, sessionId: 'copy' });
    assert.deepEqual(initialState, { a: 1, c: 1 });
  });
});

describe('The info of a session', () => {
  it('does not mix two sessions of one id', async () => {
    const storage = wholeStorage();
    let pages = 0;
    const service = await openSessionService({
      storage: {
        ...storage,
        async readPage(request) {
          pages += 1;
          if (pages === 2) {
            await service.deleteSession(KEY);
            await service.createSession(imported({ ...KEY, events: counted(1) }));
          }
          const { session, events } = await storage.read({ key: request.key, window: {} });
          return { session, events: cutPage(events, request) };
        },
      },
    });
    await service.createSession(imported({ ...KEY, events: counted(1500) }));
    assert.equal((await service.sessionInfo(KEY)).eventCount, 1);
  });

  it('lets other tasks run between its pages', async (t) => {
    const storage = wholeStorage();
    let tasks = 0;
    let next = setImmediate(function count() {
      tasks += 1;
      next = setImmediate(count);
    });
    t.after(() => clearImmediate(next));
    const tasksBefore: number[] = [];
    const service = await openSessionService({
      storage: {
        ...storage,
        async readPage(request) {
          tasksBefore.push(tasks);
          const { session, events } = await storage.read({ key: request.key, window: {} });
          return { session, events: cutPage(events, request) };
        },
      },
    });
    await service.createSession(imported({ ...KEY, events: counted(2500) }));
    assert.equal((await service.sessionInfo(KEY)).eventCount, 2500);
    assert.equal(new Set(tasksBefore).size, 3);
  });

  it('lacks what a storage does not store', async () => {
    const storage = wholeStorage();
    const withoutOrigin = (row: SessionRow): SessionRow => {
      return { ...row, createTime: undefined, initialState: undefined };
    };
    const write: Storage['append'] = (request, decide) =>
      storage.append(request, (found) => {
        const changes = decide(found);
        return changes?.session && { ...changes, session: withoutOrigin(changes.session) };
      });
    const service = await openSessionService({
      storage: { ...storage, create: write, append: write },
    });
    await service.createSession({ ...KEY, state: { a: 1 } });
    const { createTime, initialState, eventCount } = await service.sessionInfo(KEY);
    assert.deepEqual([createTime, initialState, eventCount], [undefined, undefined, 0]);
  });

  it('has the time of the clock at the creation', async () => {
    const service = new InMemorySessionService({ clock: () => 5000 });
    await service.createSession(KEY);
    await service.createSession({ ...KEY, sessionId: 'restored', lastUpdateTime: 1000 });
    assert.equal((await service.sessionInfo(KEY)).createTime, 5000);
    const restored = await service.sessionInfo({ ...KEY, sessionId: 'restored' });
    assert.equal(restored.createTime, 1000);
  });
});
