import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { KeyedQueue } from '../../../../js/core/call/scheduling.js';

/** Returns work that notes when it begins, and ends when it is told. */
function heldWork(log: string[], name: string) {
  let resolve!: (name: string) => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<string>((...settle) => ([resolve, reject] = settle));
  const work = (): Promise<string> => {
    log.push(name);
    return promise;
  };
  return { work, end: () => resolve(name), fail: () => reject(new Error(name)) };
}

const soon = (): Promise<void> => new Promise((done) => setImmediate(done));

describe('A keyed queue', () => {
  it('runs the work of a key in its order, also after work that failed', async () => {
    const queue = new KeyedQueue();
    const log: string[] = [];
    const [first, second] = [heldWork(log, 'first'), heldWork(log, 'second')];
    const failed = assert.rejects(queue.run('a', first.work), /first/);
    const done = queue.run('a', second.work);
    await soon();
    assert.deepEqual(log, ['first']);
    first.fail();
    await failed;
    second.end();
    assert.equal(await done, 'second');
    assert.deepEqual(log, ['first', 'second']);
  });

  it('runs the work of different keys at once', async () => {
    const queue = new KeyedQueue();
    const log: string[] = [];
    const [one, other] = [heldWork(log, 'one'), heldWork(log, 'other')];
    const results = [queue.run('a', one.work), queue.run('b', other.work)];
    await soon();
    assert.deepEqual(log, ['one', 'other']);
    one.end();
    other.end();
    assert.deepEqual(await Promise.all(results), ['one', 'other']);
  });

  it('does not run work whose wait has ended, and keeps the order of the work behind it', async () => {
    const queue = new KeyedQueue();
    const log: string[] = [];
    const [first, last] = [heldWork(log, 'first'), heldWork(log, 'last')];
    const begun = queue.run('a', first.work);
    const ended = queue.run('a', heldWork(log, 'ended').work, () =>
      Promise.reject(new Error('late')),
    );
    const behind = queue.run('a', last.work);
    await assert.rejects(ended, /late/);
    await soon();
    assert.deepEqual(log, ['first']);
    first.end();
    last.end();
    assert.deepEqual(await Promise.all([begun, behind]), ['first', 'last']);
  });

  it('is idle when no work is left, also of work that came meanwhile', async () => {
    const queue = new KeyedQueue();
    let isDone = false;
    const last = async (): Promise<void> => {
      await soon();
      isDone = true;
    };
    void queue.run('a', async () => void queue.run('b', last));
    await queue.idle();
    assert.ok(isDone);
  });
});
