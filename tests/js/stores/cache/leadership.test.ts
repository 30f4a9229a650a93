import assert from 'node:assert/strict';
import { afterEach, beforeEach, it, mock } from 'node:test';

import { MemoryLocalStore } from '../../../../js/service/cache/index.js';
import { LocalData } from '../../../../js/stores/cache/data/local_data.js';
import { Leadership, LEADERSHIP_MS } from '../../../../js/stores/cache/sending/leadership.js';

beforeEach(() => mock.timers.enable({ apis: ['Date', 'setTimeout'], now: 1_700_000_000_000 }));
afterEach(() => mock.timers.reset());

/** Tabs over one local storage. The timers of a frozen one do not fire. */
function tabs() {
  const local = new MemoryLocalStore();
  const open = (): Leadership => {
    const data = new LocalData({
      store: local,
      owner: 'ada',
      onForgotten: () => assert.fail('Nothing was forgotten.'),
    });
    data.mayBegin();
    return new Leadership({
      data,
      onChange: () => undefined,
      onOthers: () => undefined,
      report: (error) => assert.fail(String(error)),
    });
  };
  return [open(), open(), open()] as const;
}

/** Lets time pass, and everything run that waits for it. */
async function pass(ms: number): Promise<void> {
  for (let rest = ms; rest > 0; rest -= 50) {
    mock.timers.tick(Math.min(50, rest));
    for (let rounds = 0; rounds < 20; rounds += 1) await Promise.resolve();
  }
}

it('one tab leads, and another takes over when it is released', async () => {
  const [first, second] = tabs();
  await first.want();
  await second.want();
  assert.deepEqual([first.isLeader, second.isLeader], [true, false]);
  assert.equal(await first.release(), true);
  await second.want();
  assert.equal(second.isLeader, true);
  await second.release();
});

it('a sign of life keeps the leadership', async () => {
  const [first, second] = tabs();
  await first.want();
  await second.want();
  await pass(60_000);
  assert.deepEqual([first.isLeader, second.isLeader], [true, false]);
  await Promise.all([first.release(), second.release()]);
});

it('a tab takes over within 5 seconds after the last sign of life', async () => {
  const [frozen, second] = tabs();
  await frozen.want();
  const { holder } = frozen;
  // Its timers do not fire any more.
  mock.timers.reset();
  mock.timers.enable({ apis: ['Date', 'setTimeout'], now: 1_700_000_000_000 });
  await second.want();
  assert.equal(second.isLeader, false);
  await pass(LEADERSHIP_MS - 100);
  assert.equal(second.isLeader, false);
  await pass(500);
  assert.ok(second.isLeader, holder);
  await second.release();
});

it('a clock that was set back keeps nobody from leading', async () => {
  const [first, second] = tabs();
  await first.want();
  mock.timers.setTime(1_600_000_000_000);
  await second.want();
  assert.equal(second.isLeader, true);
  await Promise.all([first.release(), second.release()]);
});
