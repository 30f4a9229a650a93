import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { endsWithin, TimeLimit } from '../../../js/call/time_limit.js';

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
});
