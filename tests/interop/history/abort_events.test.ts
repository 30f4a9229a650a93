// The end events of a cancelled run, beside google-adk's own, over random histories.

import assert from 'node:assert/strict';
import { it } from 'node:test';

import type { Event } from '../../../js/index.js';
import { abortEvents } from '../../../js/service/runs/agent/end_events.js';
import { randomNumbers } from '../../js/service/read/list_model.js';
import { linesOfPython } from '../python.js';

const COUNT = 2000;

/** A history with calls, responses, texts and questions of several agents, branches, scopes and invocations. */
function historyOf(seed: number): Event[] {
  const below = randomNumbers(seed + 1);
  const pick = <T>(...values: readonly T[]): T => values[below(values.length)]!;
  return Array.from({ length: pick(0, 1, 2, 4, 7) }, (_, index) => {
    const author = pick('user', 'guide', 'root', 'clerk');
    const parts = Array.from({ length: pick(0, 1, 1, 2, 3) }, () => {
      const id = pick('a', 'b', 'c', 'd', undefined);
      const call = { ...(id && { id }), name: pick('pay', 'adk_request_confirmation') };
      return pick<object>(
        { text: 'tea' },
        { functionCall: { ...call, args: {} } },
        { functionCall: { ...call, args: {} } },
        { functionResponse: { ...call, response: { ok: 1 } } },
      );
    });
    const branch = pick(undefined, undefined, 'root.guide', '');
    const isolationScope = pick(undefined, undefined, undefined, 'task');
    const longRunningToolIds = pick(undefined, undefined, ['a']);
    return {
      id: `e${index}`,
      invocationId: pick('i1', 'i1', 'i1', 'i2'),
      author,
      timestamp: index,
      ...(pick(true, true, false) && { content: { role: 'model', parts } }),
      ...(branch !== undefined && { branch }),
      ...(isolationScope !== undefined && { isolationScope }),
      ...(longRunningToolIds !== undefined && { longRunningToolIds }),
      actions: { stateDelta: {}, artifactDelta: {} },
    } as unknown as Event;
  });
}

it(`A cancelled run is theirs as google-adk ends it, in ${COUNT} random histories`, () => {
  const histories = Array.from({ length: COUNT }, (_, seed) => historyOf(seed));
  const lines = histories.map((events) => ({ events, invocationId: 'i1' }));
  const theirs = linesOfPython('abort_events.py', { lines });
  assert.equal(theirs.length, COUNT);
  assert.ok(
    theirs.some((events) => (events as unknown[]).length > 1),
    'several groups',
  );
  assert.ok(
    theirs.some((events) => (events as unknown[]).length === 0),
    'a task that waits',
  );
  histories.forEach((events, seed) => {
    assert.deepEqual(abortEvents(events, 'i1', 'root'), theirs[seed], `seed ${seed}`);
  });
});
