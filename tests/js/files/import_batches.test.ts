import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  importSession,
  importSessions,
  type ImportOutcome,
  type ImportProgress,
  type SessionFile,
} from '../../../js/files/index.js';
import { InMemorySessionService, type StateShape } from '../../../js/index.js';
import { APP, failure, KEY, overStorages, USER } from '../service/fixture.js';

/** A file of {@link KEY} with so many events. */
function fileOf(count: number, members: SessionFile = {}): SessionFile {
  const events = Array.from({ length: count }, (_, at) => ({
    id: `e${at}`,
    invocationId: 'i',
    author: 'user',
    timestamp: 1.7e12 + at,
    actions: { stateDelta: at === 0 ? { count } : {} },
  }));
  return { id: KEY.sessionId, ...USER, events, ...members };
}

/** Imports it into memory, and returns the number of events of each append. */
async function sizesOf(file: SessionFile): Promise<number[]> {
  const service = new InMemorySessionService();
  const sizes: number[] = [];
  const append = service.appendEvents.bind(service);
  service.appendEvents = (request) => {
    sizes.push(request.events.length);
    return append(request);
  };
  await importSession(service, file);
  return sizes;
}

const throwing = (): never => {
  throw new RangeError('no');
};

overStorages('An import of many events', (open) => {
  it('stores all batches in order, and reports each one', async () => {
    const service = await open();
    const told: ImportProgress[] = [];
    const onProgress = (progress: ImportProgress): void => void told.push(progress);
    const session = await importSession(service, fileOf(1203), { onProgress });
    const expected = Array.from({ length: 1203 }, (_, at) => `e${at}`);
    assert.deepEqual(
      session.events.map(({ id }) => id),
      expected,
    );
    const stored = await service.getSession(KEY);
    assert.deepEqual(
      stored?.events.map(({ id }) => id),
      expected,
    );
    assert.deepEqual(stored?.state, { count: 1203 });
    const sessionId = KEY.sessionId;
    assert.deepEqual(
      told,
      [500, 1000, 1203].map((stored) => ({ sessionId, stored, total: 1203 })),
    );
  });

  it('is undone completely if its signal fires between two batches', async () => {
    const service = await open();
    const controller = new AbortController();
    const { signal } = controller;
    const onProgress = (): void => controller.abort();
    const state = { count: 1203, 'user:name': 'Ada' };
    await failure(
      importSession(service, fileOf(1203, { state }), { signal, onProgress }),
      'aborted',
    );
    assert.equal(await service.getSession(KEY), undefined);
    assert.deepEqual(await service.getUserState(USER), {});
  });

  for (const [how, onProgress] of [
    ['throws', throwing],
    ['rejects', () => Promise.reject(new RangeError('no'))],
  ] as const) {
    it(`is undone completely if onProgress ${how}`, async () => {
      const service = await open();
      const imported = importSession(service, fileOf(1203), { onProgress });
      const error = await failure(imported, 'invalid_argument');
      assert.equal(error.key, 'onProgress');
      assert.ok(error.cause instanceof RangeError);
      assert.equal((await service.listSessions(APP)).totalItems, 0);
    });
  }

  it('waits for the promise of onProgress before the next batch', async () => {
    const service = await open();
    const lengths: number[] = [];
    const onProgress = async (): Promise<void> => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      lengths.push((await service.getSession(KEY))!.events.length);
    };
    await importSession(service, fileOf(1203), { onProgress });
    assert.deepEqual(lengths, [500, 1000, 1203]);
  });
});

describe('The batches of an import', () => {
  it('contain each event once', async () => {
    assert.deepEqual(await sizesOf(fileOf(0)), []);
    assert.deepEqual(await sizesOf(fileOf(1)), [1]);
    assert.deepEqual(await sizesOf(fileOf(502)), [502]);
    assert.deepEqual(await sizesOf(fileOf(503)), [500, 3]);
    const sizes = await sizesOf(fileOf(12_000));
    assert.equal(Math.max(...sizes), 500);
    assert.equal(
      sizes.reduce((sum, size) => sum + size),
      12_000,
    );
  });

  it('keep the two appends that correct the state together', async () => {
    const state: StateShape = { count: 0, by: 'hand' };
    for (let count = 498; count < 505; count += 1) {
      // The first event sets `count`, the others nothing: one of them carries the difference.
      const sizes = await sizesOf(fileOf(count, { state }));
      assert.equal(
        sizes.reduce((sum, size) => sum + size),
        count + 2,
      );
      assert.ok(sizes.at(-1)! >= 2);
    }
  });

  it('let the event loop run between them', async () => {
    const service = new InMemorySessionService();
    let turns = 0;
    let isDone = false;
    const turn = (): void => {
      turns += 1;
      if (!isDone) setImmediate(turn);
    };
    const seen: number[] = [];
    setImmediate(turn);
    const onProgress = (): void => void seen.push(turns);
    await importSession(service, fileOf(2000), { onProgress });
    isDone = true;
    assert.equal(seen.length, 4);
    assert.equal(new Set(seen).size, 4, `turns at each report: ${seen.join(', ')}`);
  });
});

describe('The options of an import', () => {
  it('of importSession are refused if they are unknown or not a function', async () => {
    const service = new InMemorySessionService();
    for (const options of [{ onProgres: throwing }, { onProgress: 1 as never }]) {
      const error = await failure(importSession(service, fileOf(1), options), 'invalid_argument');
      assert.equal(error.key, Object.keys(options)[0]);
    }
  });

  it('of importSessions are refused if unknown or not a function, and apply to each session', async () => {
    const service = new InMemorySessionService();
    const text = `${JSON.stringify(fileOf(1))}\n${JSON.stringify(fileOf(503, { id: 's2' }))}\n`;
    for (const options of [{ onProgres: throwing }, { onProgress: 1 as never }]) {
      const first = importSessions(service, text, options).next();
      const error = await failure(first, 'invalid_argument');
      assert.equal(error.key, Object.keys(options)[0]);
    }
    const told: string[] = [];
    const onProgress = ({ sessionId, stored, total }: ImportProgress): void =>
      void told.push(`${sessionId} ${stored}/${total}`);
    const outcomes: ImportOutcome[] = [];
    for await (const outcome of importSessions(service, text, { onProgress }))
      outcomes.push(outcome);
    assert.deepEqual(
      outcomes.map(({ error }) => error),
      [undefined, undefined],
    );
    assert.deepEqual(told, [`${KEY.sessionId} 1/1`, 's2 500/503', 's2 503/503']);
  });
});
