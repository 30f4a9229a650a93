import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';

import { historyView } from '../../../js/core/history/index.js';
import { viewOf } from '../../../js/core/history/rules/view.js';
import type { Event } from '../../../js/index.js';
import { event, text, time, type ReaderContext } from './histories.js';
import { viewsOfPython } from './python_views.js';

const COUNT = 2000;
/** Each run draws other histories. A failure shows the history. */
const seed = Date.now() % 2 ** 31;

const INVOCATIONS = ['i0', 'i1', 'i2', 'i3', 'i4', 'i5'];
const CALLS = ['c1', 'c2'];
const CONTEXTS: readonly ReaderContext[] = [
  { agentName: 'root' },
  { agentName: 'left', branch: 'root.left' },
  { agentName: 'helper', isolationScope: 'c1' },
];

const invocation = fc.constantFrom(...INVOCATIONS);
const members = fc.record(
  {
    branch: fc.constantFrom('root', 'root.left', 'root.right', 'root.ask@c1', 'ask@c2'),
    isolationScope: fc.constantFrom('c1', 'c2'),
    author: fc.constantFrom('user', 'root', 'left', 'helper'),
  },
  { requiredKeys: [] },
);
/** Mostly events without branch and scope. */
const someMembers = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: members },
);
const instant = fc.integer({ min: 0, max: 24 });

type Step = (at: number) => Event;

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(invocation, someMembers, fc.constantFrom('user', 'root')).map(
      ([invocationId, given, author]): Step =>
        (at) =>
          event(invocationId, `e${at}`, at, { author, content: text('model', `e${at}`), ...given }),
    ),
  },
  {
    weight: 1,
    arbitrary: invocation.map(
      (invocationId): Step =>
        (at) =>
          event(invocationId, `e${at}`, at, { actions: { stateDelta: { at } } }),
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(invocation, fc.subarray(CALLS, { minLength: 1 }), someMembers)
      .map(([invocationId, ids, given]): Step => (at) => {
        const parts = ids.map((id) => ({ functionCall: { id, name: 'ask', args: {} } }));
        return event(invocationId, `e${at}`, at, { content: { role: 'model', parts }, ...given });
      }),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(invocation, fc.constantFrom(...CALLS), someMembers)
      .map(([invocationId, id, given]): Step => (at) => {
        const parts = [{ functionResponse: { id, name: 'ask', response: {} } }];
        return event(invocationId, `e${at}`, at, { content: { role: 'user', parts }, ...given });
      }),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(invocation, fc.constantFrom(...INVOCATIONS, 'r2', 'r5', 'r9')).map(
      ([, before]): Step =>
        (at) =>
          event(`r${at}`, `e${at}`, at, {
            author: 'user',
            actions: { rewindBeforeInvocationId: before },
          }),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(instant, instant, someMembers).map(
      ([start, end, given]): Step =>
        (at) =>
          event(`s${at}`, `e${at}`, at, {
            ...given,
            author: 'user',
            actions: {
              compaction: {
                startTimestamp: time(start),
                // A summary is stored after the events that it replaces.
                endTimestamp: time(Math.min(end, at)),
                compactedContent: text('model', `summary ${at}`),
              },
            },
          }),
    ),
  },
);

const histories = fc
  .array(steps, { maxLength: 24 })
  .map((list) => list.map((step, at) => step(at)));

const idsOf = (events: readonly Event[]): string[] => events.map(({ id }) => id);

describe('Views of generated histories', () => {
  it(`are those of Python (seed ${seed})`, () => {
    const drawn = fc.sample(histories, { numRuns: COUNT, seed });
    const given = drawn.map((events) => ({ events, contexts: CONTEXTS }));
    viewsOfPython(given).forEach(({ transcript, summarised, model, contexts }, at) => {
      const events = drawn[at]!;
      const shown = JSON.stringify(events);
      const viewed = viewOf(events, 'transcript');
      assert.deepEqual(idsOf(viewed.events), transcript, shown);
      assert.deepEqual([...viewed.summarised], summarised, shown);
      assert.deepEqual(idsOf(viewOf(events, 'model').events), model, shown);
      contexts.forEach(({ ids }, of) => {
        assert.deepEqual(idsOf(historyView(events, CONTEXTS[of]!)), ids, `${of}: ${shown}`);
      });
    });
  });
});
