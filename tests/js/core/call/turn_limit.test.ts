// Work that is divided over turns of the event loop. The clock is the test's.

import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';

import { TurnLimit } from '../../../../js/core/call/turn_limit.js';

/** Returns a clock that stands until it is set. */
function clockOf(t: TestContext): { now: number } {
  const clock = { now: 0 };
  t.mock.method(performance, 'now', () => clock.now);
  return clock;
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

it('TurnLimit lets work begin until its time in a turn is over, and again in the next one', async (t) => {
  const clock = clockOf(t);
  const turns = new TurnLimit(20);
  assert.ok(turns.mayBegin());
  clock.now = 19;
  assert.ok(turns.mayBegin());
  clock.now = 20;
  assert.ok(!turns.mayBegin());
  await turn();
  assert.ok(turns.mayBegin());
});

it('TurnLimit keeps the order of what waits, over as many turns as it takes', async (t) => {
  const clock = clockOf(t);
  const turns = new TurnLimit(20);
  assert.ok(turns.mayBegin());
  clock.now = 20;
  const begun: number[] = [];
  const waiting = [1, 2, 3].map(async (work) => {
    await turns.next();
    begun.push(work);
    clock.now += 20;
  });
  await turn();
  assert.deepEqual(begun, [1]);
  assert.ok(!turns.mayBegin(), 'new work stands behind what waits');
  await turn();
  assert.deepEqual(begun, [1, 2]);
  await Promise.all(waiting);
  assert.deepEqual(begun, [1, 2, 3]);
  await turn();
  assert.ok(turns.mayBegin());
});
