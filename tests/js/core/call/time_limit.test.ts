import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { endsWithin, onAbort, TimeLimit } from '../../../../js/core/call/time_limit.js';

const never = new Promise<never>(() => undefined);

describe('A time limit', () => {
  it('without a timeout begins with its start, and each restart begins it again', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const limit = new TimeLimit(undefined, () => 'late');
    limit.restart();
    t.mock.timers.tick(1000);
    limit.start(100);
    t.mock.timers.tick(99);
    limit.restart();
    t.mock.timers.tick(99);
    assert.equal(limit.signal.aborted, false);
    t.mock.timers.tick(1);
    assert.equal(limit.signal.reason, 'late');
  });

  it('fires at once with its own reason when it expires', () => {
    const limit = new TimeLimit(undefined, () => 'late');
    limit.expire();
    assert.equal(limit.signal.reason, 'late');
  });

  it('tells whether work ended before it, and passes on its failure', async () => {
    assert.equal(await endsWithin(undefined, Promise.resolve()), true);
    assert.equal(await endsWithin(1, never), false);
    await assert.rejects(endsWithin(1000, Promise.reject(new Error('broken'))), /broken/);
  });

  it('that has fired waits for nothing more', async () => {
    const limit = new TimeLimit(undefined);
    limit.expire();
    assert.equal(await limit.until(never), false);
  });

  it('reports a listener that throws, and ends its other waits', async () => {
    const errors: unknown[] = [];
    globalThis.reportError = (error: unknown) => void errors.push(error);
    const failure = new Error('broken');
    const limit = new TimeLimit(undefined);
    onAbort(limit.signal, () => {
      throw failure;
    });
    const waiting = limit.until(never);
    limit.abort();
    assert.equal(await waiting, false);
    assert.deepEqual(errors, [failure]);
    Reflect.deleteProperty(globalThis, 'reportError');
  });

  it('counts from the last arrival', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let arrived = 0;
    const limit = new TimeLimit(
      100,
      (ms) => `nothing for ${ms} ms`,
      () => arrived,
    );
    arrived += 1;
    t.mock.timers.tick(100);
    assert.equal(limit.signal.aborted, false);
    t.mock.timers.tick(100);
    assert.equal(limit.signal.reason, 'nothing for 100 ms');
  });

  it('ends a race with its reason, and its signal has fired whenever it is asked for', async () => {
    const limit = new TimeLimit(1, () => new Error('late'));
    await assert.rejects(limit.race(never), /late/);
    await assert.rejects(limit.race(never), /late/);
    assert.ok(limit.signal.aborted);
    assert.equal(await limit.race(Promise.resolve('done')), 'done');
  });

  it('heeds a signal only as long as it is asked to', () => {
    let isHeeded = false;
    const [early, late] = [new AbortController(), new AbortController()];
    const limit = new TimeLimit(undefined);
    for (const { signal } of [early, late]) {
      limit.follow(
        signal,
        () => 'stopped',
        () => isHeeded,
      );
    }
    early.abort();
    assert.equal(limit.signal.aborted, false);
    isHeeded = true;
    late.abort();
    assert.equal(limit.signal.reason, 'stopped');
  });

  it('keeps no timer when the signal of a call ends its wait', async () => {
    const timers = (): number =>
      process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    const stop = new AbortController();
    const wait = endsWithin(60_000, never, stop.signal);
    stop.abort();
    await assert.rejects(wait, { code: 'aborted' });
    assert.equal(timers(), before);
  });
});
